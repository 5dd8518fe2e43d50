/* deviate.h - quantiles of the distributions that intervals are made of, and draws from one.
 *
 * Pure: no allocation, no state but the caller's. Probabilities are 0 < p < 1. */
#ifndef SYNCGUARD_MODEL_DEVIATE_H
#define SYNCGUARD_MODEL_DEVIATE_H

#include <stdint.h>

/* Standard normal: share below z, and the z below which p is (Wichura, "Algorithm AS 241", Applied Statistics
 * 37, 1988; 16 digits). */
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

/* Draws that are the same in every run: state is the caller's, any value. Uniform is above 0 and below 1
 * (xorshift64*: Vigna, ACM TOMS 42, 2016). */
double deviate_draw(uint64_t *state);

#endif
