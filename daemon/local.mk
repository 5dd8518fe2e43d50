# daemon/: syncguardd, the controller
noinst_LTLIBRARIES += libdaemon.la
libdaemon_la_SOURCES = \
	daemon/agents.c \
	daemon/job.c daemon/job.h \
	daemon/query.c \
	daemon/record.c daemon/record.h \
	daemon/report.c daemon/report.h \
	daemon/server.c daemon/server.h \
	daemon/store.c daemon/store.h
libdaemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(SQLITE_CFLAGS)
libdaemon_la_LIBADD = libanalysis.la libring.la liblink.la $(EVENT_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(SQLITE_LIBS) $(MUNGE_LIBS) -lm

sbin_PROGRAMS += syncguardd
syncguardd_SOURCES = daemon/syncguardd.c
syncguardd_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
syncguardd_LDADD = libdaemon.la
