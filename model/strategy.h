/* strategy.h - other ways to run one job on the ranks it has: what each would make of its step, ranked.
 *
 * A step is the ranks' own work, waiting for the last of them, exchange that nothing hides, and what is left.
 *
 * - Waiting: the ranks' own work replayed by each rule of meeting (waiting.h); how many times as much that is
 *   as when all meet in every step is applied to the waiting there is.
 * - Exchange: from what a message costs. Where that is described, by collective.h; where collectives were
 *   measured it is found from their time, whatever the algorithm in use may be (struct traffic_wire), and
 *   from where the ranks sit (allreduce_traffic.h).
 * - Asynchronous: the ranks' rates add up, or as fast as the parameter servers take it in.
 *
 * All is time per sample. That staleness, local steps and asynchrony need more samples is an input (growth):
 * where it is not given nothing is said about the time to a result.
 *
 * Intervals hold 90 %: which wires there are, the replay's error, and 5 % of doubt about a collective that
 * was never seen. Pure, no allocation. Seconds; NaN is unknown. */
#ifndef SYNCGUARD_MODEL_STRATEGY_H
#define SYNCGUARD_MODEL_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/collective.h"
#include "model/projection.h"
#include "model/waiting.h"

#define STRATEGY_MAX   16u
#define STRATEGY_WIRES 128u /* so many are looked at */

enum strategy_kind {
    STRATEGY_NOW,
    STRATEGY_RING,
    STRATEGY_TREE,
    STRATEGY_HALVING,
    STRATEGY_HIERARCHICAL,
    STRATEGY_SERVER,       /* synchronous, through parameter servers */
    STRATEGY_ORDER,        /* ranks of a node next to each other in the ring */
    STRATEGY_MERGED,       /* one exchange a step instead of several: fewer barriers */
    STRATEGY_REPLACE_RANK, /* the slowest is like the others */
    STRATEGY_REPLACE_NODE,
    STRATEGY_STALENESS,
    STRATEGY_LOCAL,
    STRATEGY_ASYNCHRONOUS,
    STRATEGY_KINDS
};
/* "now", "ring", "bounded-staleness", ...: the word that scripts see. */
const char *strategy_kind_name(enum strategy_kind k);

struct strategy {
    enum strategy_kind kind;
    double parameter; /* bound, local steps, servers, rank or node (by its number here); NaN: none */
    char name[64];
    double work_s, waiting_s, exchange_s, other_s; /* parts of step_s.p50 */
    struct projection_range step_s, ratio;         /* ratio: samples a second over those now */
    double growth; /* times as many iterations: 1 where the mathematics stays, NaN: not given */
    char reason[160], assumes[160]; /* assumes: of this one alone; "" nothing */
    bool assumed; /* it stands on a value that nobody gave and nothing measured; the name says so */
};

struct strategy_input {
    struct waiting_input ranks; /* exchange_s is set here */
    double ranks_per_node;      /* NaN: not known, then nothing hierarchical */
    /* A step as it is. step_s NaN: nothing was measured, the best synchronous way is taken for now. */
    double step_s, compute_s, waiting_s;
    double overlap, backward_s; /* as in step_exposed_s; overlap 0: nothing hides */
    const struct traffic_link *link;
    size_t n_links;
    /* What messages cost: either known ... */
    const struct collective *network; /* NULL: not this; its op and algo are set here */
    /* ... or to be found from the links' times, all of these possibilities being as likely as another. */
    const struct traffic_wire *wire;
    size_t n_wires;
    double inner_hop_s, inner_s_per_byte; /* inside of nodes, as far as is known ... */
    double inner_spread;                  /* ... logarithmic */
    double shards;                        /* parameter servers */
    double every;                         /* local steps, where nothing tells which number is best */
    bool inner_assumed, shards_assumed,
        every_assumed; /* not given, not measured: what is usual, an example */
    double staleness_penalty, local_penalty, async_growth; /* iterations grow as 1 + C s, 1 + C K, times I */
};

struct strategies {
    double step_s, compute_s, waiting_s, exchange_s, other_s; /* now, or by the best synchronous way */
    size_t n;
    struct strategy list[STRATEGY_MAX]; /* known growth first, by the time to a result; then by step */
};

/* false: too little is known (ranks, steps, what messages cost). scratch: WAITING_SCRATCH * ranks
 * doubles. */
bool strategy_rank(const struct strategy_input *in, double *scratch, struct strategies *out);

/* What replaces a step of now on the way to the same result: step_s.p50 * growth. */
double strategy_time_s(const struct strategy *s);

#endif
