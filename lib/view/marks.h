/* marks.h - what programs mark of their steps, or a guest sees of them: phases, and values that are no finite
 * numbers. */
#ifndef SYNCGUARD_VIEW_MARKS_H
#define SYNCGUARD_VIEW_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/telemetry.h"

struct view;

/* What programs mark of their steps (syncguard(3)), or where they mark none PyTorch's calls show: a step's
 * time and that of its phases, each on the mean of a rank's steps of about the newest 10 s, or of its newest
 * one. */
struct view_phase_time {
    uint32_t ranks; /* that mark it; 0: nothing is known of it, and the times are NaN */
    double median_s, least_s, most_s;
    uint32_t most_rank; /* whose is longest */
};
struct view_marked {
    /* on some ranks by PyTorch's calls: no program has marked it, and MARKS_INPUT is that a rank stands still
     * between steps */
    bool seen;
    struct view_phase_time step, phase[MARKS_PHASES]; /* MARKS_OTHER: what is in no phase of the rank's */
};
/* false: no rank has marked a whole step */
bool view_marked_get(const struct view *v, struct view_marked *m);
/* Is that much longer than the phase takes on the typical rank, and a share of the step that matters? */
bool view_phase_deviates(const struct view_marked *m, enum marks_phase phase, double rank_s);
/* The phase that a rank is in, and for how long; MARKS_PHASES: not known. */
enum marks_phase view_rank_phase(const struct view *v, double now_s, uint32_t rank, double *age_s);

/* The newest values that ranks report. */
struct view_value {
    uint32_t ranks, non_finite; /* that report it; of these, those whose newest is not finite */
    uint64_t step;              /* of the newest */
    double median, least, most; /* of the finite ones; NaN: there are none */
};
/* false: no rank reports it */
bool view_value_get(const struct view *v, enum marks_value value, struct view_value *out);
bool view_values_known(const struct view *v); /* some rank reports one of them */
/* Is the newest loss or norm of the gradient of a rank infinite, or not a number? */
bool view_non_finite(const struct view *v);
/* Where that began: in the earliest step, there in the value that comes first in it. */
struct view_non_finite {
    enum marks_value value;
    uint64_t step;  /* from 1 */
    uint32_t rank;  /* the first of ... */
    uint32_t ranks; /* ... so many, whose value has not been finite since that step */
    char text[256];
};
bool view_non_finite_get(const struct view *v, struct view_non_finite *n); /* false: all are finite */

#endif
