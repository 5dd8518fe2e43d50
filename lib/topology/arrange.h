/* arrange.h - an order of a job's nodes in which its pattern costs little, by layout.h.
 *
 * Never costs more than Slurm's own order, and is that order unless another costs less. For a ring, an order
 * that follows the tree is the best: each link carries one message per round (Patarasuk & Yuan, "Bandwidth
 * optimal all-reduce algorithms for clusters of workstations", 2009). Otherwise it is the cheapest of
 *
 *   - orders that follow the tree, so that whole blocks of nodes (rows of the pattern, powers of two) are
 *     below one switch where possible, and what is left over is joined below the next one;
 *   - for patterns with rows and columns, the same in strips of columns, so that tiles of both are below one
 *     switch;
 *   - up to EXACT_NODES nodes, all orders, but those that are equal by the tree's symmetry or have no chance
 *     (branch and bound); above, random exchanges of nodes and of blocks, always the same ones.
 *
 * Where an order has messages between two nodes that were measured to be slow, one of them first changes
 * places with a node near it.
 *
 * Never aborts and never prints. */
#ifndef SYNCGUARD_TOPOLOGY_ARRANGE_H
#define SYNCGUARD_TOPOLOGY_ARRANGE_H

#include <stdbool.h>

#include "topology/layout.h"

/* Flows walked in search of a better order: about half a second. */
#define ARRANGE_WORK 10000000u

struct arranged {
    struct layout_cost slurm, chosen;
    bool exact; /* no order costs less */
};

/* order: indices of the layout's nodes.  0, or -1 with the reason: the pattern does not fit the ranks, or no
 * memory; then order is Slurm's. */
int arrange(struct layout *l, const struct pattern *p, uint64_t work, uint32_t *order, struct arranged *a,
            struct err *err);

#endif
