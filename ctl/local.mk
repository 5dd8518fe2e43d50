# ctl/: sgctl, questions to the controller
noinst_LIBRARIES += libctl.a
libctl_a_SOURCES = \
	ctl/action_request.c ctl/action_request.h ctl/page_action.c \
	ctl/analyze.c ctl/analyze.h \
	ctl/brief.c ctl/brief.h \
	ctl/chart.c ctl/chart_data.c ctl/chart_data.h ctl/chart.h \
	ctl/commands.c ctl/commands.h \
	ctl/gather.c ctl/gather.h \
	ctl/import.c ctl/import.h \
	ctl/pager.c ctl/pager.h \
	ctl/output.c ctl/output.h \
	ctl/record.c ctl/record.h \
	ctl/page.c ctl/page_analysis.c ctl/page_checkpoint.c ctl/page_html.c ctl/page_html.h ctl/page_job.c ctl/page_policy.c ctl/page_report.c ctl/page_step.c ctl/page_parts.c ctl/page.h ctl/page_form.h ctl/page_parts.h \
	ctl/step.c ctl/step.h \
	ctl/try.c ctl/try.h
libctl_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(EVENT_CFLAGS) $(SODIUM_CFLAGS)
CTL_LIBS = libctl.a $(DOCTOR_LIBS) $(RULES_LIBS) $(TRACE_LIBS) $(REPORT_LIBS) $(WIRE_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) $(EVENT_LIBS) $(MUNGE_LIBS) -ldl

bin_PROGRAMS += sgctl
sgctl_SOURCES = \
	ctl/sgctl.c ctl/sgctl.h ctl/sgctl_answer.c ctl/sgctl_config.c ctl/sgctl_doctor.c ctl/sgctl_jobs.c ctl/sgctl_page.c ctl/sgctl_trace.c
sgctl_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
sgctl_LDADD = $(CTL_LIBS)
