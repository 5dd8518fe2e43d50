# report/: what is known of a view, as JSON and as figures of rules
noinst_LIBRARIES += libreport.a
libreport_a_SOURCES = \
	report/event_list.c report/event_list.h \
	report/markup.c report/markup.h \
	report/openmetrics.c report/openmetrics.h \
	report/report_nodes.c report/report_nodes.h \
	report/report_print.c report/report_print.h \
	report/report_view.c report/report_view.h report/report_diagnosis.c report/report_health.c report/report_marks.c report/report_overlap.c report/report_scaling.c \
	report/report_step.c report/report_step.h report/step_axis.c report/step_axis.h report/step_svg.c report/step_svg.h \
	report/report_strategies.c \
	report/report_switches.c report/report_switches.h \
	report/rule_figures.c report/rule_figures.h \
	report/verdict_words.c report/verdict_words.h
libreport_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
REPORT_LIBS = libreport.a $(RULES_LIBS) $(ANALYSIS_LIBS) $(WIRE_LIBS) $(RING_LIBS) $(JANSSON_LIBS) -lm
