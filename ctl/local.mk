# ctl/: sgctl, questions to the controller
noinst_LTLIBRARIES += libctl.la
libctl_la_SOURCES = \
	ctl/act.c ctl/act.h ctl/page_action.c \
	ctl/analyze.c ctl/analyze.h \
	ctl/answer.c ctl/answer.h \
	ctl/doctor.c ctl/doctor.h \
	ctl/plugstack.c ctl/plugstack.h \
	ctl/record.c ctl/record.h \
	ctl/page.c ctl/page_analysis.c ctl/page_checkpoint.c ctl/page_job.c ctl/page_policy.c ctl/page.h ctl/page_parts.h \
	ctl/try.c ctl/try.h \
	ctl/usage.c ctl/usage.h
libctl_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(EVENT_CFLAGS)
libctl_la_LIBADD = librules.la libtrace.la libjob.la libwire.la libcommon.la $(JANSSON_LIBS) $(EVENT_LIBS) $(MUNGE_LIBS)

bin_PROGRAMS += sgctl
sgctl_SOURCES = ctl/sgctl.c
sgctl_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
sgctl_LDADD = libctl.la

bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = ctl/completion/sgctl ctl/completion/sgtop
