# policies/: pure rules, the shipped policy files, and an example of syncguard.conf
noinst_LTLIBRARIES += libpolicies.la
libpolicies_la_SOURCES = policies/action.c policies/action.h policies/holdout.c policies/holdout.h policies/pace.c \
	policies/pace.h policies/pacer.c policies/pacer.h policies/staleness.c policies/staleness.h
libpolicies_la_SOURCES += policies/cadence.c policies/cadence.h
libpolicies_la_SOURCES += policies/gate.c policies/gate.h
libpolicies_la_LIBADD = libmodel.la -lm
# What the probe calls, as ring/ is: without a sanitizer's runtime.
noinst_LTLIBRARIES += libpolicies_guest.la
libpolicies_guest_la_SOURCES = policies/holdout.c policies/holdout.h policies/pace.c policies/pace.h policies/pacer.c \
	policies/pacer.h
libpolicies_guest_la_CFLAGS = $(GUEST_CFLAGS) -O2
libpolicies_guest_la_LDFLAGS =
check_PROGRAMS += tests/unit/pace
tests_unit_pace_SOURCES = tests/unit/pace.c
tests_unit_pace_LDADD = libpolicies.la
check_PROGRAMS += tests/unit/action_kind
tests_unit_action_kind_SOURCES = tests/unit/action_kind.c
tests_unit_action_kind_LDADD = libpolicies.la
check_PROGRAMS += tests/unit/pacer
tests_unit_pacer_SOURCES = tests/unit/pacer.c
tests_unit_pacer_LDADD = libpolicies.la

# Rules: apart, so that guests that pace need none of it.
noinst_LTLIBRARIES += libengine.la
libengine_la_SOURCES = \
	policies/condition.c policies/condition.h \
	policies/effect.c policies/effect.h \
	policies/engine.c policies/engine.h \
	policies/figures.c policies/figures.h \
	policies/rule.c policies/rule.h
libengine_la_LIBADD = libpolicies.la libcommon.la -lm
check_PROGRAMS += tests/unit/condition tests/unit/engine tests/fuzz/condition
tests_unit_condition_SOURCES = tests/unit/condition.c
tests_unit_condition_LDADD = libengine.la
tests_unit_engine_SOURCES = tests/unit/engine.c
tests_unit_engine_LDADD = libengine.la
tests_fuzz_condition_SOURCES = tests/fuzz/condition.c
tests_fuzz_condition_LDADD = libengine.la
if FUZZERS
tests_fuzz_condition_LDFLAGS = -fsanitize=fuzzer
else
tests_fuzz_condition_SOURCES += tests/fuzz/replay.c
endif
EXTRA_DIST += $(addprefix tests/fuzz/condition.corpus/,for nested quoted unknown-figure words)

policiesdir = $(sysconfdir)/syncguard/policies
dist_policies_DATA = policies/observe.conf policies/balanced.conf policies/throughput.conf policies/energy.conf \
	policies/large-train.conf
exampledir = $(docdir)/examples
dist_example_DATA = policies/syncguard.conf.example policies/site_example.c
# What a site compiles its own policy with, and one
sitedir = $(includedir)/syncguard
site_HEADERS = policies/site.h
check_LTLIBRARIES += policies/site_example.la
policies_site_example_la_SOURCES = policies/site_example.c policies/site.h
policies_site_example_la_CFLAGS = $(GUEST_CFLAGS)
policies_site_example_la_LDFLAGS = -module -avoid-version -rpath /nowhere
