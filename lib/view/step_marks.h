/* step_marks.h - what programs mark of their steps (syncguard(3)), or a guest sees of them in PyTorch's
 * calls: how long phases take on the typical rank and on which they take longest, and values that are no
 * finite numbers.  What view/marks.h asks for of a view is asked here. */
#ifndef SYNCGUARD_VIEW_STEP_MARKS_H
#define SYNCGUARD_VIEW_STEP_MARKS_H

#include "detect/finding.h"
#include "view/events.h"
#include "view/marks.h"
#include "view/presence.h"
#include "view/quota.h"
#include "view/roster.h"

struct step_marks;
/* lent */
struct step_marks *step_marks_new(struct quota *quota, struct roster *roster, const struct presence *presence,
                                  struct events *events);
void step_marks_free(struct step_marks *s);
void step_marks_forget(struct step_marks *s);
void step_marks_take_phases(struct step_marks *s, double now_s, const struct phases_item *i);
void step_marks_take_value(struct step_marks *s, const struct value_item *i);
void step_marks_roll(struct step_marks *s, double now_s);

bool step_marks_get(const struct step_marks *s, struct view_marked *m);
enum marks_phase step_marks_phase(const struct step_marks *s, double now_s, uint32_t rank, double *age_s);
bool step_marks_value(const struct step_marks *s, enum marks_value value, struct view_value *out);
bool step_marks_values_known(const struct step_marks *s);
bool step_marks_any_non_finite(const struct step_marks *s);
bool step_marks_non_finite(const struct step_marks *s, struct view_non_finite *n);

struct marked_longest {
    enum marks_phase phase;  /* MARKS_PHASES: none */
    uint32_t n, rank;        /* ranks that have phases, and one of them */
    double own_s, typical_s; /* a step: their mean, and the typical rank's */
    bool seen;               /* by a guest; else the program marks it */
};
/* The one phase that all ranks of a node, or the one of a rank, take longest for, compared with the typical
 * rank. */
struct marked_longest step_marks_longest(const struct step_marks *s, enum finding_scope scope,
                                         uint32_t place);
/* Append it to the causes in buf; and of a rank that holds up the others, the phase that it is in. */
void step_marks_cause(const struct step_marks *s, enum finding_scope scope, uint32_t place, char *buf,
                      size_t size);
void step_marks_inside(const struct step_marks *s, double now_s, uint32_t rank, char *buf, size_t size);

#endif
