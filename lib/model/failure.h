/* failure.h - the failure rate of a job from that of its nodes, and its uncertainty.
 * Pure.  Rates are per second and node; a node-second is one node for one second. */
#ifndef SYNCGUARD_MODEL_FAILURE_H
#define SYNCGUARD_MODEL_FAILURE_H

/* Mean time between failures of a job that any of its N nodes can end: 1 / (N r); infinity for rate 0. */
double failure_mtbf_s(double nodes, double rate_per_node_s);

/* Probability of no failure during duration_s: e^(-t/M). */
double failure_none(double duration_s, double mtbf_s);

/* The posterior of a failure rate: a gamma distribution (conjugate to failures of a Poisson process).
 * Observed failures and node-seconds are added to its fields. */
struct failure_rate {
    double failures, node_s;
};
/* Jeffreys' prior: half a failure in no time. */
struct failure_rate failure_rate_unknown(void);
/* per node-second; NaN before any time was observed */
double failure_rate_mean(const struct failure_rate *r);
/* The true rate is below this value with probability p. */
double failure_rate_quantile(const struct failure_rate *r, double p);

/* Regularised lower incomplete gamma function (Abramowitz & Stegun 6.5; series and continued fraction). */
double failure_gamma_p(double shape, double x);

#endif
