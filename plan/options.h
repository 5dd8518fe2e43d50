/* options.h - the options that several questions have, with the same name, unit and range in all of them.
 * An option of only one question is in that question's file. */
#ifndef SYNCGUARD_PLAN_OPTIONS_H
#define SYNCGUARD_PLAN_OPTIONS_H

#include "plan/question.h"

#define OPTIONS_RANKS_MAX 1e7 /* the formulas are tested up to it */

extern const struct option_spec option_ranks, option_ranks_per_node, option_rails;
extern const struct option_spec option_latency, option_bandwidth, option_intra_latency,
    option_intra_bandwidth;
extern const struct option_spec option_algo, option_bytes, option_gradient_bytes;
extern const struct option_spec option_compute, option_comm, option_backward, option_overlap, option_misc;
extern const struct option_spec option_dist, option_cv;
extern const struct option_spec option_stages, option_microbatches;
extern const struct option_spec option_restart, option_nodes;
extern const struct option_spec option_seed, option_scenario_seed, option_steps;

#endif
