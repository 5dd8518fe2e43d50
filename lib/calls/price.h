/* price.h - what a suspect costs: the newest steps replayed without it (graph/graph.h).
 *
 * Work is divided by what it is too much, transfers likewise; what all else hides costs nothing. */
#ifndef SYNCGUARD_CALLS_PRICE_H
#define SYNCGUARD_CALLS_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/expected.h"
#include "calls/hot.h"
#include "calls/lasting_noise.h"
#include "detect/pricing.h"
#include "graph/graph.h"

struct price_work {
    float excess; /* 0.25: a quarter longer */
    uint32_t from,
        /* numbers of steps: the first one with it; it grows evenly until the other, if that is later */
        until;
    const bool *on; /* by number of the step, modulo GRAPH_STEPS: is it there? NULL: in all */
    /* By number of the step, modulo GRAPH_STEPS: is the rank late in it?  Then its pieces of work take what
     * they do in the others, which stay. NULL: divided by the excess in all. */
    const bool *late;
};

/* Transfers of a kind that took longer than that, and what they would take instead; above_s 0: none are. */
struct price_slow {
    float above_s, instead_s;
};

struct price_change {
    uint32_t from;                 /* number of the first step that anything is different in */
    const struct price_work *work; /* by rank; NULL: none */
    uint32_t ranks;                /* of work */
    /* By place, of `places`: the excess there, in place of the rank's; below 0: too little; NaN: the rank's.
     * NULL: that is the rank's of each of its pieces */
    const float *place_excess;
    uint32_t places;
    const struct price_work
        *other; /* by rank: what its work is too much for another reason, and stays; NULL: none */
    const float *transfer_excess; /* by kind: 0.25: its transfers were a quarter longer; NULL: none were */
    /* number of the step until which that grows evenly, if that is later than from */
    uint32_t transfer_until;
    uint32_t transfer_to;          /* number of the last step with that; 0: all have it */
    const struct price_slow *slow; /* by kind; NULL: none are */
    /* pieces of work keep only this share of what they differ by from what is expected; NULL: all */
    struct expected *expected;
    float even;
    /* then they also keep noise that lasts as long as a step, as much as the machine has, or may have at the
     * most; NULL: none */
    struct lasting_noise *lasting;
    bool lasting_most;
    /* hot pieces, with that excess, are as the others of their group; NULL: they stay */
    struct hot_even *hot;
    double hot_excess;
    const bool *held; /* by rank: they are slow, and none of their pieces is hot */
    /* pieces of work that are longer than usual by more than this are as usual; 0: all stay */
    float detour_min_s;
    /* what is expected of ranks that are late now and then, in the other steps; NULL: none is */
    struct expected *mostly;
};

struct prices price_take(struct graph *g, const struct price_change *c, uint32_t recent);

/* The same step by step, oldest first: what each would be shorter, and how much work it had compared with
 * others: the more, the more it should be shorter.  Both arrays are of GRAPH_STEPS; returns how many steps.
 */
uint32_t price_steps(struct graph *g, const struct price_change *c, double *saved_s, double *more);

/* Is this piece, which usually takes `more` times what it did before, longer than that by more than
 * detour_min_s, and than what all paused in the step? */
bool price_is_detour(const struct graph_op *op, const struct graph_step *s, double more, double detour_min_s);

#endif
