# spank/: the plugin, a guest in srun, sbatch, salloc and slurmstepd

# What it shares with our own programs, compiled for guests.
noinst_LTLIBRARIES += libspank.la
libspank_la_SOURCES = \
	common/conf.c common/config.c common/config_policy.c common/cpuset.c common/err.c common/hostlist.c common/hosts.c common/key.c common/preload.c common/proc.c common/suggest.c common/tool.c common/trust.c common/units.c common/utf8.c common/value.c \
	model/algorithm.c \
	network/schedule.c \
	topology/arrange.c topology/exact.c topology/layout.c topology/leaves.c topology/locality.c topology/pattern.c topology/slow_links.c topology/slurm_conf.c topology/topology.c topology/topology_conf.c \
	spank/advice.c spank/advice.h \
	spank/args.c spank/args.h \
	spank/binding.c spank/binding.h \
	spank/cmdline.c spank/cmdline.h \
	spank/command.c spank/command.h \
	spank/earlier.c spank/earlier.h \
	spank/keeper.c spank/keeper.h \
	spank/lemons.c spank/lemons.h \
	spank/placement.c spank/placement.h \
	spank/question.c spank/question.h \
	spank/settings.c spank/settings.h \
	spank/stepdir.c spank/stepdir.h \
	spank/tasks.c spank/tasks.h \
	spank/text.c spank/text.h \
	spank/tuning.c spank/tuning.h \
	spank/watch.c spank/watch.h
libspank_la_CFLAGS = $(GUEST_CFLAGS)
libspank_la_LIBADD = -lm -lpthread

pkglib_LTLIBRARIES += syncguard.la
syncguard_la_SOURCES = spank/plugin.c spank/launch.c spank/launch.h spank/local.c spank/local.h spank/remote.c spank/remote.h spank/submit.c spank/submit.h spank/task.c spank/task.h
syncguard_la_CFLAGS = $(GUEST_CFLAGS)
syncguard_la_LDFLAGS = $(HARDEN_LINK) -module -avoid-version
syncguard_la_LIBADD = libspank.la
