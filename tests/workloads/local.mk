# tests/workloads/: real programs to guard, built once for each MPI library that is there.
# They are other people's programs in effect: neither the sanitizers nor our libraries go in. Automake knows one
# compiler for C, hence the rules by hand; `all` builds the trainer, which ./demo runs, `check` the rest.
MPI_BUILD_FLAGS = -D_GNU_SOURCE -I$(top_srcdir) -std=gnu11 -O3 -g $(WARN)
noinst_SCRIPTS =
check_SCRIPTS =

TRAINER_C = \
	tests/workloads/trainer/checkpoint.c \
	tests/workloads/trainer/device.c \
	tests/workloads/trainer/feed.c \
	tests/workloads/trainer/model.c \
	tests/workloads/trainer/options.c \
	tests/workloads/trainer/step_times.c \
	tests/workloads/trainer/reduce.c \
	tests/workloads/trainer/text.c \
	tests/workloads/trainer/trainer.c
TRAINER_H = \
	tests/workloads/trainer/checkpoint.h \
	tests/workloads/trainer/device.h \
	tests/workloads/trainer/feed.h \
	tests/workloads/trainer/model.h \
	tests/workloads/trainer/options.h \
	tests/workloads/trainer/step_times.h \
	tests/workloads/trainer/reduce.h \
	tests/workloads/trainer/text.h
TRAINER_ALL = $(TRAINER_C) $(TRAINER_H) common/err.c common/err.h common/hash.h common/xalloc.c common/xalloc.h
EXTRA_DIST += $(TRAINER_C) $(TRAINER_H)

ZOO_C = \
	tests/workloads/zoo/collectives.c \
	tests/workloads/zoo/communicators.c \
	tests/workloads/zoo/messages.c \
	tests/workloads/zoo/mpizoo.c \
	tests/workloads/zoo/operations.c \
	tests/workloads/zoo/registry.c
ZOO_ALL = $(ZOO_C) tests/workloads/zoo/zoo.h common/xalloc.c common/xalloc.h
# The headers say that an array is read or written where the standard's "none of these" constants stand.
ZOO_FLAGS = $(MPI_BUILD_FLAGS) $(ZOO_WARN)
EXTRA_DIST += $(ZOO_C) tests/workloads/zoo/zoo.h tests/workloads/zoo/zoo.f90 \
	tests/workloads/zoo/dlopen_mpi.c tests/workloads/zoo/nompi.c

trainer_inputs = for f in $(TRAINER_C) common/err.c common/xalloc.c; do echo $(top_srcdir)/$$f; done
zoo_inputs = for f in $(ZOO_C) common/xalloc.c; do echo $(top_srcdir)/$$f; done

check_SCRIPTS += tests/workloads/dlopen_mpi tests/workloads/nompi
tests/workloads/dlopen_mpi: tests/workloads/zoo/dlopen_mpi.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -g $(WARN) -o $@ $(top_srcdir)/tests/workloads/zoo/dlopen_mpi.c -ldl
tests/workloads/nompi: tests/workloads/zoo/nompi.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -g $(WARN) -o $@ $(top_srcdir)/tests/workloads/zoo/nompi.c

if HAVE_OPENMPI
noinst_SCRIPTS += tests/workloads/trainer.openmpi
tests/workloads/trainer.openmpi: $(TRAINER_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(MPI_BUILD_FLAGS) -o $@ `$(trainer_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/mpizoo.openmpi
tests/workloads/mpizoo.openmpi: $(ZOO_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(ZOO_FLAGS) -o $@ `$(zoo_inputs)` -pthread
endif
if HAVE_OPENMPI_FORTRAN
check_SCRIPTS += tests/workloads/zoo_f.openmpi
tests/workloads/zoo_f.openmpi: tests/workloads/zoo/zoo.f90
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPIF90_OPENMPI) -O2 -o $@ $(top_srcdir)/tests/workloads/zoo/zoo.f90
endif

if HAVE_MPICH
noinst_SCRIPTS += tests/workloads/trainer.mpich
tests/workloads/trainer.mpich: $(TRAINER_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(MPI_BUILD_FLAGS) -o $@ `$(trainer_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/mpizoo.mpich
tests/workloads/mpizoo.mpich: $(ZOO_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(ZOO_FLAGS) -o $@ `$(zoo_inputs)` -pthread
endif
if HAVE_MPICH_FORTRAN
check_SCRIPTS += tests/workloads/zoo_f.mpich
tests/workloads/zoo_f.mpich: tests/workloads/zoo/zoo.f90
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPIF90_MPICH) -O2 -o $@ $(top_srcdir)/tests/workloads/zoo/zoo.f90
endif
CLEANFILES += $(noinst_SCRIPTS) $(check_SCRIPTS)

# The example in C, with each MPI that is there
API_EXAMPLE_FLAGS = -D_GNU_SOURCE -I$(top_srcdir)/api -std=gnu11 -O2 -g $(WARN)
if HAVE_OPENMPI
check_SCRIPTS += tests/workloads/api_trainer.openmpi
tests/workloads/api_trainer.openmpi: api/examples/trainer.c api/syncguard.h libsyncguard.la
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(API_EXAMPLE_FLAGS) -o $@ $(top_srcdir)/api/examples/trainer.c -L.libs -lsyncguard
CLEANFILES += tests/workloads/api_trainer.openmpi
endif
