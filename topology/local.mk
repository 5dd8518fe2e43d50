# topology/: the cluster's switches, orders of ranks on them, and what is near what within a node
noinst_LIBRARIES += libtopology.a
libtopology_a_SOURCES = \
	topology/arrange.c topology/arrange.h \
	topology/exact.c topology/exact.h \
	topology/layout.c topology/layout.h \
	topology/leaves.c topology/leaves.h \
	topology/locality.c topology/locality.h \
	topology/pattern.c topology/pattern.h \
	topology/slow_links.c topology/slow_links.h \
	topology/slurm_conf.c topology/slurm_conf.h \
	topology/survey.c topology/survey.h \
	topology/topology.c topology/topology.h \
	topology/topology_conf.c topology/topology_conf.h
TOPOLOGY_LIBS = libtopology.a $(NETWORK_LIBS) $(MODEL_LIBS) $(COMMON_LIBS) -lm
