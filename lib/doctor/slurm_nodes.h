/* slurm_nodes.h - the nodes and leaf switches that slurmctld has, as scontrol prints them.
 *
 *   scontrol -o show nodes       NodeName=node1 Arch=x86_64 ... NodeAddr=10.0.0.1 ... State=IDLE ... Partitions=main,gpu ...
 *   scontrol -o show topology    SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=node[1-16]
 *   scontrol show config         SlurmdPort              = 6818
 *
 * One line for each; keys not named here are skipped.  A node has Port= where it is not SlurmdPort. */
#ifndef SYNCGUARD_DOCTOR_SLURM_NODES_H
#define SYNCGUARD_DOCTOR_SLURM_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define SLURM_NODES_MAX 65536u

struct slurm_nodes {
    struct slurm_node {
        char *name, *address, *state, *partitions; /* state as "IDLE+DRAIN"; all but the name "": not given */
        char *leaf;                                /* NULL: below no switch that slurmctld has */
        uint16_t port;                             /* its slurmd's; 0: not given */
        bool silent; /* no slurmd answers there (slurmd.h): no step is to wait for it */
    } * node;        /* sorted by name */
    size_t n, cap;
    bool tree; /* slurmctld has switches */
};

/* Of what `show nodes` printed; 0, or -1 with the reason: no node in it, too many, or a name twice. */
int slurm_nodes_parse(struct slurm_nodes *s, const char *text, struct err *err);
/* Then, of what `show topology` printed; a line that is no switch is skipped, because without switches it
 * prints a remark. */
int slurm_nodes_leaves(struct slurm_nodes *s, const char *text, struct err *err);
/* SlurmdPort in what `show config` printed; 0: not in it. */
uint16_t slurm_nodes_port(const char *text);
/* Ask scontrol, for at most limit_s each. */
int slurm_nodes_ask(struct slurm_nodes *s, double limit_s, struct err *err);
struct slurm_node *slurm_nodes_find(const struct slurm_nodes *s, const char *name); /* NULL: it has none */
void slurm_nodes_free(struct slurm_nodes *s);                                       /* leaves it empty */

#endif
