# graph/: the newest steps of a job as a graph of calls
noinst_LIBRARIES += libgraph.a
libgraph_a_SOURCES = \
	graph/clock.c graph/clock.h \
	graph/graph.c graph/graph.h graph/graph_kept.c graph/graph_measure.c graph/graph_meeting.c graph/graph_order.c graph/graph_private.h graph/graph_repair.c \
	graph/graph_replay.c graph/graph_roles.c
GRAPH_LIBS = libgraph.a $(MODEL_LIBS) $(COMMON_LIBS) -lm
