# tests/probe/: programs for the probe, built with each MPI library that is there
# The probe's hot path, watched from outside
EXTRA_DIST += tests/probe/path.c
PATH_FLAGS = -D_GNU_SOURCE -I$(top_srcdir) -std=gnu11 -O2 -g $(WARN)
if HAVE_OPENMPI
check_SCRIPTS += tests/probe/path.openmpi
tests/probe/path.openmpi: tests/probe/path.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/path.c
endif
if HAVE_MPICH
check_SCRIPTS += tests/probe/path.mpich
tests/probe/path.mpich: tests/probe/path.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/path.c
endif
CLEANFILES += tests/probe/path.openmpi tests/probe/path.mpich

# Programs that checkpoint by SCR, with a stand-in for it
EXTRA_DIST += tests/probe/scr_program.c tests/probe/scr_standin.c
check_SCRIPTS += tests/probe/libscr.so
tests/probe/libscr.so: tests/probe/scr_standin.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(CC) -std=gnu11 -O2 -g $(WARN) -fPIC -shared -o $@ $(top_srcdir)/tests/probe/scr_standin.c
if HAVE_OPENMPI
check_SCRIPTS += tests/probe/scr_program.openmpi
tests/probe/scr_program.openmpi: tests/probe/scr_program.c tests/probe/libscr.so
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/scr_program.c -Ltests/probe -lscr
endif
if HAVE_MPICH
check_SCRIPTS += tests/probe/scr_program.mpich
tests/probe/scr_program.mpich: tests/probe/scr_program.c tests/probe/libscr.so
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/scr_program.c -Ltests/probe -lscr
endif
CLEANFILES += tests/probe/libscr.so tests/probe/scr_program.openmpi tests/probe/scr_program.mpich

# Messages in every way
EXTRA_DIST += tests/probe/messages.c
if HAVE_OPENMPI
check_SCRIPTS += tests/probe/messages.openmpi
tests/probe/messages.openmpi: tests/probe/messages.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) $(ZOO_WARN) -o $@ $(top_srcdir)/tests/probe/messages.c
endif
if HAVE_MPICH
check_SCRIPTS += tests/probe/messages.mpich
tests/probe/messages.mpich: tests/probe/messages.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) $(ZOO_WARN) -o $@ $(top_srcdir)/tests/probe/messages.c
endif
CLEANFILES += tests/probe/messages.openmpi tests/probe/messages.mpich

# One-sided calls
EXTRA_DIST += tests/probe/onesided.c
if HAVE_OPENMPI
check_SCRIPTS += tests/probe/onesided.openmpi
tests/probe/onesided.openmpi: tests/probe/onesided.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/onesided.c
endif
if HAVE_MPICH
check_SCRIPTS += tests/probe/onesided.mpich
tests/probe/onesided.mpich: tests/probe/onesided.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -o $@ $(top_srcdir)/tests/probe/onesided.c
endif
CLEANFILES += tests/probe/onesided.openmpi tests/probe/onesided.mpich

# What MPI allows and few programs do
EXTRA_DIST += tests/probe/legal.c
if HAVE_OPENMPI
check_SCRIPTS += tests/probe/legal.openmpi
tests/probe/legal.openmpi: tests/probe/legal.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) $(ZOO_WARN) -o $@ $(top_srcdir)/tests/probe/legal.c
endif
if HAVE_MPICH
check_SCRIPTS += tests/probe/legal.mpich
tests/probe/legal.mpich: tests/probe/legal.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) $(ZOO_WARN) -o $@ $(top_srcdir)/tests/probe/legal.c
endif
CLEANFILES += tests/probe/legal.openmpi tests/probe/legal.mpich

# A tool beside the probe
EXTRA_DIST += tests/probe/tool.c
if HAVE_OPENMPI
check_SCRIPTS += tests/probe/tool.openmpi
tests/probe/tool.openmpi: tests/probe/tool.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_OPENMPI) $(PATH_FLAGS) -fPIC -shared -o $@ $(top_srcdir)/tests/probe/tool.c
endif
if HAVE_MPICH
check_SCRIPTS += tests/probe/tool.mpich
tests/probe/tool.mpich: tests/probe/tool.c
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(MPICC_MPICH) $(PATH_FLAGS) -fPIC -shared -o $@ $(top_srcdir)/tests/probe/tool.c
endif
CLEANFILES += tests/probe/tool.openmpi tests/probe/tool.mpich
