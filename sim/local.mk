# sim/: what jobs on a cluster do, played through
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES = \
	sim/asynchronous.c sim/asynchronous.h \
	sim/cores.c sim/cores.h \
	sim/failure.c sim/failure.h \
	sim/job.c sim/job.h sim/job_account.c sim/job_pace.c sim/job_play.c sim/job_private.h sim/job_run.c sim/job_saved.c \
	sim/line.c sim/line.h \
	sim/noise.c sim/noise.h \
	sim/placement.c sim/placement.h \
	sim/random.c sim/random.h \
	sim/scenario.c sim/scenario.h \
	sim/simulation.c sim/simulation.h \
	sim/spread.c sim/spread.h \
	sim/staleness.c sim/staleness.h \
	sim/tracer.c sim/tracer.h
libsim_la_LIBADD = libnetwork.la libmodel.la libpacing.la librules.la libcommon.la -lm

scenariosdir = $(pkgdatadir)/scenarios
dist_scenarios_DATA = \
	sim/scenarios/cores.conf sim/scenarios/failures.conf sim/scenarios/healthy.conf \
	sim/scenarios/incast.conf sim/scenarios/large.conf sim/scenarios/paced.conf sim/scenarios/staleness.conf \
	sim/scenarios/straggler.conf sim/scenarios/wide.conf

check_PROGRAMS += tests/unit/cores tests/unit/random tests/unit/scenario tests/unit/sim_job tests/unit/sim_pace \
	tests/fuzz/scenario
tests_unit_cores_SOURCES = tests/unit/cores.c
tests_unit_cores_LDADD = libsim.la
tests_unit_random_SOURCES = tests/unit/random.c
tests_unit_random_LDADD = libsim.la
tests_unit_scenario_SOURCES = tests/unit/scenario.c
tests_unit_scenario_LDADD = libsim.la
tests_unit_sim_job_SOURCES = tests/unit/sim_job.c
tests_unit_sim_job_LDADD = libsim.la
tests_unit_sim_pace_SOURCES = tests/unit/sim_pace.c tests/random.h
tests_unit_sim_pace_LDADD = libsim.la
tests_fuzz_scenario_SOURCES = tests/fuzz/scenario.c
tests_fuzz_scenario_LDADD = libsim.la
if FUZZERS
tests_fuzz_scenario_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_scenario_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/scenario.corpus/,cores death everything failures fattree gates healthy incast jobs one-rank paced staleness \
	straggler stuck)
