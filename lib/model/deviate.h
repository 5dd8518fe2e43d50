/* deviate.h - quantiles of the distributions used for intervals, and pseudo-random uniform samples.
 *
 * Pure: no allocation, no state but the caller's. Probabilities are 0 < p < 1. */
#ifndef SYNCGUARD_MODEL_DEVIATE_H
#define SYNCGUARD_MODEL_DEVIATE_H

#include <stdint.h>

/* Standard normal: its distribution function at z, and its quantile at p (Wichura, "Algorithm AS 241",
 * Applied Statistics 37, 1988; 16 digits). */
double deviate_normal_share(double z);
double deviate_normal(double p);
/* Student's t with df degrees of freedom (Fisher & Cornish, Technometrics 2, 1960; to 1 % from 3 on, better
 * for more; exact for 1 and 2). */
double deviate_student(double p, double df);
/* The same for the probability of which z is the normal deviate; df of at least 2. */
double deviate_student_of_normal(double z, double df);
/* Chi squared over its degrees of freedom (Wilson & Hilferty, PNAS 17, 1931; exact for 1 and 2; to 7 % at
 * 0.05 of 3, better for more). */
double deviate_chi2_ratio(double p, double df);
/* P(X <= x) for X of the Beta distribution with a, b > 0 (DLMF 8.17.22; to 1e-9). */
double deviate_beta_share(double a, double b, double x);
/* Of n draws, k or more with probability q each: k up to n (DLMF 8.17.5). */
double deviate_binomial_tail(double n, double k, double q);
/* The share of a probability that the i-th of any number of tests has, from 1: they add up to all (alpha
 * spending: Foster & Stine, JRSS B 70, 2008). */
double deviate_spent(double i);

/* A sample of the uniform distribution on (0, 1), reproducible from run to run (xorshift64*: Vigna, ACM TOMS
 * 42, 2016). state is the caller's, with any initial value. */
double deviate_uniform(uint64_t *state);

#endif
