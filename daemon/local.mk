# daemon/: syncguardd, the controller
noinst_LTLIBRARIES += libdaemon.la
libdaemon_la_SOURCES = \
	daemon/agents.c daemon/agents.h \
	daemon/controller.h \
	daemon/control.c daemon/control_effect.c daemon/control_report.c daemon/control.h daemon/control_private.h \
	daemon/peer.c daemon/peer.h \
	daemon/query.c daemon/query.h daemon/query_action.c daemon/query_action.h \
	daemon/server.c daemon/server.h
libdaemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
libdaemon_la_LIBADD = libactions.la libhistory.la libslurmfacts.la libjob.la libwire.la

sbin_PROGRAMS += syncguardd
syncguardd_SOURCES = daemon/syncguardd.c
syncguardd_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
syncguardd_LDADD = libdaemon.la
