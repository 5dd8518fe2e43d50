# lib/model/: pure formulas; what they need is libm alone
noinst_LIBRARIES += libmodel.a
libmodel_a_SOURCES = \
	lib/model/algorithm.c lib/model/algorithm.h \
	lib/model/allreduce_traffic.c lib/model/allreduce_traffic.h \
	lib/model/batch.c lib/model/batch.h \
	lib/model/bucket.c lib/model/bucket.h \
	lib/model/cadence.c lib/model/cadence.h \
	lib/model/collective.c lib/model/collective.h \
	lib/model/deviate.c lib/model/deviate.h \
	lib/model/failure.c lib/model/failure.h \
	lib/model/interval.c lib/model/interval.h \
	lib/model/last.c lib/model/last.h \
	lib/model/linkfit.c lib/model/linkfit.h \
	lib/model/memory.c lib/model/memory.h \
	lib/model/variation.c lib/model/variation.h \
	lib/model/waiting.c lib/model/waiting.h \
	lib/model/order.c lib/model/order.h \
	lib/model/pipeline.c lib/model/pipeline.h \
	lib/model/projection.c lib/model/projection.h lib/model/traffic.c lib/model/traffic.h \
	lib/model/regime.c lib/model/regime.h \
	lib/model/serving.c lib/model/serving.h \
	lib/model/staleness.c lib/model/staleness.h \
	lib/model/strategy.c lib/model/strategy.h \
	lib/model/statistics.c lib/model/statistics.h \
	lib/model/step.c lib/model/step.h \
	lib/model/trade.c lib/model/trade.h \
	lib/model/train.c lib/model/train.h
MODEL_LIBS = libmodel.a -lm
