# lib/report/: what is known of a view, as JSON and as figures of rules
noinst_LIBRARIES += libreport.a
libreport_a_SOURCES = \
	lib/report/event_list.c lib/report/event_list.h \
	lib/report/markup.c lib/report/markup.h \
	lib/report/openmetrics.c lib/report/openmetrics.h \
	lib/report/report.c lib/report/report.h \
	lib/report/report_control.c lib/report/report_control.h \
	lib/report/report_nodes.c lib/report/report_nodes.h \
	lib/report/report_print.c lib/report/report_print.h \
	lib/report/report_view.c lib/report/report_view.h lib/report/report_diagnosis.c lib/report/report_health.c lib/report/report_marks.c lib/report/report_overlap.c lib/report/report_scaling.c \
	lib/report/report_step.c lib/report/report_step.h lib/report/step_axis.c lib/report/step_axis.h lib/report/step_svg.c lib/report/step_svg.h \
	lib/report/report_strategies.c \
	lib/report/report_switches.c lib/report/report_switches.h \
	lib/report/report_verdict.c lib/report/report_verdict.h \
	lib/report/rule_figures.c lib/report/rule_figures.h \
	lib/report/verdict_words.c lib/report/verdict_words.h
libreport_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
REPORT_LIBS = libreport.a $(RULES_LIBS) $(VIEW_LIBS) $(WIRE_LIBS) $(RING_LIBS) $(JANSSON_LIBS) -lm
