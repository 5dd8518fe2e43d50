# lib/report/: what is known of a view, as JSON and as figures of rules
noinst_LIBRARIES += libreport.a
libreport_a_SOURCES = \
	lib/report/event_list.c lib/report/event_list.h \
	lib/report/job_line.c lib/report/job_line.h \
	lib/report/markup.c lib/report/markup.h \
	lib/report/openmetrics.c lib/report/openmetrics.h \
	lib/report/report.c lib/report/report.h \
	lib/report/report_agent.c lib/report/report_agent.h \
	lib/report/report_cadence.c lib/report/report_cadence.h \
	lib/report/report_comm.c lib/report/report_comm.h \
	lib/report/report_control.c lib/report/report_control.h \
	lib/report/report_event.c lib/report/report_event.h \
	lib/report/report_health.c lib/report/report_health.h \
	lib/report/report_launch.c lib/report/report_launch.h \
	lib/report/report_next.c lib/report/report_next.h \
	lib/report/report_nodes.c lib/report/report_nodes.h \
	lib/report/report_pace.c lib/report/report_pace.h \
	lib/report/report_past.c lib/report/report_past.h \
	lib/report/report_print.c lib/report/report_print.h \
	lib/report/report_rank.c lib/report/report_rank.h \
	lib/report/report_row.c lib/report/report_row.h \
	lib/report/report_seen.c lib/report/report_seen.h \
	lib/report/report_status.c lib/report/report_status.h \
	lib/report/report_view.c lib/report/report_view.h lib/report/report_diagnosis.c lib/report/report_diagnosis.h lib/report/report_history.c lib/report/report_history.h lib/report/report_marks.c lib/report/report_marks.h lib/report/report_overlap.c lib/report/report_overlap.h lib/report/report_scaling.c lib/report/report_scaling.h \
	lib/report/report_step.c lib/report/report_step.h lib/report/step_axis.c lib/report/step_axis.h lib/report/step_svg.c lib/report/step_svg.h \
	lib/report/report_strategies.c lib/report/report_strategies.h \
	lib/report/report_switches.c lib/report/report_switches.h \
	lib/report/report_updates.c lib/report/report_updates.h \
	lib/report/report_verdict.c lib/report/report_verdict.h \
	lib/report/report_trace.c lib/report/report_trace.h \
	lib/report/rule_figures.c lib/report/rule_figures.h \
	lib/report/verdict_words.c lib/report/verdict_words.h
libreport_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
REPORT_LIBS = libreport.a $(RULES_LIBS) $(VIEW_LIBS) $(WIRE_LIBS) $(RING_LIBS) $(JANSSON_LIBS) -lm
