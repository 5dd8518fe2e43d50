# analysis/: pure, from events to verdicts
noinst_LTLIBRARIES += libanalysis.la
libanalysis_la_SOURCES = \
	analysis/flow.c analysis/flow.h \
	analysis/period.c analysis/period.h
libanalysis_la_LIBADD = -lm

check_PROGRAMS += tests/unit/period tests/unit/flow
tests_unit_period_SOURCES = tests/unit/period.c
tests_unit_period_LDADD = libanalysis.la libring.la libcommon.la
tests_unit_flow_SOURCES = tests/unit/flow.c
tests_unit_flow_LDADD = libanalysis.la libring.la libcommon.la
