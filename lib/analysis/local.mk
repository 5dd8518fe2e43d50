# lib/analysis/: pure, from events to verdicts
noinst_LIBRARIES += libanalysis.a
libanalysis_a_SOURCES = \
	lib/analysis/boundary.c lib/analysis/boundary.h \
	lib/analysis/call_steps.c lib/analysis/call_steps.h \
	lib/analysis/cause.c lib/analysis/cause.h \
	lib/analysis/cycle.c lib/analysis/cycle.h \
	lib/analysis/delay.c lib/analysis/delay.h \
	lib/analysis/diagnosis.c lib/analysis/diagnosis.h lib/analysis/diagnosis_before.c lib/analysis/diagnosis_price.c lib/analysis/diagnosis_private.h \
	lib/analysis/efficiency.c lib/analysis/efficiency.h \
	lib/analysis/exchange.c lib/analysis/exchange.h \
	lib/analysis/expected.c lib/analysis/expected.h \
	lib/analysis/finding.c lib/analysis/finding.h \
	lib/analysis/flow.c lib/analysis/flow.h \
	lib/analysis/join.c lib/analysis/join.h \
	lib/analysis/links.c lib/analysis/links.h \
	lib/analysis/longer.c lib/analysis/longer.h \
	lib/analysis/names.c lib/analysis/names.h \
	lib/analysis/onset.c lib/analysis/onset.h \
	lib/analysis/oscillation.c lib/analysis/oscillation.h \
	lib/analysis/overlap.c lib/analysis/overlap.h \
	lib/analysis/pairs.c lib/analysis/pairs.h \
	lib/analysis/path.c lib/analysis/path.h \
	lib/analysis/period.c lib/analysis/period.h \
	lib/analysis/picture.c lib/analysis/picture.h \
	lib/analysis/pieces.c lib/analysis/pieces.h \
	lib/analysis/places.c lib/analysis/places.h \
	lib/analysis/price.c lib/analysis/price.h \
	lib/analysis/reach.c lib/analysis/reach.h \
	lib/analysis/rhythm.c lib/analysis/rhythm.h \
	lib/analysis/roles.c lib/analysis/roles.h \
	lib/analysis/variability.c lib/analysis/variability.h \
	lib/analysis/starved.c lib/analysis/starved.h \
	lib/analysis/straggler.c lib/analysis/straggler.h \
	lib/analysis/switches.c lib/analysis/switches.h \
	lib/analysis/transfer.c lib/analysis/transfer.h \
	lib/analysis/trend.c lib/analysis/trend.h \
	lib/analysis/columns.c lib/analysis/columns.h \
	lib/analysis/communicators.c lib/analysis/communicators.h \
	lib/analysis/course.c lib/analysis/course.h \
	lib/analysis/events.c lib/analysis/events.h \
	lib/analysis/outlook.c lib/analysis/outlook.h \
	lib/analysis/phases.c lib/analysis/phases.h \
	lib/analysis/presence.c lib/analysis/presence.h \
	lib/analysis/quota.c lib/analysis/quota.h \
	lib/analysis/roster.c lib/analysis/roster.h \
	lib/analysis/steps.c lib/analysis/steps.h \
	lib/analysis/sums.c lib/analysis/sums.h \
	lib/analysis/view.c \
	lib/analysis/view.h \
	lib/analysis/view_private.h \
	lib/analysis/view_doing.c \
	lib/analysis/view_efficiency.c \
	lib/analysis/view_exchange.c \
	lib/analysis/view_figures.c \
	lib/analysis/view_finding.c \
	lib/analysis/view_health.c \
	lib/analysis/view_judge.c \
	lib/analysis/view_marks.c \
	lib/analysis/view_overlap.c \
	lib/analysis/view_pairs.c \
	lib/analysis/view_picture.c \
	lib/analysis/view_reach.c \
	lib/analysis/view_run.c \
	lib/analysis/view_scaling.c \
	lib/analysis/view_sentence.c \
	lib/analysis/view_stall.c \
	lib/analysis/view_stall_private.h \
	lib/analysis/view_stall_words.c \
	lib/analysis/work.c lib/analysis/work.h
ANALYSIS_LIBS = libanalysis.a $(GRAPH_LIBS) $(MODEL_LIBS) $(WIRE_LIBS) $(RING_LIBS) -lm
