/* health_node.h - the node's CPUs, pressure, swapping and network, from /proc and /sys.
 * Figures that a node does not provide are NaN.  Times are in seconds, by the caller's clock. */
#ifndef SYNCGUARD_NODEFIGURES_HEALTH_NODE_H
#define SYNCGUARD_NODEFIGURES_HEALTH_NODE_H

#include <sys/types.h>

#include "common/cpuset.h"
#include "wire/telemetry.h"

struct health_node;

/* root: prefix of every path, "" except in tests; lent. */
struct health_node *health_node_new(const char *root);
void health_node_free(struct health_node *n); /* NULL is fine */

/* Set the CPUs whose clocks and temperatures are read: those that ranks may run on. */
void health_node_cpus(struct health_node *n, const struct cpuset *cpus);
/* Read the cgroup of this process, which is the step's.  Without it, and where the cgroup has no figures,
 * those of the whole node are used. */
void health_node_cgroup(struct health_node *n, pid_t pid);

/* Read figures over the time since the last call; the first call has none.  Leaves rank and app to the
 * caller. */
void health_node_look(struct health_node *n, double now_s, struct node_item *out);
/* Share of a CPU's time that was used between the last two looks; NaN: not known. */
double health_node_busy(const struct health_node *n, uint32_t cpu);

#endif
