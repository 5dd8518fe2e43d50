# ctl/: sgctl, questions to the controller
noinst_LTLIBRARIES += libctl.la
libctl_la_SOURCES = \
	ctl/answer.c ctl/answer.h \
	ctl/plugstack.c ctl/plugstack.h \
	ctl/report.c ctl/report_job.c ctl/report.h \
	ctl/text.c ctl/text.h \
	ctl/trace.c ctl/trace.h \
	ctl/usage.c ctl/usage.h
libctl_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libctl_la_LIBADD = libcommon.la $(JANSSON_LIBS)
