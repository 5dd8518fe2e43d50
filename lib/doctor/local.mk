# lib/doctor/: is a host, or the cluster, ready for jobs?
noinst_LIBRARIES += libdoctor.a
libdoctor_a_SOURCES = \
	lib/doctor/clocks.c lib/doctor/clocks.h \
	lib/doctor/cluster.c lib/doctor/cluster.h \
	lib/doctor/doctor.c lib/doctor/doctor.h \
	lib/doctor/findings.c lib/doctor/findings.h \
	lib/doctor/host_report.c lib/doctor/host_report.h \
	lib/doctor/measure.c lib/doctor/measure.h \
	lib/doctor/measure_step.c lib/doctor/measure_step.h \
	lib/doctor/node_check.c lib/doctor/node_check.h \
	lib/doctor/node_step.c lib/doctor/node_step.h \
	lib/doctor/nodes.c lib/doctor/nodes.h \
	lib/doctor/pairwise.c lib/doctor/pairwise.h lib/doctor/pairwise_private.h \
	lib/doctor/pairwise_mpi.c lib/doctor/pairwise_rounds.c lib/doctor/pairwise_run.c \
	lib/doctor/plugstack.c lib/doctor/plugstack.h \
	lib/doctor/slurm_nodes.c lib/doctor/slurm_nodes.h \
	lib/doctor/slurm_release.c lib/doctor/slurm_release.h \
	lib/doctor/slurmd.c lib/doctor/slurmd.h \
	lib/doctor/srun.c lib/doctor/srun.h
libdoctor_a_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(EVENT_CFLAGS) $(SODIUM_CFLAGS)
DOCTOR_LIBS = libdoctor.a $(TOPOLOGY_LIBS) $(RING_LIBS) $(WIRE_LIBS) $(COMMON_LIBS) $(JANSSON_LIBS) $(EVENT_LIBS) $(MUNGE_LIBS) -ldl

pkglibexec_PROGRAMS += syncguard-measure
syncguard_measure_SOURCES = lib/doctor/syncguard_measure.c lib/doctor/measure_mpi.c lib/doctor/measure_mpi.h
syncguard_measure_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
syncguard_measure_LDADD = $(DOCTOR_LIBS)
