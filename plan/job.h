/* job.h - makes the models' input from the options that describe a job.
 * A question that calls a function must have the options that the function's comment names.  Functions return
 * 0, or -1 with the reason: an option is missing, or options contradict each other. */
#ifndef SYNCGUARD_PLAN_JOB_H
#define SYNCGUARD_PLAN_JOB_H

#include "model/collective.h"
#include "model/order.h"
#include "model/train.h"
#include "plan/question.h"

/* From --ranks, --ranks-per-node, --rails, --latency, --bandwidth, --intra-latency, --intra-bandwidth.  Sets
 * op to allreduce, algo to ring, and shards, skew and slowest_bytes_per_s to values without effect. */
#define JOB_NETWORK_USES                                                                                   \
    { &option_ranks, OPTION_REQUIRED }, { &option_latency, NULL }, { &option_bandwidth, OPTION_REQUIRED }, \
        { &option_ranks_per_node, NULL }, { &option_rails, "1" }, { &option_intra_latency, NULL },         \
    {                                                                                                      \
        &option_intra_bandwidth, NULL                                                                      \
    }
void job_network(const struct options *a, struct collective *c);
/* -1: an option that this operation and algorithm need is missing. */
int job_network_check(const struct collective *c, struct err *err);
/* Whether the options describe nodes, as hierarchical needs. */
bool job_network_has_nodes(const struct collective *c);

enum order_dist job_dist(const struct options *a); /* --dist */

/* Check --overlap against --backward and --compute. */
int job_overlap_check(const struct options *a, struct err *err);

/* Options of train and whatif in addition to the network's. */
extern const struct option_spec job_batch_per_rank, job_min_steps, job_critical_batch, job_checkpoint_write,
    job_node_mtbf, job_bubble;
#define JOB_TRAIN_USES                                                                                     \
    { &option_compute, OPTION_REQUIRED }, { &option_cv, "0" }, { &option_dist, "normal" },                 \
        { &option_gradient_bytes, OPTION_REQUIRED }, { &option_algo, "ring" }, { &option_backward, NULL }, \
        { &option_overlap, "0" }, { &job_bubble, "0" }, { &option_misc, "0s" },                            \
        { &job_batch_per_rank, NULL }, { &job_min_steps, NULL }, { &job_critical_batch, NULL },            \
        { &job_checkpoint_write, NULL }, { &option_restart, "0s" },                                        \
    {                                                                                                      \
        &job_node_mtbf, NULL                                                                               \
    }
int job_train(const struct options *a, struct train *t, struct err *err);

#endif
