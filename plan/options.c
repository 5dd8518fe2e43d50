#include "plan/options.h"

#include <math.h>

const struct question_option option_ranks = { "ranks",           "N",  QUESTION_COUNT,        1,
                                              OPTIONS_RANKS_MAX, NULL, "ranks that take part" };
const struct question_option option_ranks_per_node = {
    "ranks-per-node", "N", QUESTION_COUNT, 1, 65536, NULL, "ranks that share a node"
};
const struct question_option option_rails = {
    "rails",
    "N",
    QUESTION_COUNT,
    1,
    65536,
    NULL,
    "network interfaces of a node that a hierarchical collective uses at once"
};
const struct question_option option_latency = {
    "latency", "TIME", QUESTION_SECONDS, 0, 3600, NULL, "of one message, start to start"
};
const struct question_option option_bandwidth = {
    "bandwidth", "RATE", QUESTION_RATE, QUESTION_POSITIVE, INFINITY, NULL, "of one rank's link, one way"
};
const struct question_option option_intra_latency = {
    "intra-latency", "TIME", QUESTION_SECONDS, 0, 3600, NULL, "latency inside a node"
};
const struct question_option option_intra_bandwidth = { "intra-bandwidth",        "RATE",   QUESTION_RATE,
                                                        QUESTION_POSITIVE,        INFINITY, NULL,
                                                        "bandwidth inside a node" };
const struct question_option option_algo = { "algo",
                                             "NAME",
                                             QUESTION_WORD,
                                             0,
                                             0,
                                             "ring tree halving-doubling hierarchical",
                                             "how the collective is done" };
const struct question_option option_bytes = {
    "bytes", "SIZE", QUESTION_BYTES, 0, INFINITY, NULL, "of the vector that each rank has before or after"
};
const struct question_option option_gradient_bytes = {
    "gradient-bytes", "SIZE", QUESTION_BYTES, 0, INFINITY, NULL, "that are summed over the ranks in a step"
};
const struct question_option option_compute = {
    "compute", "TIME", QUESTION_SECONDS, QUESTION_POSITIVE, INFINITY, NULL, "a rank's own work in a step"
};
const struct question_option option_comm = {
    "comm", "TIME", QUESTION_SECONDS, 0, INFINITY, NULL, "communication in a step, were nothing hidden"
};
const struct question_option option_backward = { "backward",
                                                 "TIME",
                                                 QUESTION_SECONDS,
                                                 0,
                                                 INFINITY,
                                                 NULL,
                                                 "the part of the work that communication can hide behind" };
const struct question_option option_overlap = {
    "overlap", "SHARE", QUESTION_RATIO, 0, 1, NULL, "how much of --backward does hide communication"
};
const struct question_option option_misc = {
    "misc", "TIME", QUESTION_SECONDS, 0, INFINITY, NULL, "anything else in a step that nothing hides"
};
const struct question_option option_dist = {
    "dist", "NAME", QUESTION_WORD, 0, 0, "normal lognormal", "how a rank's step times are distributed"
};
const struct question_option option_cv = {
    "cv", "RATIO", QUESTION_RATIO, 0, 10, NULL, "standard deviation over mean of ONE rank's own work"
};
const struct question_option option_stages = { "stages", "P",  QUESTION_COUNT,          1,
                                               65536,    NULL, "stages of the pipeline" };
const struct question_option option_microbatches = {
    "microbatches", "M", QUESTION_COUNT, 1, 1e9, NULL, "micro-batches of a step"
};
const struct question_option option_restart = {
    "restart",
    "TIME",
    QUESTION_SECONDS,
    0,
    INFINITY,
    NULL,
    "from a failure until work goes on from the last checkpoint"
};
const struct question_option option_nodes = { "nodes",           "N",  QUESTION_COUNT,    1,
                                              OPTIONS_RANKS_MAX, NULL, "nodes of the job" };
const struct question_option option_seed = {
    "seed", "N", QUESTION_COUNT, 0, 9e15, NULL, "of the random numbers: the same seed, the same answer"
};
const struct question_option option_scenario_seed = {
    "seed", "N", QUESTION_COUNT, 0, 2147483647, NULL, "of the random numbers, instead of the scenario's"
};
const struct question_option option_steps = {
    "steps", "N", QUESTION_COUNT, 1, 1e7, NULL, "steps to simulate"
};
