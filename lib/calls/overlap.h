/* overlap.h - how much of a job's communication holds its ranks, how much runs beside their work, and what
 * more overlap could win.
 *
 * From a replay of the newest steps (graph/graph.h).  A rank in a call waits until the last rank has arrived,
 * and is held by the transfer from then on: that is exposed.  What of a transfer runs while its rank is not
 * in the call is hidden.  A blocking call hides nothing.  A message is counted where it is received; what a
 * call that sends takes of its rank is exposed.
 *
 * Transfers that no rank waited for show only how long they took at most: they are taken as those of their
 * kind that were waited for, and where there is none, what is hidden is unknown below that bound.  It is
 * never more than the time that ranks spend outside of their calls: what runs at the same time hides behind
 * the same work.
 *
 * What overlap could win at most: the same steps with transfers that take no time, whatever is begun earlier
 * or in other sizes (Kwon et al., "Daydream", ATC 2020).  What buckets of another size would win is estimated
 * by model/bucket.h, from the time of a transfer over its size (model/linkfit.h), where sizes differ and the
 * same model gives about what is exposed now.
 *
 * Pure.  Seconds a step, on the mean of the ranks that take part; NaN is unknown. */
#ifndef SYNCGUARD_CALLS_OVERLAP_H
#define SYNCGUARD_CALLS_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"
#include "model/linkfit.h"

#define OVERLAP_GROUPS_MAX 17u        /* of communicators, and of messages */
#define OVERLAP_STEPS      32u        /* newest ones, at the most */
#define OVERLAP_NONE       UINT32_MAX /* a kind of no group */

struct overlap_buckets {                     /* equal ones */
    const char *missing;                     /* why there is no estimate; NULL: there is one */
    double now, now_bytes, best, best_bytes; /* number a step, size of one */
    struct linkfit_range won_s;              /* 90 % of what is known of the price of a transfer */
};

struct overlap_group {
    uint32_t ranks;           /* that take part */
    double calls;             /* a step */
    double nonblocking_ratio; /* share of them that are begun first and awaited later */
    double waiting_s, exposed_s;
    struct linkfit_range hidden_s;
    double ready_s; /* from the first nonblocking call begun to when a further one would be: while their data
                     * becomes ready; NaN: there are not several a step */
    double most_won_s; /* the step would be shorter by this if its transfers took no time */
    struct overlap_buckets buckets;
};

struct overlap {
    uint32_t steps; /* that were replayed; 0: none, nothing else is set */
    double step_s;  /* mean of these */
    struct overlap_group all, group[OVERLAP_GROUPS_MAX];
    size_t n;
};

/* group[graph_kinds(g)]: of each kind of transfers, its group below n_groups, or OVERLAP_NONE. */
void overlap_measure(struct overlap *o, struct graph *g, const uint32_t *group, size_t n_groups);

#endif
