/* strategy.h - other ways to run one job on the ranks it has: its predicted step with each of them, ranked.
 *
 * A step is the ranks' own work, waiting for the last of them, exchange that nothing hides, and what is left.
 *
 * - Waiting: the ranks' own work is replayed under each synchronisation rule (waiting.h); the ratio to
 *   synchronising in every step is applied to the measured waiting.
 * - Exchange: from the cost of a message. For a described network, by collective.h; for measured collectives,
 *   from their time under each possible algorithm (struct traffic_wire) and the placement of the ranks
 *   (allreduce_traffic.h).
 * - Asynchronous: the sum of the ranks' rates, or the rate of the parameter servers if that is lower.
 *
 * All is time per sample. The additional samples that staleness, local steps and asynchrony need are an input
 * (growth); without it the time to a result is not predicted.
 *
 * Intervals are computed for 90 % coverage (measured: doc/decisions/0022) and include the possible networks,
 * the replay's error, and an error of 5 % for a collective that was never measured. Pure, no allocation.
 * Seconds; NaN is unknown. */
#ifndef SYNCGUARD_MODEL_STRATEGY_H
#define SYNCGUARD_MODEL_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/collective.h"
#include "model/projection.h"
#include "model/waiting.h"

#define STRATEGY_MAX   16u
#define STRATEGY_WIRES 128u /* possible networks that are evaluated */

enum strategy_kind {
    STRATEGY_NOW,
    STRATEGY_RING,
    STRATEGY_TREE,
    STRATEGY_HALVING,
    STRATEGY_HIERARCHICAL,
    STRATEGY_SERVER,       /* synchronous, through parameter servers */
    STRATEGY_ORDER,        /* ranks of a node next to each other in the ring */
    STRATEGY_MERGED,       /* one exchange a step instead of several: fewer barriers */
    STRATEGY_REPLACE_RANK, /* the slowest rank works like the others */
    STRATEGY_REPLACE_NODE,
    STRATEGY_STALENESS,
    STRATEGY_LOCAL,
    STRATEGY_ASYNCHRONOUS,
    STRATEGY_KINDS
};
/* "now", "ring", "bounded-staleness", ...: the name in JSON. */
extern const char *const strategy_kinds[STRATEGY_KINDS];

struct strategy {
    enum strategy_kind kind;
    double parameter; /* bound, local steps, servers, rank or node (by its number here); NaN: none */
    char name[64];
    double work_s, waiting_s, exchange_s, other_s; /* parts of step_s.p50 */
    struct projection_range step_s, ratio;         /* ratio: samples a second over those now */
    double growth;                  /* factor of iterations: 1 where results are the same, NaN: not given */
    char reason[160], assumes[160]; /* assumes: of this strategy only; "": none */
    bool assumed; /* it depends on a value that is neither given nor measured; the name says so */
};

struct strategy_input {
    struct waiting_input ranks; /* exchange_s is set here */
    double ranks_per_node;      /* NaN: not known; no hierarchical strategy then */
    /* The present step. step_s NaN: not measured; the best synchronous strategy is then the reference. */
    double step_s, compute_s, waiting_s;
    double overlap, backward_s; /* as in step_exposed_s; overlap 0: nothing hides */
    const struct traffic_link *link;
    size_t n_links;
    /* The cost of messages: either described ... */
    const struct collective *network; /* NULL: not described; its op and algo are set here */
    /* ... or inferred from the links' times; all these networks are equally likely. */
    const struct traffic_wire *wire;
    size_t n_wires;
    double inner_hop_s, inner_s_per_byte;              /* inside nodes, estimates */
    double inner_spread;                               /* their standard deviation, of the logarithm */
    double shards;                                     /* parameter servers */
    double every;                                      /* local steps, where the best number is not known */
    bool inner_assumed, shards_assumed, every_assumed; /* neither given nor measured: a typical value */
    double staleness_penalty, local_penalty, async_growth; /* iterations grow as 1 + C s, 1 + C K, times I */
};

struct strategies {
    /* at present, or by the best synchronous strategy */
    double step_s, compute_s, waiting_s, exchange_s, other_s;
    size_t n;
    struct strategy list[STRATEGY_MAX]; /* known growth first, by the time to a result; then by step */
};

/* false: too little is known (ranks, steps, what messages cost). scratch: WAITING_SCRATCH * ranks
 * doubles. */
bool strategy_rank(const struct strategy_input *in, double *scratch, struct strategies *out);

/* Time that replaces one present step on the way to the same result: step_s.p50 * growth. */
double strategy_time_s(const struct strategy *s);

#endif
