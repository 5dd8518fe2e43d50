# lib/graph/: the newest steps of a job as a graph of calls
noinst_LIBRARIES += libgraph.a
libgraph_a_SOURCES = \
	lib/graph/clock.c lib/graph/clock.h \
	lib/graph/graph.c lib/graph/graph.h lib/graph/graph_kept.c lib/graph/graph_measure.c lib/graph/graph_meeting.c \
	lib/graph/graph_order.c lib/graph/graph_private.h lib/graph/graph_rank.c lib/graph/graph_repair.c lib/graph/graph_replay.c \
	lib/graph/graph_roles.c
GRAPH_LIBS = libgraph.a $(MODEL_LIBS) $(COMMON_LIBS) -lm
