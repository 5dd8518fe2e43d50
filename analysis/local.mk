# analysis/: pure, from events to verdicts
noinst_LIBRARIES += libanalysis.a
libanalysis_a_SOURCES = \
	analysis/boundary.c analysis/boundary.h \
	analysis/cause.c analysis/cause.h \
	analysis/cycle.c analysis/cycle.h \
	analysis/delay.c analysis/delay.h \
	analysis/diagnosis.c analysis/diagnosis.h analysis/diagnosis_before.c analysis/diagnosis_price.c analysis/diagnosis_private.h \
	analysis/efficiency.c analysis/efficiency.h \
	analysis/exchange.c analysis/exchange.h \
	analysis/expected.c analysis/expected.h \
	analysis/finding.c analysis/finding.h \
	analysis/flow.c analysis/flow.h \
	analysis/join.c analysis/join.h \
	analysis/links.c analysis/links.h \
	analysis/longer.c analysis/longer.h \
	analysis/names.c analysis/names.h \
	analysis/onset.c analysis/onset.h \
	analysis/oscillation.c analysis/oscillation.h \
	analysis/overlap.c analysis/overlap.h \
	analysis/pairs.c analysis/pairs.h \
	analysis/path.c analysis/path.h \
	analysis/period.c analysis/period.h \
	analysis/picture.c analysis/picture.h \
	analysis/pieces.c analysis/pieces.h \
	analysis/places.c analysis/places.h \
	analysis/price.c analysis/price.h \
	analysis/reach.c analysis/reach.h \
	analysis/rhythm.c analysis/rhythm.h \
	analysis/roles.c analysis/roles.h \
	analysis/variability.c analysis/variability.h \
	analysis/starved.c analysis/starved.h \
	analysis/straggler.c analysis/straggler.h \
	analysis/switches.c analysis/switches.h \
	analysis/transfer.c analysis/transfer.h \
	analysis/trend.c analysis/trend.h \
	analysis/view.c analysis/view.h analysis/view_calls.c analysis/view_comms.c analysis/view_course.c analysis/view_efficiency.c analysis/view_exchange.c analysis/view_figures.c analysis/view_finding.c \
	analysis/view_health.c analysis/view_history.c analysis/view_judge.c analysis/view_marks.c analysis/view_overlap.c analysis/view_private.h analysis/view_ranks.c analysis/view_reach.c analysis/view_run.c \
	analysis/view_phases.c analysis/view_picture.c analysis/view_presence.c analysis/view_projection.c analysis/view_scaling.c analysis/view_stall.c \
	analysis/view_stall_private.h analysis/view_stall_words.c analysis/view_steps.c analysis/view_pairs.c \
	analysis/work.c analysis/work.h
ANALYSIS_LIBS = libanalysis.a $(GRAPH_LIBS) $(MODEL_LIBS) $(WIRE_LIBS) $(RING_LIBS) -lm
