/* slurm_conf.h - what slurm.conf says of where a partition's jobs may run: its nodes, and whether Slurm knows
 * switches at all.
 *
 * Read without libslurm, as topology.conf is. Never aborts and never prints. */
#ifndef SYNCGUARD_TOPOLOGY_SLURM_CONF_H
#define SYNCGUARD_TOPOLOGY_SLURM_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct slurm_partition {
    char name[64];  /* cut at its end */
    char *nodes;    /* as Slurm writes lists, each NodeSet= replaced by what it stands for: its Nodes= and the
                       nodes whose NodeName= line has its Feature=, but not what was changed since; NULL: all of
                       the cluster.  A newer Slurm's functions ("switch{s1}") are left as they are */
    char *topology; /* Topology=: which of topology.yaml's its jobs use; NULL: the default one */
    bool tree;      /* TopologyPlugin=topology/tree: jobs can ask for switches */
};

/* Of this name; NULL: the one that jobs get that ask for none. 0, or -1 with a reason that names file and
 * line, or the partition that is not there. */
int slurm_conf_read(const char *path, const char *partition, struct slurm_partition *p, struct err *err);
/* The same for text in memory. */
int slurm_conf_parse(const char *name, const char *text, size_t bytes, const char *partition,
                     struct slurm_partition *p, struct err *err);
void slurm_partition_free(struct slurm_partition *p);

/* Where slurm.conf is (SLURM_CONF_NAME), or a file of this name beside it: SLURM_CONF says it, else
 * /etc/slurm, or what slurmd or sackd fetched from the controller, or PREFIX/etc where this program, or the
 * scontrol in PATH, is in PREFIX/bin or PREFIX/sbin. */
#define SLURM_CONF_NAME "slurm.conf"
void slurm_conf_locate(const char *name, char *path, size_t size);

#endif
