# model/: pure formulas; what they need is libm alone
noinst_LTLIBRARIES += libmodel.la
libmodel_la_SOURCES = \
	model/bucket.c model/bucket.h \
	model/cadence.c model/cadence.h \
	model/collective.c model/collective.h \
	model/course.c model/course.h \
	model/deviate.c model/deviate.h \
	model/failure.c model/failure.h \
	model/last.c model/last.h \
	model/linkfit.c model/linkfit.h \
	model/memory.c model/memory.h \
	model/variation.c model/variation.h \
	model/waiting.c model/waiting.h \
	model/order.c model/order.h \
	model/pipeline.c model/pipeline.h \
	model/projection.c model/projection.h model/traffic.c model/traffic.h \
	model/staleness.c model/staleness.h \
	model/strategy.c model/strategy.h \
	model/step.c model/step.h \
	model/trade.c model/trade.h \
	model/train.c model/train.h
libmodel_la_LIBADD = -lm

check_PROGRAMS += tests/unit/traffic
tests_unit_traffic_SOURCES = tests/unit/traffic.c
tests_unit_traffic_LDADD = libmodel.la
check_PROGRAMS += tests/unit/deviate tests/unit/last tests/unit/linkfit tests/unit/variation tests/plan/projection
tests_unit_deviate_SOURCES = tests/unit/deviate.c
tests_unit_deviate_LDADD = libmodel.la
tests_unit_last_SOURCES = tests/unit/last.c
tests_unit_last_LDADD = libmodel.la
tests_unit_linkfit_SOURCES = tests/unit/linkfit.c
tests_unit_linkfit_LDADD = libmodel.la
tests_unit_variation_SOURCES = tests/unit/variation.c
tests_unit_variation_LDADD = libmodel.la
tests_plan_projection_SOURCES = tests/plan/projection.c
tests_plan_projection_LDADD = libmodel.la
EXTRA_DIST += tests/plan/projection-simulated

check_PROGRAMS += tests/unit/strategy
tests_unit_strategy_SOURCES = tests/unit/strategy.c tests/random.h
tests_unit_strategy_LDADD = libmodel.la
dist_check_SCRIPTS += tests/plan/strategies.sh
EXTRA_DIST += tests/plan/strategies-simulated
