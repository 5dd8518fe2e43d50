/* waiting.h - how long a job's ranks would wait under other synchronisation rules. Their own work is replayed
 * step by step as it was measured (or sampled), with its slow ranks, rare delays and autocorrelation.
 *
 * Results are relative to the waiting in the same replay with synchronisation in every step, with standard
 * errors by batch means (Law & Kelton, "Simulation Modeling and Analysis", ch. 9; of a ratio: Cochran,
 * "Sampling Techniques", ch. 6). Pure, no allocation. Seconds; NaN is unknown. */
#ifndef SYNCGUARD_MODEL_WAITING_H
#define SYNCGUARD_MODEL_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAITING_BOUNDS    3 /* staleness 1, 2 and 4 */
#define WAITING_LOCALS    4 /* 2, 4, 8 and 16 steps between exchanges */
#define WAITING_STEPS_MIN 16u
#define WAITING_SCRATCH   14u /* doubles a rank */

/* Own work of every rank in a step; NaN: not known.  It is called several times per step and must return the
 * same values. */
typedef void waiting_work_fn(void *arg, size_t step, double *own_s);

struct waiting_input {
    uint32_t ranks, nodes;
    const uint32_t *node; /* by rank, below nodes; NULL: not known */
    size_t steps;
    double exchange_s, other_s; /* of a step */
    waiting_work_fn *work;
    void *arg;
};

struct waiting_share {
    double value, error; /* NaN: too few steps */
};

struct waiting {
    /* the last rank's work less the mean, with synchronisation in every step; mean over the steps */
    double all_s;
    /* A rank begins a step once it has the result of step - 1 - bound (Ho et al., NIPS 2013), while the
     * exchanges, one at a time, overlap the work; exposed_s of it is not hidden. */
    struct waiting_share bounded[WAITING_BOUNDS];
    double exposed_s[WAITING_BOUNDS];
    struct waiting_share local[WAITING_LOCALS]; /* work is summed over 2 << i steps between exchanges */
    /* With an average one in place of the slowest rank (node).  It is selected in every second step and
     * evaluated in the others, to avoid selection bias. The error is that of the replacement's choice.
     * lasting: the rank's work beyond the mean, as a share of it. */
    uint32_t slow_rank, slow_node;
    struct waiting_share no_rank, no_node;
    double lasting;
};

extern const unsigned waiting_bounds[WAITING_BOUNDS];

/* false: fewer than WAITING_STEPS_MIN steps or two ranks. scratch: WAITING_SCRATCH * ranks doubles, which
 * waiting_alone_s() reads afterwards. */
bool waiting_replay(const struct waiting_input *in, double *scratch, struct waiting *out);

/* After waiting_replay(): time in which the ranks together do as many steps as there are ranks, when no rank
 * waits and each step takes extra_s in addition to its work: ranks / sum of 1 / (mean work + extra_s). */
double waiting_alone_s(const struct waiting_input *in, const double *scratch, double extra_s);

/* Over `every` local steps, from the replay; beyond the replayed numbers noise averages out as 1 /
 * sqrt(every), lasting differences do not. mean_s: own work. */
struct waiting_share waiting_local(const struct waiting *w, double mean_s, double every);

#endif
