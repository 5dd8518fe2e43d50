/* staleness.h - stale gradients: the learning rate that they allow, and the step time when ranks wait less
 * for the slowest. Pure; the recurrence uses the caller's memory and the caller's random samples. */
#ifndef SYNCGUARD_MODEL_STALENESS_H
#define SYNCGUARD_MODEL_STALENESS_H

#include <stddef.h>

/* Largest product of learning rate and curvature with which x(k+1) = x(k) - al x(k-tau), gradient descent on
 * a quadratic with gradients tau steps old, converges: 2 sin(pi / (2 (2 tau + 1))).  With momentum (heavy
 * ball, 0 <= momentum < 1): the largest al that leaves all roots of r^(tau+1) - (1+b) r^tau + b r^(tau-1) +
 * al inside the unit circle.  They begin inside for small al, and the first to leave does so at r = e^(i w)
 * with the smallest w that solves (tau - 1/2) w + arg(e^(i w) - b) = pi/2; the left side grows with w, so
 * there is but one. */
double staleness_limit(double tau, double momentum);

/* A rank's own work in one step, mean 1. */
typedef double staleness_sample_fn(void *arg, size_t rank, size_t step);

/* A rank may begin step k once the slowest has finished step k - 1 - bound (bound 0: every step waits for
 * all): mean time of a step over the mean own work, from `steps` steps after bound + steps/10 for warming up.
 * finish has room for `ranks`, gate for bound + 1.  (Ho et al., "More effective distributed ML via a stale
 * synchronous parallel parameter server", NIPS 2013, defines this rule.) */
double staleness_step_ratio(size_t ranks, size_t bound, size_t steps, staleness_sample_fn *sample, void *arg,
                            double *finish, double *gate);

#endif
