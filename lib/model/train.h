/* train.h - a training run end to end: hours = steps(B(N)) * iteration(N) / goodput(N), and the term that
 * limits it.
 *
 * Pure.  Weak scaling: each rank has its own work and batch, so more ranks make the batch larger. */
#ifndef SYNCGUARD_MODEL_TRAIN_H
#define SYNCGUARD_MODEL_TRAIN_H

#include "model/collective.h"
#include "model/order.h"

struct train {
    double ranks, ranks_per_node;
    double compute_s, cv; /* own work of one rank in a step, and its coefficient of variation */
    enum order_dist dist;
    struct collective exchange; /* of the gradients; its ranks are set from the above */
    double gradient_bytes;
    double backward_s, overlap; /* overlap 0: no overlap, backward_s may be NaN */
    double bubble;              /* share of the time that a pipeline is idle */
    double misc_s;
    double batch_per_rank, min_steps, critical_batch; /* NaN: not known; steps and hours are then NaN */
    double write_s, restart_s, node_mtbf_s;           /* node_mtbf_s infinity: nothing fails */
};

enum train_term {
    TRAIN_COMPUTE,
    TRAIN_COMMUNICATION,
    TRAIN_SYNCHRONISATION,
    TRAIN_BUBBLE,
    TRAIN_OTHER,
    TRAIN_BATCH,   /* samples wasted by a batch beyond the critical size */
    TRAIN_FAILURE, /* checkpoints, lost work, restarts */
    TRAIN_TERMS,
};
extern const char *const train_terms[TRAIN_TERMS]; /* names */

struct train_result {
    double amplification, comm_s, exposed_s;
    double iteration_s;                 /* (Tc A(N) + exposed + misc) / (1 - bubble) */
    double steps;                       /* S_min (1 + B_c / B): McCandlish et al. 2018 */
    double mtbf_s, interval_s, goodput; /* interval by Young, goodput exact (cadence.h) */
    double hours;                       /* NaN without steps */
    double s_per_batch_of_rank;         /* iteration / goodput / ranks: what one rank's batch costs */
    double share[TRAIN_TERMS];          /* of the whole time; sum is 1 */
    enum train_term regime;             /* the largest */
};

void train_predict(const struct train *t, struct train_result *r);

/* The smallest number of ranks above t->ranks, up to ranks_max, at which another term is the largest; 0:
 * none.  Whole nodes are added. */
double train_next_wall(const struct train *t, double ranks_max, enum train_term *term);

#endif
