# The private cluster: a script with three small tools that it compiles itself, so that it runs from a source
# tree alone; here they are built for the warnings.
noinst_PROGRAMS += tests/cluster/enter tests/cluster/cpuslow tests/cluster/linkdelay
tests_cluster_enter_SOURCES = tests/cluster/enter.c
tests_cluster_cpuslow_SOURCES = tests/cluster/cpuslow.c
tests_cluster_linkdelay_SOURCES = tests/cluster/linkdelay.c
dist_check_SCRIPTS += tests/cluster/slurm-test.sh tests/cluster/packages-test.sh
EXTRA_DIST += packages.txt tests/cluster/slurm tests/cluster/inside.sh tests/cluster/config.sh tests/cluster/prelude.sh \
	tests/cluster/record.sh tests/cluster/install-packages tests/cluster/live-table
dist_check_SCRIPTS += tests/cluster/guard-test.sh tests/cluster/pace-test.sh
dist_check_SCRIPTS += tests/cluster/action-test.sh tests/cluster/accounting-test.sh
