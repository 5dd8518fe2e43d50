# lib/view/: pure, items to figures and verdicts
noinst_LIBRARIES += libview.a
libview_a_SOURCES = \
	lib/view/arrivals.c lib/view/arrivals.h \
	lib/view/baseline.c lib/view/baseline.h \
	lib/view/columns.c lib/view/columns.h \
	lib/view/comms.h \
	lib/view/communicators.c lib/view/communicators.h \
	lib/view/path_shares.c lib/view/path_shares.h \
	lib/view/events.c lib/view/events.h \
	lib/view/figures.h \
	lib/view/health.h \
	lib/view/join.c lib/view/join.h \
	lib/view/marks.h \
	lib/view/outlook.c lib/view/outlook.h \
	lib/view/pairs.c lib/view/pairs.h \
	lib/view/phases.c lib/view/phases.h \
	lib/view/presence.c lib/view/presence.h \
	lib/view/quota.c lib/view/quota.h \
	lib/view/roster.c lib/view/roster.h \
	lib/view/scaling.h \
	lib/view/steps.c lib/view/steps.h \
	lib/view/sums.c lib/view/sums.h \
	lib/view/switches.c lib/view/switches.h \
	lib/view/tempo.c lib/view/tempo.h \
	lib/view/timeline.h \
	lib/view/updates.h \
	lib/view/connections.c lib/view/connections.h \
	lib/view/shortfalls.c lib/view/shortfalls.h \
	lib/view/step_marks.c lib/view/step_marks.h \
	lib/view/verdicts.h \
	lib/view/view.c lib/view/view.h \
	lib/view/view_doing.c \
	lib/view/view_efficiency.c \
	lib/view/view_exchange.c \
	lib/view/view_figures.c \
	lib/view/view_finding.c \
	lib/view/view_health.c \
	lib/view/view_judge.c \
	lib/view/view_overlap.c \
	lib/view/view_picture.c \
	lib/view/view_private.h \
	lib/view/view_run.c \
	lib/view/view_scaling.c \
	lib/view/view_sentence.c \
	lib/view/view_stall.c lib/view/view_stall_moves.c \
	lib/view/view_updates.c \
	lib/view/view_updates_verdict.c \
	lib/view/view_stall_private.h \
	lib/view/view_stall_waits.c \
	lib/view/view_stall_words.c
VIEW_LIBS = libview.a $(CALLS_LIBS) $(DETECT_LIBS) $(GRAPH_LIBS) $(MODEL_LIBS) $(WIRE_LIBS) $(RING_LIBS) -lm
