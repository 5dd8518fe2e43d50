# plan/: sgplan, predictions
noinst_LIBRARIES += libplan.a
libplan_a_SOURCES = \
	plan/answer.c plan/answer.h \
	plan/bucket.c \
	plan/checkpoint.c \
	plan/collective.c \
	plan/compare.c \
	plan/compress.c \
	plan/job.c plan/job.h \
	plan/localsgd.c \
	plan/memory.c \
	plan/mtbf.c \
	plan/options.c plan/options.h \
	plan/pipeline.c \
	plan/place.c \
	plan/question.h \
	plan/questions.c \
	plan/running.c plan/running.h \
	plan/scale.c \
	plan/scenarios.c plan/scenarios.h \
	plan/simulate.c \
	plan/speedup.c \
	plan/staleness.c \
	plan/step.c \
	plan/straggler.c \
	plan/train.c \
	plan/whatif.c \
	plan/work_sampler.c plan/work_sampler.h
libplan_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
PLAN_LIBS = libplan.a $(TOPOLOGY_LIBS) $(SIM_LIBS) $(TRACE_LIBS) $(REPORT_LIBS) $(WIRE_LIBS) $(MODEL_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) -lm

bin_PROGRAMS += sgplan
sgplan_SOURCES = plan/sgplan.c
sgplan_LDADD = $(PLAN_LIBS)
