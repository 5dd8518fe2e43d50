/* phases.h - what in a run is neither an ordinary step nor a fault: warm-up, pauses (checkpoints),
 * collectives of another kind between the steps (evaluations). */
#ifndef SYNCGUARD_VIEW_PHASES_H
#define SYNCGUARD_VIEW_PHASES_H

#include "detect/work.h"
#include "view/events.h"
#include "view/figures.h"

struct phases;
struct phases *phases_new(struct events *events); /* lent */
void phases_free(struct phases *p);
void phases_forget(struct phases *p);

/* k: the newest step as it was judged; alone: no others are judged together with it; its first and last
 * collective on the communicator that steps are counted on. */
void phases_take_step(struct phases *p, double now_s, const struct work_step *k, bool alone,
                      uint32_t first_seq, uint32_t last_seq);

uint32_t phases_warm_up(const struct phases *p);                  /* steps; 0 while not known */
void phases_get(const struct phases *p, struct view_phases *out); /* all but delays and the rhythm */

#endif
