/* tempo.h - does the whole job take longer than it did?  All ranks alike: of one that is slower than the
 * others the detectors (detect/) tell.
 *
 * Typical steps over the whole run: medians of a few steps each, so that a pause moves none; of a long run
 * their means, so that as many cover all of it.  Slower is what its newest steps take over the fastest that
 * it kept to before, where the difference is no noise.  It says that it is so, when it began, and whether it
 * is work; not why, which may be what the program was asked to do (larger batches, longer sequences):
 * therefore it is no verdict.
 *
 * Pure.  Seconds; NaN is unknown. */
#ifndef SYNCGUARD_VIEW_TEMPO_H
#define SYNCGUARD_VIEW_TEMPO_H

#include <stddef.h>
#include <stdint.h>

#define TEMPO_STEPS  8u  /* of a median */
#define TEMPO_POINTS 64u /* that cover the run */

struct tempo_step {
    float step_s, work_s, transfer_s; /* work: typical of the ranks */
};

struct tempo {
    struct tempo_step open[TEMPO_STEPS]; /* of the next median */
    uint32_t opened;
    struct tempo_step sum; /* of the next point */
    uint32_t summed, wide; /* medians in it, and in a whole one; wide 0: 1 */
    struct tempo_step point[TEMPO_POINTS];
    uint64_t from[TEMPO_POINTS], next_from; /* each one's first step, counted from 0 */
    uint64_t newest;                        /* step that was taken */
    size_t n;
};

/* All zero is one that saw nothing.  step: its number, from 0 on, growing: it may stand for those since the
 * one before. */
void tempo_take(struct tempo *t, uint64_t step, const struct tempo_step *s);

enum tempo_kind {
    TEMPO_STEADY,    /* or too little is known */
    TEMPO_SLOWER,    /* since a step */
    TEMPO_GROWING,   /* since a step, longer and longer */
    TEMPO_STRETCHES, /* it was slower, and is not any more */
};
struct tempo_change {
    enum tempo_kind kind;
    uint64_t since;                /* step; about, to half of a point */
    struct tempo_step before, now; /* of stretches: the slow steps' mean is now */
    uint32_t stretches;
    uint64_t steps; /* in them, about */
};
void tempo_get(const struct tempo *t, struct tempo_change *c);
/* What a step takes longer, and what of that is work and transfers: parts of it, the rest is waiting. */
struct tempo_step tempo_longer(const struct tempo_change *c);

#endif
