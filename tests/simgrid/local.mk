# The network simulator against SimGrid, where that is installed.
noinst_PROGRAMS += tests/simgrid/case
tests_simgrid_case_SOURCES = tests/simgrid/case.c
tests_simgrid_case_LDADD = libsim.la -lm
dist_check_SCRIPTS += tests/simgrid/agree.sh
EXTRA_DIST += tests/simgrid/compare
