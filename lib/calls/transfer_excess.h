/* transfer_excess.h - how much longer some transfers take since a step.
 *
 * Times of transfers vary by orders of magnitude, and a few long ones make most of what they cost together:
 * the mean of their logarithms, by which links.h finds where they are slow, can double while they cost no
 * more, and stay while they cost three times as much.  Here seconds are compared: what the transfers of the
 * newest steps took over what those of their kinds took before.  They are longer when that is much, compared
 * with how much it varied from step to step. Up to TRANSFER_EXCESS_WAYS ways of transfers are compared apart.
 * Pure; memory 17 bytes a kind of transfers (graph/graph.h). */
#ifndef SYNCGUARD_CALLS_TRANSFER_EXCESS_H
#define SYNCGUARD_CALLS_TRANSFER_EXCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/links.h"
#include "graph/graph.h"

#define TRANSFER_EXCESS_WAYS 3u
#define TRANSFER_EXCESS_NONE TRANSFER_EXCESS_WAYS /* a kind that is not looked at */

struct transfer_excess;
typedef uint32_t transfer_excess_way(const struct graph_kind_info *k, void *arg);

struct transfer_excess *transfer_excess_new(void);
void transfer_excess_free(struct transfer_excess *l); /* NULL is fine */
void transfer_excess_reset(struct transfer_excess *l);

/* Look at the steps up to number `to` that were not looked at yet; way: of each kind of transfers.  They may
 * be longer since number `from`.  other: transfers that are left out; NULL: none.  When one of these changes,
 * and steps before `from` are still remembered, all is looked at again. */
void transfer_excess_update(struct transfer_excess *l, const struct graph *g, uint32_t from, uint32_t to,
                            transfer_excess_way *way, void *arg, const struct links_slow *other);

/* By how much those of that way are longer; 1 is twice as long, 0 not at all, as far as is known. */
double transfer_excess_of_way(const struct transfer_excess *l, uint32_t way);
/* The most that it may be, two standard errors above what was seen; NaN: not known. */
double transfer_excess_max(const struct transfer_excess *l, uint32_t way);
/* The same of a kind. */
double transfer_excess_of_kind(const struct transfer_excess *l, uint32_t kind);

#endif
