/* hot.h - do some members of each group have far more to do than the others, now these and now those?  As
 * the experts that most tokens go to, where these change from batch to batch: no machine's fault.
 *
 * One of eight does not move a median deviation (pieces.h), and is slow too seldom to be named.  In each step
 * the pieces of work before one collective of a group are compared with their median: those far above it are
 * hot.  They are found where a good part of all such collectives has one, in step after step, which rare
 * delays of single ranks never come to, and where a rank that has one mostly has not.  Groups are those of at
 * most half of the ranks, so that there are several.  Pure; memory 13 bytes a rank, 8 a call of a
 * step and 4 a meeting of it, and 12 a collective or message of the steps that are priced. */
#ifndef SYNCGUARD_CALLS_HOT_H
#define SYNCGUARD_CALLS_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

/* Memory for the pieces of one step, taken once for all of them. */
struct hot_room {
    uint32_t *end;
    const struct graph_op **op;
    float *scratch;
    bool *is_hot;
    size_t ends_cap, ops_cap, scratch_cap, is_hot_cap;
};

struct hot {
    bool standing;
    uint32_t from; /* number of the first step of those in a row */
    double excess; /* of a hot piece over the others of its group, median */
    double share;  /* of a group's pieces that are hot, mean */
    /* private */
    uint32_t since, missed; /* steps with hot pieces in a row; without since the newest of them */
    struct hot_rank {
        float met, hot; /* collectives with a hot piece that it was in; with one of its own */
    } * rank;
    size_t cap;
    uint32_t n;
    struct hot_room room;
};

/* Take a step; all zero is nothing taken.  held: by rank, those who are slow, and no members then. */
void hot_step(struct hot *h, const struct graph_step *s, const bool *held);
void hot_reset(struct hot *h); /* frees what it holds, too */

/* The newest steps without hot pieces: they take what their group takes on the mean, and the others what
 * these had too much. */
struct hot_even;
struct hot_even *hot_even_new(void);
void hot_even_free(struct hot_even *e); /* NULL is fine */
/* excess: that of a hot piece; by more than half of it others are hot, too. held: as of hot_step(), kept
 * until the steps were asked for. */
void hot_even_take(struct hot_even *e, const struct graph *g, uint32_t steps, double excess,
                   const bool *held);
/* Seconds that the piece would take; NaN: there is no hot one in its group. */
double hot_even_s(const struct hot_even *e, const struct graph_op *op);

#endif
