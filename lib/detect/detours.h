/* detours.h - the rare long delays of a run, whoever has them: are they more than the machine's own noise?
 *
 * Every machine has some. As long as they come as often as ever, chance puts some of them close together, and
 * a job in which a few did is healthy. What is not chance is one of two things (decision 0081):
 * - There are more of them, of some length or longer, than there were before. If they came as often as ever,
 *   each that came at any time would be as likely in any step, so that of those of a run a binomial number is
 *   in the newest steps, whatever distribution their lengths have.
 * - They cost more than a machine's own noise does, since the first step or since one of the newest. What
 *   they cost is a sum of Poisson's with a weight each; its lower limit is that of Fay & Feuer ("Confidence
 *   intervals for directly standardized rates", Statistics in Medicine 16, 1997), with no weight greater
 *   than a step, so that one long delay alone proves nothing.
 * Both are looked at again with each delay, and the probability of a false alarm is spent over these tests
 * (as in recurrence.h).  What is left of it is measured: tests/unit/detours.c.
 *
 * Memory: the newest DETOURS_KEPT, and sums over all. */
#ifndef SYNCGUARD_DETECT_DETOURS_H
#define SYNCGUARD_DETECT_DETOURS_H

#include <stdbool.h>
#include <stdint.h>

#define DETOURS_KEPT    64u
#define DETOURS_LENGTHS 5u /* that they are told apart by: octaves */
#define DETOURS_NOBODY  UINT32_MAX

struct detour {
    uint64_t step; /* counted from 1 */
    uint32_t rank; /* DETOURS_NOBODY: it was none, a slow rank's first steps */
    /* lengths, from the shortest, that it reaches; 0: it costs next to nothing, or goes on from the step
     * before and is counted there */
    uint32_t lengths;
    float saved_s;   /* the step would be so much shorter without it ... */
    float counted_s; /* ... and at most as much as a step takes; 0 if it is not counted */
    float typical_s; /* work of a step */
    uint64_t seen;   /* as of struct detours ... */
    double before_s; /* ... and seen_s before its step */
};

struct detours {
    struct detour kept[DETOURS_KEPT];
    uint64_t n;                         /* ever; the newest is detours_back(d, 0) */
    uint64_t seen;                      /* steps in which they were looked for */
    double seen_s, before_s;            /* what these took, and before the newest */
    uint64_t as_long[DETOURS_LENGTHS];  /* detours of that length or longer */
    double saved_s, counted_s, squares; /* sums over all since `over`; squares: of counted_s */
    uint64_t over,
        over_seen; /* step in which the latest jitter was over, 0: none was; and seen, seen_s ... */
    double over_s; /* ... then */
};

/* The next step, in which detours are looked for. */
void detours_step(struct detours *d, double duration_s);
/* One in this step; typical_s: what the step's work takes without it. */
void detours_add(struct detours *d, uint64_t step, uint32_t rank, float saved_s, float typical_s);
void detours_forget(struct detours *d, uint64_t back); /* that one was none */
/* Jitter that stood is over: what it cost says nothing of what comes. */
void detours_end(struct detours *d, uint64_t step);

static inline uint64_t detours_kept(const struct detours *d)
{
    return d->n < DETOURS_KEPT ? d->n : DETOURS_KEPT;
}
static inline const struct detour *detours_back(const struct detours *d, uint64_t back)
{
    return &d->kept[(d->n - 1 - back) % DETOURS_KEPT];
}

/* With the newest one: are there surely more than before?  first: of those that are more. */
bool detours_increased(const struct detours *d, uint64_t *first);
/* Likewise: do they surely cost more than noise does, since the beginning or the end of the latest jitter?
 * first likewise: of those that are kept. */
bool detours_cost(const struct detours *d, uint64_t *first);

/* had[n], steps from the oldest on: had they a detour?  The first of those in which as many have one as in
 * the newest: where that rate and a lower one before are most likely (a change point, as in onset.h), a step
 * that had one, and `latest` at the latest. */
uint32_t detours_began(const bool *had, uint32_t n, uint32_t latest);

/* Those that took DETOURS_LONG or longer, in one step or in several of the rank's in a row, since the
 * beginning or the end of the latest jitter, of those that are kept, and by how much they made steps longer
 * together, at most. */
#define DETOURS_LONG 0.8 /* times the typical work of a step */
uint32_t detours_long(const struct detours *d, double *saved_s);

/* A machine's own noise costs less than that, of a step without it (decision 0081). */
#define DETOURS_NOISE 0.04

#endif
