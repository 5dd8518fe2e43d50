# tests/spank/: the plugin, in a fake Slurm and in a real one, with stand-ins for agent and probe
noinst_PROGRAMS += tests/spank/standin-agent
tests_spank_standin_agent_SOURCES = tests/spank/standin-agent.c
noinst_LTLIBRARIES += standin-probe.la
standin_probe_la_SOURCES = tests/spank/standin-probe.c
standin_probe_la_CFLAGS = $(GUEST_CFLAGS)
# An rpath makes a shared object of what is not installed.
standin_probe_la_LDFLAGS = -module -avoid-version -rpath /nowhere
check_PROGRAMS += tests/spank/fakehost
tests_spank_fakehost_SOURCES = tests/spank/fakehost.c
tests_spank_fakehost_LDFLAGS = -export-dynamic
dist_check_SCRIPTS += tests/cluster/spank-test.sh
