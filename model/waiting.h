/* waiting.h - what a job's ranks would wait if they met by other rules: their own work replayed, step by step
 * as it was measured (or drawn), so that slow ranks, rare delays and what follows from one step to the next
 * are taken as they are.
 *
 * Everything is told over what the same replay waits when all meet in every step, with its standard error by
 * batch means (Law & Kelton, "Simulation Modeling and Analysis", ch. 9; of a ratio: Cochran, "Sampling
 * Techniques", ch. 6). Pure, no allocation. Seconds; NaN is unknown. */
#ifndef SYNCGUARD_MODEL_WAITING_H
#define SYNCGUARD_MODEL_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAITING_BOUNDS    3 /* staleness 1, 2 and 4 */
#define WAITING_LOCALS    4 /* 2, 4, 8 and 16 steps between exchanges */
#define WAITING_STEPS_MIN 16u
#define WAITING_SCRATCH   14u /* doubles a rank */

/* Own work of every rank in a step, NaN not known; asked for more than once, with the same answer. */
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
    double all_s; /* the last rank's work less the mean's, when all meet in every step; mean over the steps */
    /* A rank begins a step once it has the result of step - 1 - bound (Ho et al., NIPS 2013), while the
     * exchange goes on beside the work, one at a time; exposed_s of it is waited for nevertheless. */
    struct waiting_share bounded[WAITING_BOUNDS];
    double exposed_s[WAITING_BOUNDS];
    struct waiting_share local[WAITING_LOCALS]; /* work is added up over 2 << i steps before they meet */
    /* With one like the others in place of the rank (node) that is slowest in every second step, measured in
     * the others: it is not praised for having been chosen. The error is of whom one happens to get. lasting:
     * what that rank works beyond the mean, as a share of it. */
    uint32_t slow_rank, slow_node;
    struct waiting_share no_rank, no_node;
    double lasting;
};

extern const unsigned waiting_bounds[WAITING_BOUNDS];

/* false: fewer than WAITING_STEPS_MIN steps or two ranks. scratch: WAITING_SCRATCH * ranks doubles, which
 * keep what waiting_alone_s reads. */
bool waiting_replay(const struct waiting_input *in, double *scratch, struct waiting *out);

/* After waiting_replay: time in which the ranks together do as many steps as there are ranks when nobody
 * waits for anybody and each step takes extra_s beside its work: ranks / sum of 1 / (mean work + extra_s). */
double waiting_alone_s(const struct waiting_input *in, const double *scratch, double extra_s);

/* Over `every` local steps, from what was replayed; beyond that noise averages out as 1 / sqrt(every), what
 * lasts does not. mean_s: own work. */
struct waiting_share waiting_local(const struct waiting *w, double mean_s, double every);

#endif
