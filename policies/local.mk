# policies/: pure rules, the shipped policy files, and an example of syncguard.conf
noinst_LTLIBRARIES += libpolicies.la
libpolicies_la_SOURCES = policies/action.c policies/action.h policies/pace.c policies/pace.h policies/staleness.c policies/staleness.h
libpolicies_la_LIBADD = -lm
check_PROGRAMS += tests/unit/pace
tests_unit_pace_SOURCES = tests/unit/pace.c
tests_unit_pace_LDADD = libpolicies.la
check_PROGRAMS += tests/unit/action_kind
tests_unit_action_kind_SOURCES = tests/unit/action_kind.c
tests_unit_action_kind_LDADD = libpolicies.la

policiesdir = $(sysconfdir)/syncguard/policies
dist_policies_DATA = policies/observe.conf policies/balanced.conf
exampledir = $(docdir)/examples
dist_example_DATA = policies/syncguard.conf.example
