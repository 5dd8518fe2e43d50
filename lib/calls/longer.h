/* longer.h - how much longer some transfers take since a step.
 *
 * Times of transfers vary by orders of magnitude, and a few long ones make most of what they cost together: the mean of their
 * logarithms, by which links.h finds where they are slow, can double while they cost no more, and stay while they cost three times as
 * much.  Here seconds are compared: what the transfers of the newest steps took over what those of their kinds took before.  They
 * are longer when that is much, compared with how much it varied from step to step.
 * Up to LONGER_WAYS ways of transfers are compared apart.
 * Pure; memory 17 bytes a kind of transfers (graph/graph.h). */
#ifndef SYNCGUARD_CALLS_LONGER_H
#define SYNCGUARD_CALLS_LONGER_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/links.h"
#include "graph/graph.h"

#define LONGER_WAYS 3u
#define LONGER_NONE LONGER_WAYS /* a kind that is not looked at */

struct longer;
typedef uint32_t longer_way(const struct graph_kind_info *k, void *arg);

struct longer *longer_new(void);
void longer_free(struct longer *l); /* NULL is fine */
void longer_reset(struct longer *l);

/* Look at the steps up to number `to` that were not looked at yet; way: of each kind of transfers.  They may be longer since number
 * `from`.  other: transfers that are left out; NULL: none.  When one of these changes, and steps before `from` are still remembered,
 * all is looked at again. */
void longer_look(struct longer *l, const struct graph *g, uint32_t from, uint32_t to, longer_way *way,
                 void *arg, const struct links_slow *other);

/* By how much those of that way are longer; 1 is twice as long, 0 not at all, as far as is known. */
double longer_excess(const struct longer *l, uint32_t way);
/* The most that it may be, two standard errors above what was seen; NaN: not known. */
double longer_most(const struct longer *l, uint32_t way);
/* The same of a kind. */
double longer_excess_of(const struct longer *l, uint32_t kind);

#endif
