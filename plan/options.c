#include "plan/options.h"

#include <math.h>

#include "model/collective.h"

const struct option_spec option_ranks = { "ranks", "N", VALUE_RANGE(VALUE_COUNT, 1, OPTIONS_RANKS_MAX),
                                          "number of ranks" };
const struct option_spec option_ranks_per_node = { "ranks-per-node", "N", VALUE_RANGE(VALUE_COUNT, 1, 65536),
                                                   "ranks on each node" };
const struct option_spec option_rails = {
    "rails", "N", VALUE_RANGE(VALUE_COUNT, 1, 65536),
    "network interfaces of a node that a hierarchical collective uses at once"
};
const struct option_spec option_latency = { "latency", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, 3600),
                                            "latency of one message" };
const struct option_spec option_bandwidth = { "bandwidth", "RATE",
                                              VALUE_RANGE(VALUE_RATE, VALUE_POSITIVE, INFINITY),
                                              "bandwidth of one rank's link, one way" };
const struct option_spec option_intra_latency = { "intra-latency", "TIME",
                                                  VALUE_RANGE(VALUE_SECONDS, 0, 3600),
                                                  "latency inside a node" };
const struct option_spec option_intra_bandwidth = { "intra-bandwidth", "RATE",
                                                    VALUE_RANGE(VALUE_RATE, VALUE_POSITIVE, INFINITY),
                                                    "bandwidth inside a node" };
const struct option_spec option_algo = { "algo", "NAME", VALUE_ONE_OF(collective_algos),
                                         "algorithm of the collective" };
const struct option_spec option_bytes = { "bytes", "SIZE", VALUE_RANGE(VALUE_BYTES, 0, INFINITY),
                                          "size of the vector" };
const struct option_spec option_gradient_bytes = { "gradient-bytes", "SIZE",
                                                   VALUE_RANGE(VALUE_BYTES, 0, INFINITY),
                                                   "gradients that are summed over the ranks in a step" };
const struct option_spec option_compute = { "compute", "TIME",
                                            VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                                            "a rank's own work in a step" };
const struct option_spec option_comm = { "comm", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
                                         "communication in a step, without overlap" };
const struct option_spec option_backward = {
    "backward", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
    "backward pass: the part of the work that can overlap communication"
};
const struct option_spec option_overlap = { "overlap", "SHARE", VALUE_RANGE(VALUE_RATIO, 0, 1),
                                            "share of --backward that overlaps communication" };
const struct option_spec option_misc = { "misc", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
                                         "other time in a step that does not overlap" };
const struct option_spec option_dist = { "dist", "NAME", VALUE_ONE_OF(VALUE_WORDS("normal", "lognormal")),
                                         "how a rank's step times are distributed" };
const struct option_spec option_cv = { "cv", "RATIO", VALUE_RANGE(VALUE_RATIO, 0, 10),
                                       "standard deviation over mean of ONE rank's own work" };
const struct option_spec option_stages = { "stages", "P", VALUE_RANGE(VALUE_COUNT, 1, 65536),
                                           "stages of the pipeline" };
const struct option_spec option_microbatches = { "microbatches", "M", VALUE_RANGE(VALUE_COUNT, 1, 1e9),
                                                 "micro-batches of a step" };
const struct option_spec option_restart = {
    "restart", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
    "time from a failure until work continues from the last checkpoint"
};
const struct option_spec option_nodes = { "nodes", "N", VALUE_RANGE(VALUE_COUNT, 1, OPTIONS_RANKS_MAX),
                                          "number of nodes of the job" };
const struct option_spec option_seed = { "seed", "N", VALUE_RANGE(VALUE_COUNT, 0, 9e15),
                                         "seed of the random numbers; the same seed gives the same answer" };
const struct option_spec option_scenario_seed = { "seed", "N", VALUE_RANGE(VALUE_COUNT, 0, 2147483647),
                                                  "seed of the random numbers, instead of the scenario's" };
const struct option_spec option_steps = { "steps", "N", VALUE_RANGE(VALUE_COUNT, 1, 1e7),
                                          "steps to simulate" };
