/* starvation.h - stragglers that make their transfers longer, too.
 *
 * A place without CPU is slow in its own work, and late to take what was sent to it: both have one cause, and
 * belong to one price. What was sent to the place, what it sent, and the collectives that it takes part in
 * are compared with what they took before its onset (transfer_excess.h), each apart. Pure; memory as
 * transfer_excess.h, for each straggler, and once more beside a slow link. */
#ifndef SYNCGUARD_CALLS_STARVATION_H
#define SYNCGUARD_CALLS_STARVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/links.h"
#include "detect/straggler.h"
#include "detect/work.h"
#include "graph/graph.h"

struct starvation;

struct starvation *starvation_new(void);
void starvation_free(struct starvation *s); /* NULL is fine */
void starvation_reset(struct starvation *s);

/* Look at the transfers of a straggler that is slow since step number `from`, in the steps up to number `to`.
 * other: links that are slow for another reason, whose transfers are left out; NULL: none. */
void starvation_update(struct starvation *s, const struct graph *g, const struct work *w,
                       const struct straggler *p, uint32_t from, uint32_t to, const struct links_slow *other);
/* Is it surely not late with what it exchanges, because only what goes through this link takes longer?  False
 * where nothing that is like that goes elsewhere. */
bool starvation_refuted(struct starvation *s, const struct graph *g, const struct work *w,
                        const struct straggler *p, uint32_t from, uint32_t to, const struct links_slow *link);
/* Forget all stragglers but these. */
void starvation_keep(struct starvation *s, const struct straggler *list, size_t n);

/* Does it make its transfers longer? */
bool starvation_has(const struct starvation *s, uint32_t id);
/* By how much those of this kind; 1 is twice as long, 0 not at all. */
double starvation_excess(const struct starvation *s, uint32_t id, uint32_t kind);

#endif
