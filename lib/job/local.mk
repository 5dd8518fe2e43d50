# lib/job/: a guarded step as the controller knows it, and what is said of it
noinst_LIBRARIES += libjob.a
libjob_a_SOURCES = \
	lib/job/ability.c lib/job/ability.h \
	lib/job/cadence.c lib/job/cadence.h lib/job/cadence_private.h lib/job/cadence_report.c \
	lib/job/cadence_request.c \
	lib/job/earlier.c lib/job/earlier.h \
	lib/job/guarded.c lib/job/guarded.h \
	lib/job/job.c lib/job/job.h \
	lib/job/job_figures.c lib/job/job_figures.h \
	lib/job/jobs.c lib/job/jobs.h \
	lib/job/pacing.c lib/job/pacing.h \
	lib/job/record.c lib/job/record.h \
	lib/job/sampling.c lib/job/sampling.h \
	lib/job/report_job.c lib/job/report_job.h lib/job/report_guarded.c \
	lib/job/scaling_run.c lib/job/scaling_run.h
libjob_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(EVENT_CFLAGS)
JOB_LIBS = libjob.a $(REPORT_LIBS) $(RULES_LIBS) $(PACING_LIBS) $(VIEW_LIBS) $(RING_LIBS) $(WIRE_LIBS) $(JANSSON_LIBS) -lm
