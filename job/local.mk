# job/: a guarded step as the controller knows it, and what is said of it
noinst_LIBRARIES += libjob.a
libjob_a_SOURCES = \
	job/ability.c job/ability.h \
	job/cadence.c job/cadence.h job/cadence_private.h job/cadence_request.c \
	job/earlier.c job/earlier.h \
	job/guarded.c job/guarded.h \
	job/job.c job/job.h \
	job/job_figures.c job/job_figures.h \
	job/jobs.c job/jobs.h \
	job/pacing.c job/pacing.h \
	job/record.c job/record.h \
	job/sampling.c job/sampling.h \
	job/report_job.c job/report_job.h job/report_guarded.c \
	job/scaling_run.c job/scaling_run.h
libjob_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(EVENT_CFLAGS)
JOB_LIBS = libjob.a $(REPORT_LIBS) $(RULES_LIBS) $(PACING_LIBS) $(ANALYSIS_LIBS) $(RING_LIBS) $(WIRE_LIBS) $(JANSSON_LIBS) -lm
