# daemon/: syncguardd, the controller
noinst_LTLIBRARIES += libjob.la libdaemon.la
# A step and what is told of it: the controller's own, and sgtop's for a trace.
libjob_la_SOURCES = \
	daemon/cadence.c daemon/cadence.h daemon/cadence_private.h daemon/cadence_request.c \
	daemon/job.c daemon/job.h \
	daemon/pacing.c daemon/pacing.h \
	daemon/put.h \
	daemon/job_figures.c daemon/job_figures.h \
	daemon/record.c daemon/record.h \
	daemon/report.c daemon/report_diagnosis.c daemon/report_health.c daemon/report_nodes.c \
	daemon/scaling_run.c daemon/scaling_run.h \
	daemon/report_scaling.c daemon/report_strategies.c daemon/report_guarded.c daemon/guarded.c daemon/guarded.h daemon/report.h
libjob_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(EVENT_CFLAGS)
libjob_la_LIBADD = libengine.la libpolicies.la libanalysis.la libring.la liblink.la $(JANSSON_LIBS) -lm
libdaemon_la_SOURCES = \
	daemon/accounting.c daemon/accounting.h daemon/outages.c daemon/outages.h \
	daemon/slurmtool.c daemon/slurmtool.h \
	daemon/action.c daemon/action.h daemon/action_limits.h daemon/action_record.c \
	daemon/action_book.c daemon/action_book.h \
	daemon/action_way.c daemon/action_way.h daemon/attempt.h daemon/act.h \
	daemon/child.c daemon/child.h \
	daemon/comment.c daemon/comment.h \
	daemon/hostlist.c daemon/hostlist.h \
	daemon/http.c daemon/http.h \
	daemon/query_action.c \
	daemon/rest.c daemon/rest.h daemon/rest_answer.c daemon/rest_answer.h \
	daemon/secret.c daemon/secret.h \
	daemon/template.c daemon/template.h \
	daemon/webhook.c daemon/webhook.h \
	daemon/agents.c \
	daemon/audit.c daemon/audit.h \
	daemon/control.c daemon/control_effect.c daemon/control_report.c daemon/control.h daemon/control_private.h \
	daemon/culprit.c daemon/culprit.h \
	daemon/history.c daemon/history.h \
	daemon/jobtime.c daemon/jobtime.h \
	daemon/lemon.c daemon/lemon.h \
	daemon/past.c daemon/past.h \
	daemon/query.c \
	daemon/server.c daemon/server.h \
	daemon/site.c daemon/site.h \
	daemon/statement.c daemon/statement.h \
	daemon/store.c daemon/store.h daemon/store_schema.c daemon/store_schema.h
libdaemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(SQLITE_CFLAGS)
libdaemon_la_LIBADD = libjob.la libanalysis.la libpolicies.la libring.la liblink.la $(CURL_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(SQLITE_LIBS) $(MUNGE_LIBS) -lm

sbin_PROGRAMS += syncguardd
syncguardd_SOURCES = daemon/syncguardd.c
syncguardd_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
syncguardd_LDADD = libdaemon.la

# The controller's helper that calls libslurm.
if HAVE_LIBSLURM
pkglibexec_PROGRAMS += syncguard-act
syncguard_act_SOURCES = daemon/act_main.c daemon/act.c daemon/act.h daemon/comment.c
syncguard_act_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
syncguard_act_LDADD = libpolicies.la libcommon.la $(JANSSON_LIBS) -lslurm
else
EXTRA_DIST += daemon/act_main.c daemon/act.c
endif

check_PROGRAMS += tests/unit/guarded
tests_unit_guarded_SOURCES = tests/unit/guarded.c
tests_unit_guarded_LDADD = libdaemon.la libmodel.la
