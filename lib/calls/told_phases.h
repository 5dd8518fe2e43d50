/* told_phases.h - the part of the step in which each straggler is slow, and by how much.
 *
 * It is looked for when a straggler has lasted for some steps, and again now and then as long as it stands.
 * What was found last of the newest STRAGGLERS_MAX is kept: memory of 4 bytes a piece of a step, for each. */
#ifndef SYNCGUARD_CALLS_TOLD_PHASES_H
#define SYNCGUARD_CALLS_TOLD_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/phase.h"
#include "detect/finding.h"
#include "detect/straggler.h"
#include "detect/work.h"
#include "graph/graph.h"

struct told_phases;

struct told_phases *told_phases_new(void);
void told_phases_free(struct told_phases *p); /* NULL is fine */
void told_phases_reset(struct told_phases *p);

/* Look again at those that are named, where it is time to. step: counts the steps that were judged; last: no
 * more of them come. */
void told_phases_look(struct told_phases *p, const struct graph *g, const struct work *w,
                      const struct straggler *named, size_t n, uint32_t step, bool last);
/* Of the straggler at that place, or the newest that was there; false: no part of the step stands out. */
bool told_phases_get(const struct told_phases *p, enum finding_scope scope, uint32_t place,
                     struct slow_phase *found);
/* The excess of these stragglers' ranks by place of the graph, NaN at all others'.  NULL: none of them is
 * known to be slow in a part of the step.  Lent until the next call. */
const float *told_phases_excess(struct told_phases *p, const struct graph *g, const struct work *w,
                                const struct straggler *list, size_t n);

#endif
