# tests/probe/: programs for the probe, built with each MPI library that is there; what is loaded beside it; a stand-in for a library
probe_names = path messages onesided legal stress
PATH_FLAGS = -D_GNU_SOURCE $(INCLUDES_FROM) -std=gnu11 -O2 -g $(WARN) $(ZOO_WARN)
EXTRA_DIST += $(probe_names:%=tests/probe/%.c) tests/probe/tool.c tests/probe/allocator.c tests/probe/lone.c tests/probe/odd.c tests/probe/scr_program.c tests/probe/scr_standin.c \
	tests/probe/standard.c tests/probe/standard.h tests/probe/standard_standin.c tests/probe/copies.c tests/probe/copy_standin.c tests/probe/tolerant.c
probe_mkdir = @$(MKDIR_P) tests/probe

# Programs that checkpoint by SCR, with a stand-in for it
check_SCRIPTS += tests/probe/libscr.so
tests/probe/libscr.so: tests/probe/scr_standin.c
	$(probe_mkdir)
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -g $(WARN) -fPIC -shared -o $@ $(top_srcdir)/tests/probe/scr_standin.c

# Two copies of a library, and a program with a module for each
copies = tests/probe/copies tests/probe/copy_module1.so tests/probe/copy_module2.so
check_SCRIPTS += $(copies)
COPY_BUILD = $(CC) -std=gnu11 -O2 -g $(WARN) -fPIC -shared
tests/probe/libcopy%.so: tests/probe/copy_standin.c
	$(probe_mkdir)
	$(AM_V_GEN)$(COPY_BUILD) -DCOPY=$* -Wl,-soname,libcopy$*.so -o $@ $(top_srcdir)/tests/probe/copy_standin.c
tests/probe/copy_module%.so: tests/probe/copy_standin.c tests/probe/libcopy%.so tests/probe/libscr.so
	$(AM_V_GEN)$(COPY_BUILD) -DMODULE -o $@ $(top_srcdir)/tests/probe/copy_standin.c -Ltests/probe -lcopy$* -lscr
tests/probe/copies: tests/probe/copies.c
	$(probe_mkdir)
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -g $(WARN) -o $@ $(top_srcdir)/tests/probe/copies.c -ldl
.PRECIOUS: tests/probe/libcopy1.so tests/probe/libcopy2.so
CLEANFILES += $(copies) tests/probe/libcopy1.so tests/probe/libcopy2.so

if HAVE_OPENMPI
probe_openmpi = $(probe_names:%=tests/probe/%.openmpi)
check_SCRIPTS += $(probe_openmpi) tests/probe/tool.openmpi tests/probe/tolerant.openmpi tests/probe/scr_program.openmpi tests/probe/sanitized.openmpi
$(probe_openmpi): tests/probe/%.openmpi: tests/probe/%.c
	$(probe_mkdir)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -o $@ $<
tests/probe/tool.openmpi: tests/probe/tool.c
	$(probe_mkdir)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -fPIC -shared -o $@ $<
tests/probe/tolerant.openmpi: tests/probe/tolerant.c
	$(probe_mkdir)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -fPIC -shared -o $@ $<
# A program with an address sanitizer of its own
tests/probe/sanitized.openmpi: tests/probe/legal.c
	$(probe_mkdir)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -fsanitize=address -o $@ $<
tests/probe/scr_program.openmpi: tests/probe/scr_program.c tests/probe/libscr.so
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -o $@ $< -Ltests/probe -lscr
endif

if HAVE_MPICH
probe_mpich = $(probe_names:%=tests/probe/%.mpich)
check_SCRIPTS += $(probe_mpich) tests/probe/tool.mpich tests/probe/scr_program.mpich tests/probe/sanitized.mpich
$(probe_mpich): tests/probe/%.mpich: tests/probe/%.c
	$(probe_mkdir)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -o $@ $<
tests/probe/tool.mpich: tests/probe/tool.c
	$(probe_mkdir)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -fPIC -shared -o $@ $<
tests/probe/sanitized.mpich: tests/probe/legal.c
	$(probe_mkdir)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -fsanitize=address -o $@ $<
tests/probe/scr_program.mpich: tests/probe/scr_program.c tests/probe/libscr.so
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -o $@ $< -Ltests/probe -lscr

# A library with the standard's ABI, of the name that the standard gives it, and a program for it
check_SCRIPTS += tests/probe/libmpi_abi.so.0 tests/probe/standard
tests/probe/libmpi_abi.so.0: tests/probe/standard_standin.c tests/probe/standard.h
	$(probe_mkdir)
	$(AM_V_GEN)$(CC) $(PATH_FLAGS) -fPIC -shared -Wl,-soname,libmpi_abi.so.0 -o $@ $< -ldl
tests/probe/standard: tests/probe/standard.c tests/probe/standard.h tests/probe/libmpi_abi.so.0
	$(AM_V_GEN)$(CC) $(PATH_FLAGS) -o $@ $< tests/probe/libmpi_abi.so.0
endif
CLEANFILES += tests/probe/libscr.so $(probe_openmpi) tests/probe/tolerant.openmpi $(probe_mpich) tests/probe/tool.openmpi tests/probe/tool.mpich \
	tests/probe/scr_program.openmpi tests/probe/scr_program.mpich tests/probe/sanitized.openmpi tests/probe/sanitized.mpich tests/probe/libmpi_abi.so.0 tests/probe/standard
