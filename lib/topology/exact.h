/* exact.h - the cheapest of all orders of a few nodes, by branch and bound.
 *
 * Nodes are placed slot by slot; the cost of the messages between those placed never falls, so a beginning
 * that costs as much as the best order known is given up. Of nodes that the tree's symmetry makes equal,
 * given those placed, one is tried. */
#ifndef SYNCGUARD_TOPOLOGY_EXACT_H
#define SYNCGUARD_TOPOLOGY_EXACT_H

#include <stdbool.h>

#include "topology/layout.h"

#define EXACT_NODES 10u

/* For at most EXACT_NODES nodes. order has an order that costs time_s; set to the cheapest one where that is
 * less. Sorts the flows of each phase.  False: more than `work` flows would have been walked, or no memory;
 * then it is the cheapest one found. */
bool exact_search(const struct layout *l, struct flows *f, uint64_t work, uint32_t *order, double time_s);

#endif
