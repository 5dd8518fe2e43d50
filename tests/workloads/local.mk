# tests/workloads/: real programs to guard, built once for each MPI library that is there.
# They are other people's programs in effect: neither the sanitizers nor our libraries go in. Automake knows one
# compiler for C, hence the rules by hand; `all` builds the trainer, which ./demo runs, `check` the rest.
MPI_BUILD_FLAGS = -D_GNU_SOURCE -I$(top_srcdir) -std=gnu11 -O3 -g $(WARN)
noinst_SCRIPTS =
check_SCRIPTS =

TRAINER_C = \
	tests/workloads/trainer/checkpoint.c \
	tests/workloads/trainer/feed.c \
	tests/workloads/trainer/model.c \
	tests/workloads/trainer/options.c \
	tests/workloads/trainer/pace.c \
	tests/workloads/trainer/reduce.c \
	tests/workloads/trainer/text.c \
	tests/workloads/trainer/trainer.c
TRAINER_H = \
	tests/workloads/trainer/checkpoint.h \
	tests/workloads/trainer/feed.h \
	tests/workloads/trainer/model.h \
	tests/workloads/trainer/options.h \
	tests/workloads/trainer/pace.h \
	tests/workloads/trainer/reduce.h \
	tests/workloads/trainer/text.h
TRAINER_ALL = $(TRAINER_C) $(TRAINER_H) common/err.c common/err.h common/xalloc.c common/xalloc.h
EXTRA_DIST += $(TRAINER_C) $(TRAINER_H)

trainer_inputs = for f in $(TRAINER_C) common/err.c common/xalloc.c; do echo $(top_srcdir)/$$f; done

if HAVE_OPENMPI
noinst_SCRIPTS += tests/workloads/trainer.openmpi
tests/workloads/trainer.openmpi: $(TRAINER_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(MPI_BUILD_FLAGS) -o $@ `$(trainer_inputs)` -lm -pthread
endif
if HAVE_MPICH
noinst_SCRIPTS += tests/workloads/trainer.mpich
tests/workloads/trainer.mpich: $(TRAINER_ALL)
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(MPI_BUILD_FLAGS) -o $@ `$(trainer_inputs)` -lm -pthread
endif
CLEANFILES += $(noinst_SCRIPTS) $(check_SCRIPTS)

dist_check_SCRIPTS += tests/workloads/trainer-test.sh
EXTRA_DIST += tests/workloads/mpi.sh
