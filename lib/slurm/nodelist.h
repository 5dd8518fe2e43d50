/* nodelist.h - lists of nodes in Slurm's notation, "node[1-3,07],gpu4", read and written by libslurm for
 * syncguard-slurm-helper.  common/hostlist.h reads them without it. */
#ifndef SYNCGUARD_SLURM_NODELIST_H
#define SYNCGUARD_SLURM_NODELIST_H

#define NODELIST_MAX_BYTES (1u << 20)

/* Add the nodes in `more` to the list (NULL is empty).  1: *text is the longer list, which the caller frees;
 * 0: the list has them all; -1: libslurm rejects a list, or the result exceeds NODELIST_MAX_BYTES.  *text is
 * NULL unless 1. */
int nodelist_add(const char *list, const char *more, char **text);

/* Number of `nodes` that are in the list (NULL is empty); *of: number of all of them. */
int nodelist_common(const char *list, const char *nodes, int *of);

#endif
