# The hook benchmark: tests/bench/hook.sh, one program for each MPI library.
HOOK_C = tests/bench/hook.c tests/bench/mpip.c lib/ring/clock.c lib/ring/reader.c lib/ring/marks.c
HOOK_FLAGS = -D_GNU_SOURCE $(INCLUDES_FROM) -std=gnu11 -O2 -g $(WARN)
EXTRA_DIST += tests/bench/hook.c tests/bench/mpip.c tests/bench/mpip.h tests/bench/hook.sh
hook_inputs = for f in $(HOOK_C); do echo $(top_srcdir)/$$f; done
BENCH_HOOK =
if HAVE_OPENMPI
BENCH_HOOK += tests/bench/hook.openmpi
tests/bench/hook.openmpi: $(HOOK_C) tests/bench/mpip.h lib/ring/layout.h lib/ring/ring.h
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(HOOK_FLAGS) -o $@ `$(hook_inputs)` -ldl
endif
if HAVE_MPICH
BENCH_HOOK += tests/bench/hook.mpich
tests/bench/hook.mpich: $(HOOK_C) tests/bench/mpip.h lib/ring/layout.h lib/ring/ring.h
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(HOOK_FLAGS) -o $@ `$(hook_inputs)` -ldl
endif
# What pacing brings: tests/bench/pace-table.
EXTRA_DIST += tests/bench/pace.c tests/bench/pace-table
PACE_FLAGS = -D_GNU_SOURCE -std=gnu11 -O2 -g $(WARN)
if HAVE_OPENMPI
BENCH_HOOK += tests/bench/pace.openmpi
tests/bench/pace.openmpi: tests/bench/pace.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PACE_FLAGS) -o $@ $(top_srcdir)/tests/bench/pace.c -lm -lpthread
endif
if HAVE_MPICH
BENCH_HOOK += tests/bench/pace.mpich
tests/bench/pace.mpich: tests/bench/pace.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(PACE_FLAGS) -o $@ $(top_srcdir)/tests/bench/pace.c -lm -lpthread
endif
# What recording costs a step: blocks with and without it within a run.
STEP_C = tests/bench/step.c lib/model/deviate.c lib/ring/control_page.c lib/ring/shared.c
EXTRA_DIST += tests/bench/step.c tests/bench/paired.h
step_inputs = for f in $(STEP_C); do echo $(top_srcdir)/$$f; done
if HAVE_OPENMPI
BENCH_HOOK += tests/bench/step.openmpi
tests/bench/step.openmpi: $(STEP_C) tests/bench/paired.h lib/ring/control_page.h
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(HOOK_FLAGS) -o $@ `$(step_inputs)` -lm
endif
# `make bench` runs it from the build tree.
tests/bench/hook: tests/bench/hook.sh
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)cp $(top_srcdir)/tests/bench/hook.sh $@ && chmod 755 $@
noinst_SCRIPTS += tests/bench/hook $(BENCH_HOOK)
CLEANFILES += tests/bench/hook $(BENCH_HOOK)

# All figures: prints them with the commands that made them, writes bench.json. `make readme` copies that to doc/bench.json and
# writes the tables of costs from it.
EXTRA_DIST += tests/bench/bench tests/bench/faults tests/bench/targets.py
.PHONY: bench readme
bench: all
	$(top_srcdir)/tests/bench/bench --build . --out bench.json
readme:
	@test -f bench.json || { echo "no bench.json here: run make bench first" >&2; exit 1; }
	$(top_srcdir)/tests/doc/figures.py --write bench.json $(top_srcdir)
