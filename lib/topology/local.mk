# lib/topology/: the cluster's switches, orders of ranks on them, and what is near what within a node
noinst_LIBRARIES += libtopology.a
libtopology_a_SOURCES = \
	lib/topology/address.c lib/topology/address.h \
	lib/topology/arrange.c lib/topology/arrange.h \
	lib/topology/exact.c lib/topology/exact.h \
	lib/topology/fold.c lib/topology/fold.h \
	lib/topology/layout.c lib/topology/layout.h \
	lib/topology/leaves.c lib/topology/leaves.h \
	lib/topology/locality.c lib/topology/locality.h \
	lib/topology/pattern.c lib/topology/pattern.h \
	lib/topology/slow_links.c lib/topology/slow_links.h \
	lib/topology/slurm_conf.c lib/topology/slurm_conf.h \
	lib/topology/survey.c lib/topology/survey.h \
	lib/topology/topology.c lib/topology/topology.h \
	lib/topology/topology_conf.c lib/topology/topology_conf.h \
	lib/topology/topology_yaml.c lib/topology/topology_yaml.h
TOPOLOGY_LIBS = libtopology.a $(NETWORK_LIBS) $(MODEL_LIBS) $(COMMON_LIBS) -lm
