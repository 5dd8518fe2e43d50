# lib/sim/: what jobs on a cluster do, played through
noinst_LIBRARIES += libsim.a
libsim_a_SOURCES = \
	lib/sim/asynchronous.c lib/sim/asynchronous.h \
	lib/sim/cores.c lib/sim/cores.h \
	lib/sim/failure.c lib/sim/failure.h \
	lib/sim/noise.c lib/sim/noise.h \
	lib/sim/placement.c lib/sim/placement.h \
	lib/sim/random.c lib/sim/random.h \
	lib/sim/scenario.c lib/sim/scenario.h \
	lib/sim/sim_job.c lib/sim/sim_job.h lib/sim/sim_job_account.c lib/sim/sim_job_pace.c \
	lib/sim/sim_job_plan.c lib/sim/sim_job_play.c lib/sim/sim_job_private.h lib/sim/sim_job_rank.c lib/sim/sim_job_run.c \
	lib/sim/sim_job_saved.c \
	lib/sim/simulation.c lib/sim/simulation.h \
	lib/sim/spread.c lib/sim/spread.h \
	lib/sim/tracer.c lib/sim/tracer.h
SIM_LIBS = libsim.a $(NETWORK_LIBS) $(MODEL_LIBS) $(PACING_LIBS) $(RULES_LIBS) $(COMMON_LIBS) -lm

scenariosdir = $(pkgdatadir)/scenarios
dist_scenarios_DATA = \
	lib/sim/scenarios/cores.conf lib/sim/scenarios/failures.conf lib/sim/scenarios/healthy.conf \
	lib/sim/scenarios/incast.conf lib/sim/scenarios/large.conf lib/sim/scenarios/paced.conf lib/sim/scenarios/scaling.conf lib/sim/scenarios/staleness.conf \
	lib/sim/scenarios/straggler.conf lib/sim/scenarios/wide.conf
