/* health.h - the health of a view's nodes and of its ranks' processes. */
#ifndef SYNCGUARD_VIEW_HEALTH_H
#define SYNCGUARD_VIEW_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "wire/telemetry.h"

struct view;

/* Health of a rank's process and of a node, smoothed over some seconds.  false: nothing was reported lately.
 */
#define VIEW_GPUS_MAX 16u /* a node */
struct view_rank_health {
    struct task_item figures;
    double follows;  /* correlation of its lateness with its run delay */
    char cause[256]; /* what stands out from the other ranks and nodes; "" nothing does */
};
bool view_rank_health_get(const struct view *v, double now_s, uint32_t rank, struct view_rank_health *h);
struct view_node_health {
    struct node_item figures;
    double involuntary_per_s; /* of all its ranks */
    struct gpu_item gpu[VIEW_GPUS_MAX];
    struct gpu_state_item state[VIEW_GPUS_MAX]; /* of the same; what is not known as in the item */
    size_t n_gpus;
};
bool view_node_health_get(const struct view *v, double now_s, const char *node, struct view_node_health *h);

/* The share of their time that all ranks alike lack a CPU (for other processes, the hypervisor or their
 * quota), by the typical one of them, and a sentence about it; 0 and "" if it is less than what matters for
 * one rank, or not known. */
double view_cpu_lack(const struct view *v, char *buf, size_t size);

#endif
