/* oscillation.h - does the whole job alternate between fast and slow steps?
 *
 * The typical own work of the newest steps is folded at each period of 2 to OSCILLATION_MAX steps; an F test
 * of the means of the phases against what is left (epoch folding: Leahy et al. 1983) picks the period, the
 * two levels are those of the phases above and below the middle. */
#ifndef SYNCGUARD_DETECT_OSCILLATION_H
#define SYNCGUARD_DETECT_OSCILLATION_H

#include <stdbool.h>
#include <stdint.h>

#include "detect/work.h"
#include "model/interval.h"

#define OSCILLATION_MAX 8u

struct oscillation {
    bool standing;
    uint64_t onset;         /* step */
    uint32_t period;        /* steps */
    double ratio;           /* slow over fast own work */
    double fast_s, slow_s;  /* typical work of the two, without the program's own rhythm */
    struct interval cost;   /* of what it costs, over saved_s */
    double saved_s;         /* since the onset: had all steps been fast ones */
    uint32_t without, with; /* steps in a row */
};

/* Judge after work_take(); all zero is one that saw nothing. period: collectives a step, to see where steps
 * of another kind came between, and where the records of some are lost. */
void oscillation_step(struct oscillation *o, const struct work *w, uint32_t period, double min_slowdown);

#endif
