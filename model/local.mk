# model/: pure formulas; what they need is libm alone
noinst_LIBRARIES += libmodel.a
libmodel_a_SOURCES = \
	model/algorithm.c model/algorithm.h \
	model/allreduce_traffic.c model/allreduce_traffic.h \
	model/batch.c model/batch.h \
	model/bucket.c model/bucket.h \
	model/cadence.c model/cadence.h \
	model/collective.c model/collective.h \
	model/deviate.c model/deviate.h \
	model/failure.c model/failure.h \
	model/interval.c model/interval.h \
	model/last.c model/last.h \
	model/linkfit.c model/linkfit.h \
	model/memory.c model/memory.h \
	model/variation.c model/variation.h \
	model/waiting.c model/waiting.h \
	model/order.c model/order.h \
	model/pipeline.c model/pipeline.h \
	model/projection.c model/projection.h model/traffic.c model/traffic.h \
	model/regime.c model/regime.h \
	model/staleness.c model/staleness.h \
	model/strategy.c model/strategy.h \
	model/statistics.c model/statistics.h \
	model/step.c model/step.h \
	model/trade.c model/trade.h \
	model/train.c model/train.h
MODEL_LIBS = libmodel.a -lm
