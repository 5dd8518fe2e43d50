/* health.h - state of the node and of the ranks' processes, which may explain why a rank is late.
 *
 * Reads small files in /proc and /sys; changes and starts nothing.  Figures that cannot be read are unknown.
 * A look costs about 10 us for the node and for each rank.  Figures cover the time between two looks.  Times
 * are in seconds, by the caller's clock. */
#ifndef SYNCGUARD_NODEFIGURES_HEALTH_H
#define SYNCGUARD_NODEFIGURES_HEALTH_H

#include <stdbool.h>
#include <sys/types.h>

#include "nodefigures/gpu.h"
#include "wire/telemetry.h"

struct health;

/* root: prefix of every path, "" except in tests; lent. */
struct health *health_new(const char *root);
void health_free(struct health *h); /* NULL is fine */

/* Call it before each look for every rank that runs here, in any order.  Ranks that are not named are
 * forgotten; ranks beyond HEALTH_RANKS_MAX are ignored. */
#define HEALTH_RANKS_MAX 1024u
void health_rank(struct health *h, uint32_t rank, uint16_t app, pid_t pid);
/* Set the node's GPUs, as read last; copied. */
void health_gpus(struct health *h, const struct gpu_figures *gpu, size_t n);
/* The newest enum telemetry_kind that the controller can read; at first it is taken for an old one.  Newer
 * than those of old are traffic (connections.h) and the ranks' signals. */
void health_newest_item(struct health *h, unsigned newest);
/* Search for connections, if it is time to (connections.h), before a look.  It is no part of the look, whose
 * cost decides when the next one is. */
void health_find_connections(struct health *h, double now_s);
/* Takes each item as it is made; it is lent for the call. */
typedef void health_sink(const struct telemetry_item *item, void *arg);
/* Look, and pass items of the node, the ranks and the GPUs to put: those that have changed, and each at least
 * every HEALTH_REPORT_S; of traffic all there is.  Does nothing while no rank runs. */
void health_look(struct health *h, double now_s, health_sink *put, void *arg);
#define HEALTH_REPORT_S 5.0
/* Whether at the last look a rank could run on CPUs from CPUSET_MAX on: who shares them, and where they are,
 * is not known. */
bool health_has_too_many_cpus(const struct health *h);

#endif
