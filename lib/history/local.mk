# lib/history/: what the controller keeps in its databases
noinst_LIBRARIES += libhistory.a
libhistory_a_SOURCES = \
	lib/history/action_record.c lib/history/action_record.h \
	lib/history/audit.c lib/history/audit.h \
	lib/history/backup.c lib/history/backup.h \
	lib/history/culprit.c lib/history/culprit.h \
	lib/history/database.c lib/history/database.h \
	lib/history/history.c lib/history/history.h \
	lib/history/lease.c lib/history/lease.h \
	lib/history/lemon.c lib/history/lemon.h \
	lib/history/past.c lib/history/past.h \
	lib/history/starts.c lib/history/starts.h \
	lib/history/store.c lib/history/store.h lib/history/store_schema.c lib/history/store_schema.h
libhistory_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS)
HISTORY_LIBS = libhistory.a $(SLURMFACTS_LIBS) $(JOB_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) -lm
