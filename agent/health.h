/* health.h - why a rank may be late that its arrivals do not tell: how its node and its process fare.
 *
 * Reads small texts of /proc and /sys, changes nothing, starts nothing.  What cannot be read is left out.  A
 * look costs the caller some 10 us for the node and for each rank; how often is the caller's choice, figures
 * are over the time between two looks.  Times are the caller's seconds. */
#ifndef SYNCGUARD_AGENT_HEALTH_H
#define SYNCGUARD_AGENT_HEALTH_H

#include <sys/types.h>

#include "agent/gpu.h"
#include "analysis/flow.h"

struct health;

/* root: put before every path; "" but in tests.  Lent words. */
struct health *health_new(const char *root);
void health_free(struct health *h); /* NULL is fine */

/* Before each look: every rank that runs here, in any order.  Those that are not named any more are
 * forgotten, those above a number that no node has CPUs for are left out. */
#define HEALTH_RANKS_MAX 1024u
void health_rank(struct health *h, uint32_t rank, uint16_t app, pid_t pid);
/* The node's GPUs as they were read last; kept until the next ones come. */
void health_gpus(struct health *h, const struct gpu_figures *gpu, size_t n);
/* Look, and tell the node's, the ranks' and the GPUs' figures: those that changed, and each at least every
 * HEALTH_TELL_S.  Nothing while no rank runs. */
void health_look(struct health *h, double now_s, flow_sink *put, void *arg);
#define HEALTH_TELL_S 5.0

#endif
