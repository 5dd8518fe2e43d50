/* places.h - how much later than all the others each rank, node and switch is, and how sure that is.
 *
 * Every rank, node and switch is a place with a mean excess (work.h) a step, held against all the others over
 * the newest 3 to 64 steps, in standard errors: once against its own past (what changed?) and once against
 * the spread that healthy ranks have anyway (who was slow from the beginning?). What one step can show is
 * clipped. A window's standard error is that of independent steps times a factor that is measured: how much
 * less windows average out.
 *
 * The fields are for straggler.c, and for nobody else. */
#ifndef SYNCGUARD_DETECT_PLACES_H
#define SYNCGUARD_DETECT_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/finding.h"
#include "detect/work.h"

#define PLACES_WINDOWS      5u
#define PLACES_LONGEST      64u
#define PLACES_MEDIAN_STEPS 16u
/* Many places are looked at in many overlapping windows: the limit is far above what one look would need. */
#define PLACES_LIMIT_Z 6.0
/* Fewest steps that are clear evidence where each of them shows as much as one can: 7.8 standard errors,
 * which one more from before would dilute to 6.7.  Of two it would be 6.4. */
#define PLACES_NEWEST 3u

/* There is one for each rank: the small ones stand together. */
struct track {
    double z;              /* strongest evidence now, from `window` steps */
    uint32_t place;        /* a rank, or the number of a node or a switch */
    uint32_t ranks, first; /* that belong to it; one of them */
    uint32_t seen;
    float past;                  /* mean of the past_n that left the longest window */
    int32_t sum[PLACES_WINDOWS]; /* of the newest */
    float block_change[PLACES_WINDOWS], block_before[PLACES_WINDOWS];
    int16_t x[PLACES_LONGEST]; /* excess over the others, clipped, in fixed point */
    uint16_t past_n;           /* at most PAST_MAX */
    uint8_t scope;             /* enum finding_scope */
    uint8_t window;            /* at most PLACES_MEDIAN_STEPS */
    uint8_t above; /* steps in a row above PLACES_LIMIT_Z; clear ones count twice; at most UINT8_MAX */
    bool named;    /* the caller's: it has part in what is named, and its past stands still meanwhile */
};

struct places {
    struct track *track; /* ranks first: track[r] is rank r's */
    size_t n_tracks;
    uint32_t n;      /* ranks that the tracks are made for ... */
    uint32_t placed; /* ... where they were then (work.placed) */
    uint64_t steps;
    double inflate[PLACES_WINDOWS]; /* of a window's standard error over that of independent steps */
    double spread[SCOPE_NONE];      /* of one rank's lasting excess, as each scope must take it */
    uint32_t *around;               /* n times: the tracks of the rank's node and switch; UINT32_MAX: none */
    float *scratch;                 /* n_tracks; by place where sums are taken */
    uint32_t *count;
};

/* All zero is one that saw nothing. */
void places_free(struct places *s); /* what it holds */
void places_reset(struct places *s);

/* Are the tracks those of the ranks as they are placed now? If not, the next step starts over. */
bool places_current(const struct places *s, const struct work *w);
/* Take the step that work_take() took; every track's z, window and above are as of now.  false: too little is
 * known yet. */
bool places_step(struct places *s, const struct work *w);
/* What was late is no longer: the windows of all that had part in it start over. */
void places_forget(struct places *s, const struct work *w, const struct track *late);

/* The number of the place that a rank belongs to. */
uint32_t place_of(const struct work *w, enum finding_scope scope, uint32_t rank);
/* Has one of the two part in the other? */
bool track_overlaps(const struct track *a, const struct track *b, const struct work *w);

/* The place's median own work over the others', minus 1, in the step in that slot; NaN not known. */
float places_excess(struct places *s, const struct work *w, const struct track *track, uint32_t slot);
/* The same over the newest steps (at most PLACES_LONGEST), as a median: not clipped, and no single step moves
 * it. */
double places_recent_excess(struct places *s, const struct work *w, const struct track *track,
                            uint32_t steps);
/* The lasting excess that a healthy place may well have. */
double places_lasting(const struct places *s, const struct track *track);
/* The standard deviation of the lasting excess of healthy places like it. */
double places_lasting_error(const struct places *s, const struct track *track);
/* The smallest excess of one rank that would pass the limit now; NaN while that is not known. */
double places_limit(const struct places *s, const struct work *w);
/* The same of one that has been so since the first step: healthy places may differ, and fewer of them show
 * less of by how much. */
double places_limit_from_start(const struct places *s, const struct work *w);

#endif
