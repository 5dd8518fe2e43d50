# lib/slurm/: what Slurm says of jobs and nodes.  The library is not called libslurm, which is Slurm's own.
noinst_LIBRARIES += libslurmfacts.a
libslurmfacts_a_SOURCES = \
	lib/slurm/accounting.c lib/slurm/accounting.h \
	lib/slurm/child.c lib/slurm/child.h \
	lib/slurm/comment.c lib/slurm/comment.h \
	lib/slurm/jobtime.c lib/slurm/jobtime.h \
	lib/slurm/outages.c lib/slurm/outages.h \
	lib/slurm/slurmtool.c lib/slurm/slurmtool.h
libslurmfacts_a_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
SLURMFACTS_LIBS = libslurmfacts.a $(JOB_LIBS) $(COMMON_LIBS) $(EVENT_LIBS)
