# analysis/: pure, from events to verdicts
noinst_LTLIBRARIES += libanalysis.la
libanalysis_la_SOURCES = \
	analysis/cause.c analysis/cause.h \
	analysis/delay.c analysis/delay.h \
	analysis/diagnosis.c analysis/diagnosis.h \
	analysis/efficiency.c analysis/efficiency.h \
	analysis/flow.c analysis/flow.h \
	analysis/join.c analysis/join.h \
	analysis/names.c analysis/names.h \
	analysis/onset.c analysis/onset.h \
	analysis/oscillation.c analysis/oscillation.h \
	analysis/period.c analysis/period.h \
	analysis/places.c analysis/places.h \
	analysis/scatter.c analysis/scatter.h \
	analysis/straggler.c analysis/straggler.h \
	analysis/transfer.c analysis/transfer.h \
	analysis/trend.c analysis/trend.h \
	analysis/view.c analysis/view.h analysis/view_comms.c analysis/view_efficiency.c analysis/view_figures.c \
	analysis/view_health.c analysis/view_history.c analysis/view_judge.c analysis/view_private.h \
	analysis/view_phases.c analysis/view_projection.c analysis/view_scaling.c analysis/view_steps.c \
	analysis/work.c analysis/work.h
libanalysis_la_LIBADD = libmodel.la libwire.la libring.la -lm

check_PROGRAMS += tests/unit/period tests/unit/view
tests_unit_period_SOURCES = tests/unit/period.c
tests_unit_period_LDADD = libanalysis.la libring.la libcommon.la
tests_unit_view_SOURCES = tests/unit/view.c
tests_unit_view_LDADD = libanalysis.la libring.la libcommon.la
check_PROGRAMS += tests/unit/delay tests/unit/efficiency tests/unit/projection tests/unit/trend
tests_unit_delay_SOURCES = tests/unit/delay.c
tests_unit_delay_LDADD = libanalysis.la
tests_unit_efficiency_SOURCES = tests/unit/efficiency.c
tests_unit_efficiency_LDADD = libanalysis.la libring.la libcommon.la
tests_unit_projection_SOURCES = tests/unit/projection.c
tests_unit_projection_LDADD = libanalysis.la libring.la libcommon.la
tests_unit_trend_SOURCES = tests/unit/trend.c
tests_unit_trend_LDADD = libanalysis.la
check_PROGRAMS += tests/unit/cause
tests_unit_cause_SOURCES = tests/unit/cause.c
tests_unit_cause_LDADD = libanalysis.la libring.la libcommon.la
check_PROGRAMS += tests/unit/scaling
tests_unit_scaling_SOURCES = tests/unit/scaling.c tests/random.h
tests_unit_scaling_LDADD = libjob.la
