/* last.h - how far the last of many ranks is expected to be behind their mean, with ranks that share nodes
 * and switches.
 *
 * The part that ranks of a node have in common does not average out over them: the maximum is taken over the
 * ranks of a node, then over the nodes of a switch, then over the switches, each with its own part of the
 * noise added (order statistics: David & Nagaraja, "Order Statistics", 2003, ch. 2; the distribution of the
 * maximum of n is F^n, and with a common part the convolution of that with the part's density). By
 * quadrature, not by an asymptotic formula: sqrt(2 ln n) is off by 11 to 43 % for the n of clusters.
 *
 * All in shares of the mean own work: 0 is the mean of one rank. Pure. */
#ifndef SYNCGUARD_MODEL_LAST_H
#define SYNCGUARD_MODEL_LAST_H

#include <stdbool.h>

#define LAST_APART_MAX 8u

struct last {
    /* Fractions are fine.  nodes_per_switch 0: all nodes are on one switch. */
    double ranks, ranks_per_node, nodes_per_switch;
    double rank_sd, node_sd, switch_sd;
    bool lognormal; /* of the rank's part: else normal; nodes' and switches' are normal */
    /* In a share tail_rate of its steps a rank's work is beyond tail_from, by tail_mean on average
     * (exponential); rate 0: never. */
    double tail_rate, tail_from, tail_mean;
    unsigned apart; /* ranks with a mean of their own, in addition to the others */
    double apart_mean[LAST_APART_MAX];
};

/* The value that the maximum is below with probability p (above 0, below 1), when something that all ranks
 * have in common is added to it, normal with mean 0 and this sd.  Of one rank, of its own distribution. */
double last_quantile(const struct last *l, double common_sd, double p);

/* Mean of the maximum; sd (or NULL): its standard deviation. 0 for one rank. */
double last_mean(const struct last *l, double *sd);

#endif
