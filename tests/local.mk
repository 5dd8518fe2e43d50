# tests/: see doc/ARCHITECTURE.md

# Units, configuration files
check_PROGRAMS += tests/unit/units tests/unit/config tests/fuzz/conf
tests_unit_units_SOURCES = tests/unit/units.c
tests_unit_units_LDADD = libcommon.la
tests_unit_config_SOURCES = tests/unit/config.c
tests_unit_config_LDADD = libcommon.la
tests_fuzz_conf_SOURCES = tests/fuzz/conf.c
tests_fuzz_conf_LDADD = libcommon.la
if FUZZERS
tests_fuzz_conf_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_conf_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += tests/fuzz/conf.corpus/good tests/fuzz/conf.corpus/open-quote tests/fuzz/conf.corpus/include \
	tests/fuzz/conf.corpus/continued-end tests/fuzz/conf.corpus/reserved tests/fuzz/conf.corpus/nul \
	tests/fuzz/conf.corpus/many-keys tests/fuzz/conf.corpus/long-line
include tests/workloads/local.mk
