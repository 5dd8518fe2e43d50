/* work.h - the newest steps of a job: each rank's own work, the transfer, what is usual and how much it
 * varies.
 *
 * What the detectors (straggler.h, variability.h, transfer.h, oscillation.h) share; they read it, work_take()
 * alone writes. Each rank's own work is compared with the median of the ranks in the same step, so that what
 * slows all counts for none; that ratio minus 1 is the rank's excess. Noise is the spread of a rank's excess
 * from one step to the next (von Neumann 1941: successive differences, so that a lasting fault does not raise
 * it), as a median over the ranks.
 *
 * Units: seconds, ratios; NaN not known. Memory: 2 WORK_STEPS bytes a rank and some. */
#ifndef SYNCGUARD_DETECT_WORK_H
#define SYNCGUARD_DETECT_WORK_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times the usual work: no work of the rank's, but a pause. Chosen: a smaller one would take for pauses what
 * two tasks on one core take, which is twice as long and noise. */
#define WORK_PAUSE_RATIO 2.2
#define WORK_PAUSE_MAX   3u   /* after more such steps in a row it is none: the work has changed */
#define WORK_STEPS       256u /* remembered */
#define WORK_PLACE_NONE  UINT32_MAX
#define WORK_NOISE_STEPS 8.0 /* that noise which has grown is a running mean over */
#define WORK_UNITS       8190.0f
#define WORK_BEYOND      65534u
#define WORK_UNKNOWN     65535u

struct work_step {
    uint32_t seq;     /* of the step's last collective on the main communicator */
    float duration_s; /* of the whole step */
    float typical_s;  /* median own work */
    float usual_s;    /* what typical_s mostly was before */
    float longest_s;  /* own work of the slowest rank ... */
    uint32_t last;    /* ... and its number */
    float transfer_s; /* in the collectives, of the last arrivers */
    bool pause;       /* all ranks paused before it (a checkpoint), as far as it and those before it show */
    bool delayed;     /* some rank had a detour (variability.h), whether or not others waited for it */
    float without_detours_s; /* longest own work of the ranks that had none */
    double ended_s;          /* the caller's clock; this and the next one are set by the diagnosis */
    double wait_s;           /* of the ranks in the collectives for the last to come, on the mean */
};

/* Did it take as long as a step before which all paused?  It did not pause if many in a row did. */
static inline bool work_is_long(const struct work_step *s)
{
    return s->typical_s > WORK_PAUSE_RATIO * s->usual_s;
}

struct work_rank {
    uint32_t node, switch_id;
    uint32_t steps; /* in which its work was known */
    float before;   /* excess of the step before */
};

/* Of every `period` steps `heavy` ones do more, by ratio, on all ranks alike, from the start; see rhythm.h */
#define WORK_RHYTHM_MAX 64u
struct work_rhythm {
    uint32_t period, heavy; /* period 0: there is none */
    uint32_t stride;
    double ratio;
    /* of the typical work in each phase, over that of those that are not heavy */
    float factor[WORK_RHYTHM_MAX];
};

struct work {
    uint32_t n;     /* ranks */
    uint64_t steps; /* taken; the newest is in slot (steps - 1) % WORK_STEPS */
    struct work_step step[WORK_STEPS];
    uint16_t *own;   /* WORK_STEPS rows of n: own work over the typical of the step, in 1 / WORK_UNITS */
    float *newest_s; /* n: own work in the newest step */
    float *excess;   /* n: of the newest step */
    struct work_rank *rank;
    size_t rank_cap;
    uint32_t placed;                    /* times that a rank was moved */
    float usual_s;                      /* of the typical own work, a running median; NaN not yet */
    double sigma;                       /* noise of one rank's excess in one step; NaN not known yet */
    double lasting_sigma, recent_sigma; /* what it is made of */
    uint32_t changes;                   /* steps that sigma stands on */
    float *scratch;                     /* n */
    struct work_rhythm rhythm;
};

struct work *work_new(void);
void work_free(struct work *w);  /* NULL is fine */
void work_reset(struct work *w); /* another program or another step: forget all but the places */

/* Where rank sits: numbers of its node and switch (WORK_PLACE_NONE: not known). */
void work_place(struct work *w, uint32_t rank, uint32_t node, uint32_t switch_id);

/* The next step: own_s[n] by rank, NaN where not known; duration_s of the whole step, transfer_s NaN where
 * not known. */
void work_take(struct work *w, uint32_t seq, const float *own_s, uint32_t n, double duration_s,
               double transfer_s);

/* Slot of the step that is back before the newest; back < work_kept(). */
static inline uint32_t work_slot(const struct work *w, uint32_t back)
{
    return (uint32_t)((w->steps - 1 - back) % WORK_STEPS);
}
static inline uint32_t work_kept(const struct work *w)
{
    return w->steps < WORK_STEPS ? (uint32_t)w->steps : WORK_STEPS;
}
/* Does it hold the work of the step before, too, because calls of that one are missing?  stride: how far
 * apart the numbers of steps are that follow one another. */
static inline bool work_is_of_several(const struct work *w, uint32_t back, uint32_t stride)
{
    return back + 1 < work_kept(w) &&
           w->step[work_slot(w, back + 1)].seq + stride != w->step[work_slot(w, back)].seq;
}
/* Own work of a rank in the step in that slot, to a hundredth of a per cent; what was more than eight times
 * the typical is taken for the longest of the step. */
static inline float work_own_s(const struct work *w, uint32_t slot, uint32_t rank)
{
    uint16_t own = w->own[(size_t)slot * w->n + rank];

    return own == WORK_UNKNOWN  ? NAN
           : own == WORK_BEYOND ? w->step[slot].longest_s
                                : (float)own * (w->step[slot].typical_s / WORK_UNITS);
}
/* Excess of a rank in the step in that slot. */
static inline float work_excess(const struct work *w, uint32_t slot, uint32_t rank)
{
    const struct work_step *s = &w->step[slot];

    return (work_own_s(w, slot, rank) - s->typical_s) / (s->pause ? s->usual_s : s->typical_s);
}

/* What the program's rhythm makes of the typical work in the step of that number: 1 without one. */
static inline float work_beat(const struct work *w, uint32_t seq)
{
    const struct work_rhythm *r = &w->rhythm;

    return r->period ? r->factor[seq / r->stride % r->period] : 1;
}

/* What the newest steps took together, in seconds; steps more than are kept: those that are. */
double work_time_s(const struct work *w, uint64_t steps);

/* Number of remembered steps since the onset (counted from 0), at most the limit. */
uint32_t work_steps_since(const struct work *w, uint64_t onset, uint32_t max);

/* The collective with which step `number` (from 1) ended; the oldest remembered where it is further back. */
uint32_t work_seq_of(const struct work *w, uint64_t number);

/* Did the newest step take longer by behind_s, by which somebody came behind the others, as far as it is
 * known how long a step takes that nothing rare made longer? */
bool work_shows(const struct work *w, double behind_s);

/* Mean excess of a rank over the newest steps, without rare ones that all paused before; NaN not known. */
double work_recent_excess(const struct work *w, uint32_t rank);

#endif
