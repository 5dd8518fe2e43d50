/* hostlist.h - reads lists of nodes in Slurm's notation, "node[1-3,07],rack[1-2]gpu[1-4]", without libslurm:
 * a name with brackets ends with one. Never aborts, never prints and never allocates: guests use it. */
#ifndef SYNCGUARD_COMMON_HOSTLIST_H
#define SYNCGUARD_COMMON_HOSTLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define HOSTLIST_NAME_MAX 255u

/* Whether the node is in the list.  The list is not expanded, so it may be long; a malformed list has no
 * nodes. */
bool hostlist_has(const char *list, const char *node);

/* Called for each name, which is valid during the call only.  Returning -1 with a reason ends the list. */
typedef int hostlist_fn(void *arg, const char *name, struct err *err);

/* Call fn for each name of the list, in its order, as often as it is there. 0, or -1 with the reason: fn's
 * own, a malformed list, or one of more than max names. */
int hostlist_each(const char *list, size_t max, hostlist_fn *fn, void *arg, struct err *err);

/* As hostlist_each(), as Slurm reads what stands below a switch: an item whose bracket is not closed, not
 * opened, or opened twice is the name of one node, which Slurm does not know. */
int hostlist_each_written(const char *list, size_t max, hostlist_fn *fn, void *arg, struct err *err);

/* Whether it is a list of names, at most max, as somebody types it: without blanks and without commas that
 * have no name before them, which Slurm's files may have.  0, or -1 with the reason. */
int hostlist_check(const char *list, size_t max, struct err *err);

#endif
