# Tests of ring/ and probe/

check_PROGRAMS += tests/unit/ring tests/fuzz/ring_open
tests_unit_ring_SOURCES = tests/unit/ring.c
tests_unit_ring_LDADD = libring.la
tests_fuzz_ring_open_SOURCES = tests/fuzz/ring_open.c
tests_fuzz_ring_open_LDADD = libring.la
if FUZZERS
tests_fuzz_ring_open_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_ring_open_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += tests/fuzz/ring_open.corpus/empty tests/fuzz/ring_open.corpus/valid tests/fuzz/ring_open.corpus/full \
	tests/fuzz/ring_open.corpus/positions tests/fuzz/ring_open.corpus/capacity tests/fuzz/ring_open.corpus/short

# The probe on real programs
noinst_PROGRAMS += tests/probe/compare
tests_probe_compare_SOURCES = tests/probe/compare.c
tests_probe_compare_LDADD = libring.la
dist_check_SCRIPTS += tests/probe/zoo.sh

# The probe's hot path, watched from outside
EXTRA_DIST += tests/probe/path.c
dist_check_SCRIPTS += tests/probe/path.sh
PATH_FLAGS = -D_GNU_SOURCE -I$(top_srcdir) -std=gnu11 -O2 -g $(WARN)
if HAVE_OPENMPI
check_SCRIPTS += tests/probe/path.openmpi
tests/probe/path.openmpi: tests/probe/path.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/path.c
endif
if HAVE_MPICH
check_SCRIPTS += tests/probe/path.mpich
tests/probe/path.mpich: tests/probe/path.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/path.c
endif
CLEANFILES += tests/probe/path.openmpi tests/probe/path.mpich
check_PROGRAMS += tests/unit/ring_threads
tests_unit_ring_threads_SOURCES = tests/unit/ring_threads.c
tests_unit_ring_threads_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_ring_threads_LDADD = libring.la libcommon.la

# Pacing on real programs
noinst_PROGRAMS += tests/probe/plan
tests_probe_plan_SOURCES = tests/probe/plan.c
tests_probe_plan_LDADD = libring.la libpacing.la
dist_check_SCRIPTS += tests/probe/pace.sh

# What paced ranks share
check_PROGRAMS += tests/unit/pacing
tests_unit_pacing_SOURCES = tests/unit/pacing.c
tests_unit_pacing_CFLAGS = $(AM_CFLAGS) -pthread
tests_unit_pacing_LDADD = libring.la
check_PROGRAMS += tests/unit/pacing_messages
tests_unit_pacing_messages_SOURCES = tests/unit/pacing_messages.c
tests_unit_pacing_messages_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
tests_unit_pacing_messages_LDADD = libagent.la libdaemon.la libcommon.la $(JANSSON_LIBS) -lm

# Programs that checkpoint by SCR, with a stand-in for it
noinst_PROGRAMS += tests/probe/steps_ask
tests_probe_steps_ask_SOURCES = tests/probe/steps_ask.c
tests_probe_steps_ask_LDADD = libring.la
EXTRA_DIST += tests/probe/scr_program.c tests/probe/scr_standin.c
dist_check_SCRIPTS += tests/probe/scr.sh
check_SCRIPTS += tests/probe/libscr.so
tests/probe/libscr.so: tests/probe/scr_standin.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -g $(WARN) -fPIC -shared -o $@ $(top_srcdir)/tests/probe/scr_standin.c
if HAVE_OPENMPI
check_SCRIPTS += tests/probe/scr_program.openmpi
tests/probe/scr_program.openmpi: tests/probe/scr_program.c tests/probe/libscr.so
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/scr_program.c -Ltests/probe -lscr
endif
if HAVE_MPICH
check_SCRIPTS += tests/probe/scr_program.mpich
tests/probe/scr_program.mpich: tests/probe/scr_program.c tests/probe/libscr.so
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/scr_program.c -Ltests/probe -lscr
endif
CLEANFILES += tests/probe/libscr.so tests/probe/scr_program.openmpi tests/probe/scr_program.mpich
