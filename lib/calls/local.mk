# lib/calls/: pure, what the graph of calls shows
noinst_LIBRARIES += libcalls.a
libcalls_a_SOURCES = \
	lib/calls/boundary.c lib/calls/boundary.h \
	lib/calls/call_steps.c lib/calls/call_steps.h \
	lib/calls/cycle.c lib/calls/cycle.h \
	lib/calls/accesses.c lib/calls/accesses.h \
	lib/calls/already.c lib/calls/already.h \
	lib/calls/exchange.c lib/calls/exchange.h \
	lib/calls/expected.c lib/calls/expected.h \
	lib/calls/hot.c lib/calls/hot.h lib/calls/links.c lib/calls/links.h \
	lib/calls/lasting_noise.c lib/calls/lasting_noise.h \
	lib/calls/mixed.c lib/calls/mixed.h \
	lib/calls/transfer_excess.c lib/calls/transfer_excess.h \
	lib/calls/overlap.c lib/calls/overlap.h \
	lib/calls/parts.c lib/calls/parts.h \
	lib/calls/path.c lib/calls/path.h \
	lib/calls/phase.c lib/calls/phase.h \
	lib/calls/picture.c lib/calls/picture.h \
	lib/calls/pieces.c lib/calls/pieces.h \
	lib/calls/price.c lib/calls/price.h \
	lib/calls/roles.c lib/calls/roles.h \
	lib/calls/rounds.c lib/calls/rounds.h \
	lib/calls/serving.c lib/calls/serving.h \
	lib/calls/starvation.c lib/calls/starvation.h \
	lib/calls/step_paths.c lib/calls/step_paths.h \
	lib/calls/told_phases.c lib/calls/told_phases.h \
	lib/calls/updates.c lib/calls/updates.h lib/calls/updates_private.h \
	lib/calls/updates_figures.c lib/calls/updates_servers.c
CALLS_LIBS = libcalls.a $(GRAPH_LIBS) $(DETECT_LIBS) $(RING_LIBS) -lm
