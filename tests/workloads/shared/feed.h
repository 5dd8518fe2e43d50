/* feed.h - which windows of the text a rank learns from at which step.
 * Each epoch visits every window once, in an order shuffled by the seed; the ranks deal them out among
 * themselves. Any step's batch can be made from its number alone, so a restart needs no saved position.
 * With a loader, a thread makes the batches of coming steps ahead; they are the same batches. */
#ifndef SYNCGUARD_WORKLOADS_FEED_H
#define SYNCGUARD_WORKLOADS_FEED_H

#include <stdint.h>

#include "tests/workloads/shared/model.h"
#include "tests/workloads/shared/text.h"

struct feed; /* private to feed.c */

struct feed_plan {
    const struct text *text;
    int context, batch, rank, ranks;
    uint64_t seed;
    int ahead; /* batches that a loader thread keeps ready; 0: no thread */
};

/* From first_step on.  NULL with the reason: the text has fewer windows than one step takes. */
struct feed *feed_new(const struct feed_plan *plan, int64_t first_step, struct err *err);
void feed_free(struct feed *f);

/* The next step's batch, lent until the next call. */
const struct batch *feed_next(struct feed *f);

/* The rank's share of the held-out text, always the same windows. */
const struct batch *feed_held_out(const struct feed *f);

#endif
