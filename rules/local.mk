# rules/: what policies decide, from figures alone
noinst_LTLIBRARIES += librules.la
librules_la_SOURCES = \
	rules/action.c rules/action.h \
	rules/cadence.c rules/cadence.h \
	rules/condition.c rules/condition.h \
	rules/effect.c rules/effect.h \
	rules/engine.c rules/engine.h \
	rules/figures.c rules/figures.h \
	rules/rule.c rules/rule.h \
	rules/site.c rules/site.h
librules_la_LIBADD = libmodel.la libcommon.la -lm
check_PROGRAMS += tests/unit/action_kind
tests_unit_action_kind_SOURCES = tests/unit/action_kind.c
tests_unit_action_kind_LDADD = librules.la
check_PROGRAMS += tests/unit/condition tests/unit/engine tests/fuzz/condition
tests_unit_condition_SOURCES = tests/unit/condition.c
tests_unit_condition_LDADD = librules.la
tests_unit_engine_SOURCES = tests/unit/engine.c
tests_unit_engine_LDADD = librules.la
tests_fuzz_condition_SOURCES = tests/fuzz/condition.c
tests_fuzz_condition_LDADD = librules.la
if FUZZERS
tests_fuzz_condition_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_condition_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/condition.corpus/,for nested quoted unknown-figure words)
