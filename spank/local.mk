# spank/: the plugin, a guest in srun, sbatch, salloc and slurmstepd

# What it shares with our own programs, compiled for guests.
noinst_LTLIBRARIES += libspank.la
libspank_la_SOURCES = \
	lib/common/conf.c lib/common/config.c lib/common/config_policy.c lib/common/cpuset.c lib/common/err.c lib/common/hostlist.c lib/common/hosts.c lib/common/key.c lib/common/nccl_conf.c lib/common/path.c lib/common/preload.c lib/common/proc.c lib/common/suggest.c lib/common/tool.c lib/common/trust.c lib/common/units.c lib/common/utf8.c lib/common/value.c \
	lib/model/algorithm.c \
	lib/ring/note.c lib/ring/shared.c \
	lib/network/schedule.c \
	lib/topology/arrange.c lib/topology/exact.c lib/topology/fold.c lib/topology/layout.c lib/topology/leaves.c lib/topology/locality.c lib/topology/pattern.c lib/topology/slow_links.c lib/topology/slurm_conf.c lib/topology/topology.c lib/topology/topology_conf.c lib/topology/topology_yaml.c \
	spank/advice.c spank/advice.h \
	spank/args.c spank/args.h \
	spank/binding.c spank/binding.h \
	spank/cmdline.c spank/cmdline.h \
	spank/command.c spank/command.h \
	spank/earlier.c spank/earlier.h \
	spank/keeper.c spank/keeper.h \
	spank/lemons.c spank/lemons.h \
	spank/placement.c spank/placement.h \
	spank/portal.c spank/portal.h \
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
syncguard_la_SOURCES = spank/plugin.c spank/instance.c spank/instance.h spank/launch.c spank/launch.h spank/local.c spank/local.h spank/preloaded.c spank/preloaded.h spank/profiler.c spank/profiler.h spank/remote.c spank/remote.h spank/submit.c spank/submit.h spank/task.c spank/task.h
syncguard_la_CFLAGS = $(GUEST_CFLAGS)
syncguard_la_LDFLAGS = $(HARDEN_LINK) -module -avoid-version
syncguard_la_LIBADD = libspank.la
