# run/: sgrun, the same guard without Slurm
noinst_LIBRARIES += librun.a
librun_a_SOURCES = \
	run/assignment.c run/assignment.h \
	run/guard.c run/guard.h \
	run/process.c run/process.h \
	run/remote.c run/remote.h \
	run/workspace.c run/workspace.h
librun_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(EVENT_CFLAGS) $(SODIUM_CFLAGS)
RUN_LIBS = librun.a $(WIRE_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) $(EVENT_LIBS) $(MUNGE_LIBS)

bin_PROGRAMS += sgrun
sgrun_SOURCES = run/sgrun.c
sgrun_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
sgrun_LDADD = $(RUN_LIBS)
