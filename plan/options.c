#include "plan/options.h"

#include <math.h>

const struct option_spec option_ranks = { "ranks",           "N",  OPTION_COUNT,        1,
                                              OPTIONS_RANKS_MAX, NULL, "ranks that take part" };
const struct option_spec option_ranks_per_node = {
    "ranks-per-node", "N", OPTION_COUNT, 1, 65536, NULL, "ranks that share a node"
};
const struct option_spec option_rails = {
    "rails",
    "N",
    OPTION_COUNT,
    1,
    65536,
    NULL,
    "network interfaces of a node that a hierarchical collective uses at once"
};
const struct option_spec option_latency = {
    "latency", "TIME", OPTION_SECONDS, 0, 3600, NULL, "of one message, start to start"
};
const struct option_spec option_bandwidth = {
    "bandwidth", "RATE", OPTION_RATE, OPTION_POSITIVE, INFINITY, NULL, "of one rank's link, one way"
};
const struct option_spec option_intra_latency = {
    "intra-latency", "TIME", OPTION_SECONDS, 0, 3600, NULL, "latency inside a node"
};
const struct option_spec option_intra_bandwidth = { "intra-bandwidth",        "RATE",   OPTION_RATE,
                                                        OPTION_POSITIVE,        INFINITY, NULL,
                                                        "bandwidth inside a node" };
const struct option_spec option_algo = { "algo",
                                             "NAME",
                                             OPTION_WORD,
                                             0,
                                             0,
                                             "ring tree halving-doubling hierarchical",
                                             "how the collective is done" };
const struct option_spec option_bytes = {
    "bytes", "SIZE", OPTION_BYTES, 0, INFINITY, NULL, "of the vector that each rank has before or after"
};
const struct option_spec option_gradient_bytes = {
    "gradient-bytes", "SIZE", OPTION_BYTES, 0, INFINITY, NULL, "that are summed over the ranks in a step"
};
const struct option_spec option_compute = {
    "compute", "TIME", OPTION_SECONDS, OPTION_POSITIVE, INFINITY, NULL, "a rank's own work in a step"
};
const struct option_spec option_comm = {
    "comm", "TIME", OPTION_SECONDS, 0, INFINITY, NULL, "communication in a step, were nothing hidden"
};
const struct option_spec option_backward = { "backward",
                                                 "TIME",
                                                 OPTION_SECONDS,
                                                 0,
                                                 INFINITY,
                                                 NULL,
                                                 "the part of the work that communication can hide behind" };
const struct option_spec option_overlap = {
    "overlap", "SHARE", OPTION_RATIO, 0, 1, NULL, "how much of --backward does hide communication"
};
const struct option_spec option_misc = {
    "misc", "TIME", OPTION_SECONDS, 0, INFINITY, NULL, "anything else in a step that nothing hides"
};
const struct option_spec option_dist = {
    "dist", "NAME", OPTION_WORD, 0, 0, "normal lognormal", "how a rank's step times are distributed"
};
const struct option_spec option_cv = {
    "cv", "RATIO", OPTION_RATIO, 0, 10, NULL, "standard deviation over mean of ONE rank's own work"
};
const struct option_spec option_stages = { "stages", "P",  OPTION_COUNT,          1,
                                               65536,    NULL, "stages of the pipeline" };
const struct option_spec option_microbatches = {
    "microbatches", "M", OPTION_COUNT, 1, 1e9, NULL, "micro-batches of a step"
};
const struct option_spec option_restart = {
    "restart",
    "TIME",
    OPTION_SECONDS,
    0,
    INFINITY,
    NULL,
    "from a failure until work goes on from the last checkpoint"
};
const struct option_spec option_nodes = { "nodes",           "N",  OPTION_COUNT,    1,
                                              OPTIONS_RANKS_MAX, NULL, "nodes of the job" };
const struct option_spec option_seed = {
    "seed", "N", OPTION_COUNT, 0, 9e15, NULL, "of the random numbers: the same seed, the same answer"
};
const struct option_spec option_scenario_seed = {
    "seed", "N", OPTION_COUNT, 0, 2147483647, NULL, "of the random numbers, instead of the scenario's"
};
const struct option_spec option_steps = {
    "steps", "N", OPTION_COUNT, 1, 1e7, NULL, "steps to simulate"
};
