# slurm/: what Slurm says of jobs and nodes.  The library is not called libslurm, which is Slurm's own.
noinst_LIBRARIES += libslurmfacts.a
libslurmfacts_a_SOURCES = \
	slurm/accounting.c slurm/accounting.h \
	slurm/child.c slurm/child.h \
	slurm/comment.c slurm/comment.h \
	slurm/jobtime.c slurm/jobtime.h \
	slurm/outages.c slurm/outages.h \
	slurm/slurmtool.c slurm/slurmtool.h
libslurmfacts_a_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
SLURMFACTS_LIBS = libslurmfacts.a $(JOB_LIBS) $(COMMON_LIBS) $(EVENT_LIBS)
