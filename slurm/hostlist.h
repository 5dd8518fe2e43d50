/* hostlist.h - reads lists of nodes in Slurm's notation, "node[1-3,07],gpu4", without libslurm. */
#ifndef SYNCGUARD_SLURM_HOSTLIST_H
#define SYNCGUARD_SLURM_HOSTLIST_H

#include <stdbool.h>

/* Whether the node is in the list.  The list is not expanded, so it may be long; a malformed list has no nodes. */
bool hostlist_has(const char *list, const char *node);

#endif
