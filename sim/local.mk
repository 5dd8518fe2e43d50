# sim/: a fabric, collectives as messages on it, jobs
noinst_LTLIBRARIES += libsim.la
libsim_la_SOURCES =
libsim_la_LIBADD = libcommon.la -lm
# The network
libsim_la_SOURCES += \
	sim/agenda.c sim/agenda.h \
	sim/fabric.c sim/fabric.h \
	sim/gates.c sim/gates.h \
	sim/network.c sim/network.h sim/network_private.h sim/play.c sim/rounds.c \
	sim/ring.c sim/ring.h \
	sim/sample.c \
	sim/schedule.c sim/schedule.h \
	sim/share.c sim/share.h

check_PROGRAMS += tests/unit/agenda tests/unit/network tests/unit/schedule tests/unit/share
tests_unit_agenda_SOURCES = tests/unit/agenda.c
tests_unit_agenda_LDADD = libsim.la
tests_unit_network_SOURCES = tests/unit/network.c
tests_unit_network_LDADD = libsim.la
tests_unit_schedule_SOURCES = tests/unit/schedule.c
tests_unit_schedule_LDADD = libsim.la
tests_unit_share_SOURCES = tests/unit/share.c
tests_unit_share_LDADD = libsim.la

# Jobs on it
libsim_la_SOURCES += \
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
	sim/tracer.c sim/tracer.h
libsim_la_LIBADD += libmodel.la libpolicies.la

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
