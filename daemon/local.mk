# daemon/: syncguardd, the controller
noinst_LIBRARIES += libdaemon.a
libdaemon_a_SOURCES = \
	daemon/agents.c daemon/agents.h \
	daemon/bounds.c daemon/bounds.h \
	daemon/controller.h \
	daemon/control.c daemon/control.h daemon/control_command.c daemon/control_decision.c \
	daemon/control_effect.c daemon/control_report.c daemon/control_private.h \
	daemon/metrics.c daemon/metrics.h \
	daemon/operators.c daemon/operators.h \
	daemon/peer.c daemon/peer.h \
	daemon/query.c daemon/query.h daemon/query_action.c daemon/query_action.h daemon/query_job.c daemon/query_job.h daemon/query_rows.c daemon/query_rows.h \
	daemon/server.c daemon/server.h
libdaemon_a_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(MICROHTTPD_CFLAGS) $(SODIUM_CFLAGS)
DAEMON_LIBS = libdaemon.a $(ACTIONS_LIBS) $(HISTORY_LIBS) $(SLURMFACTS_LIBS) $(JOB_LIBS) $(WIRE_LIBS) $(MICROHTTPD_LIBS)

sbin_PROGRAMS += syncguardd
syncguardd_SOURCES = daemon/syncguardd.c
syncguardd_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
syncguardd_LDADD = $(DAEMON_LIBS)
