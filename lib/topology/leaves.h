/* leaves.h - on how few leaf switches so many nodes fit: at best, when the nodes on them are free.
 *
 * Pure but for memory; never aborts. */
#ifndef SYNCGUARD_TOPOLOGY_LEAVES_H
#define SYNCGUARD_TOPOLOGY_LEAVES_H

#include <stdint.h>

#include "topology/topology.h"

struct leaves {
    uint32_t fewest, all; /* leaf switches: of the nodes wanted; of those that may be had */
};

/* nodes: those that may be had, as Slurm writes lists; NULL: all. 0, or -1 with the reason: a node below no
 * switch, or fewer of them than wanted. */
int leaves_count(const struct topology *t, const char *nodes, uint32_t wanted, struct leaves *l,
                 struct err *err);

#endif
