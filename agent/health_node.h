/* health_node.h - how the node fares: CPUs, pressure, swap, network, out of /proc and /sys.
 * What a node does not tell stays NaN.  Times are the caller's seconds. */
#ifndef SYNCGUARD_AGENT_HEALTH_NODE_H
#define SYNCGUARD_AGENT_HEALTH_NODE_H

#include <sys/types.h>

#include "agent/cpuset.h"
#include "wire/telemetry.h"

struct health_node;

/* root: put before every path; "" but in tests.  Lent words. */
struct health_node *health_node_new(const char *root);
void health_node_free(struct health_node *n); /* NULL is fine */

/* The CPUs whose clocks and temperatures count: those that ranks may run on. */
void health_node_cpus(struct health_node *n, const struct cpuset *cpus);
/* The step's cgroup is the one of this process; before, and where it tells nothing, the node's own figures
 * count. */
void health_node_cgroup(struct health_node *n, pid_t pid);

/* Look; figures are over the time since the last look (the first one has none).  rank and app stay the
 * caller's. */
void health_node_look(struct health_node *n, double now_s, struct node_item *out);
/* Share of the CPU's time that was used between the last two looks; NaN: not known. */
double health_node_busy(const struct health_node *n, uint32_t cpu);

#endif
