/* address.h - cuts SLURM_TOPOLOGY_ADDR where the names of switches have dots, which Slurm does not escape.
 *
 *   core.leaf.b.node3       by "switch.switch.node": core and leaf.b, or core.leaf and b?
 *
 * The topology tells: each level is empty, or the name or list of switches of its height.  Never aborts and
 * never prints. */
#ifndef SYNCGUARD_TOPOLOGY_ADDRESS_H
#define SYNCGUARD_TOPOLOGY_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "topology/topology.h"

/* Where each level's name begins in an address without its node, from the top.  False: no way to cut it into
 * that many, or several. */
bool address_cut(const struct topology *t, const char *address, size_t levels,
                 size_t begins[TOPOLOGY_LEVELS_MAX]);

#endif
