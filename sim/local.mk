# sim/: what jobs on a cluster do, played through
noinst_LIBRARIES += libsim.a
libsim_a_SOURCES = \
	sim/asynchronous.c sim/asynchronous.h \
	sim/cores.c sim/cores.h \
	sim/failure.c sim/failure.h \
	sim/noise.c sim/noise.h \
	sim/placement.c sim/placement.h \
	sim/random.c sim/random.h \
	sim/scenario.c sim/scenario.h \
	sim/sim_job.c sim/sim_job.h sim/sim_job_account.c sim/sim_job_pace.c sim/sim_job_play.c \
	sim/sim_job_private.h sim/sim_job_run.c sim/sim_job_saved.c \
	sim/simulation.c sim/simulation.h \
	sim/spread.c sim/spread.h \
	sim/tracer.c sim/tracer.h
SIM_LIBS = libsim.a $(NETWORK_LIBS) $(MODEL_LIBS) $(PACING_LIBS) $(RULES_LIBS) $(COMMON_LIBS) -lm

scenariosdir = $(pkgdatadir)/scenarios
dist_scenarios_DATA = \
	sim/scenarios/cores.conf sim/scenarios/failures.conf sim/scenarios/healthy.conf \
	sim/scenarios/incast.conf sim/scenarios/large.conf sim/scenarios/paced.conf sim/scenarios/staleness.conf \
	sim/scenarios/straggler.conf sim/scenarios/wide.conf
