# history/: what the controller keeps in its databases
noinst_LIBRARIES += libhistory.a
libhistory_a_SOURCES = \
	history/audit.c history/audit.h \
	history/culprit.c history/culprit.h \
	history/database.c history/database.h \
	history/history.c history/history.h \
	history/lease.c history/lease.h \
	history/lemon.c history/lemon.h \
	history/past.c history/past.h \
	history/starts.c history/starts.h \
	history/store.c history/store.h history/store_schema.c history/store_schema.h
libhistory_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)
HISTORY_LIBS = libhistory.a $(SLURMFACTS_LIBS) $(JOB_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) -lm
