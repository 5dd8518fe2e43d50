/* hostlist.h - Slurm's way of writing many nodes: "node[1-3,07],gpu4", read where libslurm is not there. */
#ifndef SYNCGUARD_SLURM_HOSTLIST_H
#define SYNCGUARD_SLURM_HOSTLIST_H

#include <stdbool.h>

/* Is the node in the list?  Nothing is expanded, so no list is too long; a malformed one has no nodes. */
bool hostlist_has(const char *list, const char *node);

#endif
