/* fold.h - a fabric with several ways up, folded into a tree, for topology.c.
 *
 * Switches with the same nodes, or the same switches, below them are alike: a message between two of those
 * goes through any of them and comes as far, so that in the tree the first of them stands for all, from the
 * leaves up. That makes a tree of fat trees and of rails. What still has several switches above it is below
 * the one from which the highest switch is reached, of these below the lowest, of these below the one with
 * the most below it, of these below the first (decision 0102). */
#ifndef SYNCGUARD_TOPOLOGY_FOLD_H
#define SYNCGUARD_TOPOLOGY_FOLD_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "topology/topology.h"

/* A node (below n_nodes) or, from n_nodes on, a switch; and the switch above it. */
struct fold_edge {
    uint32_t child, parent;
};

/* Set parents, heights, counts and what is alike, by the edges, which are sorted and may be there twice. 0,
 * or -1 with the reason, and *at is the switch that it is about, or TOPOLOGY_NONE. */
int fold_edges(struct topology *t, struct fold_edge *edge, size_t n, uint32_t *at, struct err *err);

#endif
