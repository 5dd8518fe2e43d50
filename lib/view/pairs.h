/* pairs.h - which node's or which link's connections became slower: where a network is slow that all
 * transfers pass.
 *
 * Collectives of all ranks say that the network is slow, and not where.  The connections below them do: for
 * each pair of nodes, the time in which bytes were under way, over the bytes (struct traffic_item), before a
 * moment and since.  What that has grown by is explained by one place as in calls/links.h: the adapter of a
 * node, or the link between two, whichever explains most of the sum of squares, by least squares with the
 * weights of the errors.  No place is named where the other pairs have become slower by half as much, too.
 * Pure; about 300 bytes for each of at most 8 pairs a node; times in seconds, by the caller's clock. */
#ifndef SYNCGUARD_VIEW_PAIRS_H
#define SYNCGUARD_VIEW_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/telemetry.h"

struct pairs;

struct pairs *pairs_new(void);
void pairs_free(struct pairs *t); /* NULL is fine */
void pairs_reset(struct pairs *t);
size_t pairs_bytes(const struct pairs *t); /* of memory */

/* Take what the agent of this node reported; in order of time. */
void pairs_take(struct pairs *t, double now_s, uint32_t node, const struct traffic_item *item);

struct pairs_place {
    uint32_t nodes, node[2]; /* 1: the adapter of the node; 2: the link between them */
    /* time for a byte over that of before: through the place, and elsewhere (NaN: there is nothing else) */
    double times, others;
};
/* Of the slowdown that began at since_s.  False: too little is known (some seconds of both are needed, of the
 * last half a minute), or it is nowhere, or everywhere. */
bool pairs_find(const struct pairs *t, double now_s, double since_s, struct pairs_place *out);

#endif
