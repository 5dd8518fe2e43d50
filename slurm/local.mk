# slurm/: what Slurm says of jobs and nodes.  The library is not called libslurm, which is Slurm's own.
noinst_LTLIBRARIES += libslurmfacts.la
libslurmfacts_la_SOURCES = \
	slurm/accounting.c slurm/accounting.h \
	slurm/child.c slurm/child.h \
	slurm/comment.c slurm/comment.h \
	slurm/hostlist.c slurm/hostlist.h \
	slurm/jobtime.c slurm/jobtime.h \
	slurm/outages.c slurm/outages.h \
	slurm/slurmtool.c slurm/slurmtool.h
libslurmfacts_la_CPPFLAGS = $(AM_CPPFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
libslurmfacts_la_LIBADD = libjob.la libcommon.la $(EVENT_LIBS)
