/* nodelist.h - lists of nodes in Slurm's notation, "node[1-3,07],gpu4", read and written by libslurm; for
 * syncguard-slurm-helper, which links it.  hostlist.h answers one question about them without it. */
#ifndef SYNCGUARD_SLURM_NODELIST_H
#define SYNCGUARD_SLURM_NODELIST_H

#define NODELIST_MAX_BYTES (1u << 20)

/* Add the nodes in `more` to the list (NULL is empty).  1: *text is the longer list, the caller's (free).
 * 0: the list has them all already.  -1: libslurm cannot read a list, or the result would exceed
 * NODELIST_MAX_BYTES with its final NUL.  *text is NULL unless 1 is returned. */
int nodelist_add(const char *list, const char *more, char **text);

/* Number of `nodes` that are in the list (NULL is empty); *of: how many nodes those are. */
int nodelist_common(const char *list, const char *nodes, int *of);

#endif
