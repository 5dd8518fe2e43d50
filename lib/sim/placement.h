/* placement.h - which node and switch each rank of a job is on.
 *
 * A function of the scenario (and its seed, where ranks are shuffled).  Nodes are counted twice: the job's
 * own, from 0, and the fabric's. */
#ifndef SYNCGUARD_SIM_PLACEMENT_H
#define SYNCGUARD_SIM_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "sim/scenario.h"

struct placement {
    uint32_t ranks, nodes, switches;   /* nodes: of the job; switches: of the fabric */
    uint32_t *node;                    /* of a rank: the job's */
    uint32_t *fabric_node, *switch_id; /* of a rank */
    uint32_t *fabric_rank;             /* of a rank: its place on the fabric */
    uint32_t *first, *by_node; /* the ranks of node i are by_node[first[i]] ... by_node[first[i+1] - 1] */
};

static inline uint32_t placement_node_size(const struct placement *p, uint32_t node)
{
    return p->first[node + 1] - p->first[node];
}

static inline const uint32_t *placement_node_ranks(const struct placement *p, uint32_t node)
{
    return p->by_node + p->first[node];
}

struct placement *placement_new(const struct scenario *s, size_t job);
void placement_free(struct placement *p); /* NULL is fine */

/* Ranks on each node of the fabric, so that all jobs fit. */
uint32_t placement_ranks_per_node(const struct scenario *s);

#endif
