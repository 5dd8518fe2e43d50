# tests/workloads/: real programs to guard, built once for each MPI library that is there.
# They are other people's programs in effect: neither the sanitizers nor our libraries go in. Automake knows one
# compiler for C, hence the rules by hand; `all` builds the trainer, which ./demo runs, `check` the rest.
# The headers say that an array is read or written where the standard's "none of these" constants stand.
MPI_BUILD_FLAGS = -D_GNU_SOURCE $(INCLUDES_FROM) -std=gnu11 -O3 -g $(WARN) $(ZOO_WARN)
noinst_SCRIPTS =
check_SCRIPTS =

# What the workloads share
SHARED_C = \
	tests/workloads/shared/arguments.c \
	tests/workloads/shared/device.c \
	tests/workloads/shared/feed.c \
	tests/workloads/shared/model.c \
	tests/workloads/shared/random.c \
	tests/workloads/shared/reduce.c \
	tests/workloads/shared/step_times.c \
	tests/workloads/shared/text.c \
	tests/workloads/shared/world.c \
	lib/common/err.c lib/common/utf8.c \
	lib/common/xalloc.c
SHARED_H = $(filter tests/workloads/%,$(SHARED_C:.c=.h))
SHARED_ALL = $(SHARED_C) $(SHARED_H) lib/common/err.h lib/common/hash.h lib/common/xalloc.h
TRAINER_C = \
	tests/workloads/trainer/checkpoint.c \
	tests/workloads/trainer/options.c \
	tests/workloads/trainer/trainer.c
TRAINER_H = tests/workloads/trainer/checkpoint.h tests/workloads/trainer/options.h
PIPELINE_C = tests/workloads/pipeline.c
HALO_C = tests/workloads/halo.c
SERVER_C = tests/workloads/server.c
EXTRA_DIST += $(filter tests/%,$(SHARED_C)) $(SHARED_H) $(TRAINER_C) $(TRAINER_H) $(PIPELINE_C) $(HALO_C) $(SERVER_C) tests/workloads/train.py tests/gloo/calls.py tests/gloo/fake.c tests/workloads/gentle.c

ZOO_C = \
	tests/workloads/zoo/collectives.c \
	tests/workloads/zoo/communicators.c \
	tests/workloads/zoo/messages.c \
	tests/workloads/zoo/mpizoo.c \
	tests/workloads/zoo/operations.c \
	tests/workloads/zoo/registry.c
ZOO_ALL = $(ZOO_C) tests/workloads/zoo/zoo.h lib/common/xalloc.c lib/common/xalloc.h
EXTRA_DIST += $(ZOO_C) tests/workloads/zoo/zoo.h tests/workloads/zoo/zoo.f90 \
	tests/workloads/zoo/dlopen_mpi.c tests/workloads/zoo/nompi.c tests/workloads/loop.c tests/workloads/gentle.c

shared_inputs = for f in $(SHARED_C); do echo $(top_srcdir)/$$f; done
trainer_inputs = for f in $(TRAINER_C); do echo $(top_srcdir)/$$f; done
zoo_inputs = for f in $(ZOO_C) lib/common/xalloc.c; do echo $(top_srcdir)/$$f; done

check_SCRIPTS += tests/workloads/dlopen_mpi tests/workloads/nompi
tests/workloads/dlopen_mpi: tests/workloads/zoo/dlopen_mpi.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -g $(WARN) -o $@ $(top_srcdir)/tests/workloads/zoo/dlopen_mpi.c -ldl
tests/workloads/nompi: tests/workloads/zoo/nompi.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -g $(WARN) -o $@ $(top_srcdir)/tests/workloads/zoo/nompi.c

# A library with the functions of Gloo and PyTorch that the probe wraps, and a program that calls them
check_SCRIPTS += tests/gloo/libfake.so tests/gloo/fake.program
tests/gloo/libfake.so: tests/gloo/fake.c probe/gloo/layout.h
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) $(INCLUDES_FROM) -std=gnu11 -O2 -g $(WARN) -shared -fPIC -o $@ $(top_srcdir)/tests/gloo/fake.c -pthread
tests/gloo/fake.program: tests/gloo/fake.c tests/gloo/libfake.so
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) $(INCLUDES_FROM) -std=gnu11 -O2 -g $(WARN) -DPROGRAM -o $@ $(top_srcdir)/tests/gloo/fake.c -Ltests/gloo -lfake -Wl,-rpath,'$$ORIGIN' -pthread

if HAVE_OPENMPI
noinst_SCRIPTS += tests/workloads/trainer.openmpi
tests/workloads/trainer.openmpi: $(TRAINER_C) $(TRAINER_H) $(SHARED_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(MPI_BUILD_FLAGS) -o $@ `$(trainer_inputs); $(shared_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/pipeline.openmpi
tests/workloads/pipeline.openmpi: $(PIPELINE_C) $(SHARED_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(MPI_BUILD_FLAGS) -o $@ $(top_srcdir)/$(PIPELINE_C) `$(shared_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/halo.openmpi
tests/workloads/halo.openmpi: $(HALO_C) $(SHARED_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(MPI_BUILD_FLAGS) -o $@ $(top_srcdir)/$(HALO_C) `$(shared_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/server.openmpi
tests/workloads/server.openmpi: $(SERVER_C) $(SHARED_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(MPI_BUILD_FLAGS) -o $@ $(top_srcdir)/$(SERVER_C) `$(shared_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/loop.openmpi
tests/workloads/loop.openmpi: tests/workloads/loop.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(MPI_BUILD_FLAGS) -o $@ $(top_srcdir)/tests/workloads/loop.c
check_SCRIPTS += tests/workloads/mpizoo.openmpi
tests/workloads/mpizoo.openmpi: $(ZOO_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(MPI_BUILD_FLAGS) -o $@ `$(zoo_inputs)` -pthread
endif
if HAVE_OPENMPI_FORTRAN
check_SCRIPTS += tests/workloads/zoo_f.openmpi
tests/workloads/zoo_f.openmpi: tests/workloads/zoo/zoo.f90
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPIF90_OPENMPI) -O2 -o $@ $(top_srcdir)/tests/workloads/zoo/zoo.f90
endif

if HAVE_MPICH
check_SCRIPTS += tests/workloads/gentle.so
tests/workloads/gentle.so: tests/workloads/gentle.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) -D_GNU_SOURCE -std=gnu11 -O2 -g $(WARN) -shared -fPIC -o $@ $(top_srcdir)/tests/workloads/gentle.c -ldl
noinst_SCRIPTS += tests/workloads/trainer.mpich
tests/workloads/trainer.mpich: $(TRAINER_C) $(TRAINER_H) $(SHARED_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(MPI_BUILD_FLAGS) -o $@ `$(trainer_inputs); $(shared_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/pipeline.mpich
tests/workloads/pipeline.mpich: $(PIPELINE_C) $(SHARED_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(MPI_BUILD_FLAGS) -o $@ $(top_srcdir)/$(PIPELINE_C) `$(shared_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/halo.mpich
tests/workloads/halo.mpich: $(HALO_C) $(SHARED_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(MPI_BUILD_FLAGS) -o $@ $(top_srcdir)/$(HALO_C) `$(shared_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/server.mpich
tests/workloads/server.mpich: $(SERVER_C) $(SHARED_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(MPI_BUILD_FLAGS) -o $@ $(top_srcdir)/$(SERVER_C) `$(shared_inputs)` -lm -pthread
check_SCRIPTS += tests/workloads/loop.mpich
tests/workloads/loop.mpich: tests/workloads/loop.c tests/workloads/gentle.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(MPI_BUILD_FLAGS) -o $@ $(top_srcdir)/tests/workloads/loop.c $(top_srcdir)/tests/workloads/gentle.c -ldl
check_SCRIPTS += tests/workloads/mpizoo.mpich
tests/workloads/mpizoo.mpich: $(ZOO_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(MPI_BUILD_FLAGS) -o $@ `$(zoo_inputs)` -pthread
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
