/* holdout.h - tests whether a lever helps: some epochs of a job run without it and are compared with those
 * with it.
 *
 * Pure: no clock, no I/O, no memory of its own.  Which epochs run without is sampled by the epoch's number,
 * so that all ranks agree without communication.  What is compared is the logarithm of (time with the lever /
 * time without) of two epochs close to each other, of the same collective.  Since it is random which of the
 * two had the lever, such a logarithm is symmetric about zero when the lever does nothing, whatever the
 * distribution of times; for symmetric x, exp(l x - l^2 x^2 / 2) is a supermartingale (de la Pena 1999,
 * lemma 6.1), and so is its mixture over a half-normal l (Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon
 * 2021).  The test is therefore valid at any time and however often it is evaluated. */
#ifndef SYNCGUARD_PACING_HOLDOUT_H
#define SYNCGUARD_PACING_HOLDOUT_H

#include <stdbool.h>
#include <stdint.h>

/* held-out epochs are at most 23 apart: a fading effect is found soon */
#define HOLDOUT_EVERY_MAX 12u
#define HOLDOUT_LOG_MAX   2.0 /* a single comparison is limited to a factor of 7.4 */

/* Comparisons so far.  All zero: none. */
struct holdout {
    double sum, squares;
    uint32_t n;
};

/* Is the lever used at the seq-th collective of the communicator called key?  An epoch has `epoch`
 * collectives (0: 1); one in each `every` epochs, sampled at random, runs without the lever.  every is
 * limited to 2 ... HOLDOUT_EVERY_MAX. */
bool holdout_paced(uint64_t key, uint32_t seq, uint32_t epoch, uint32_t every);

/* Add one comparison; NaN and infinity are ignored. */
void holdout_take(struct holdout *h, double log_ratio);

/* Evidence (an e-value: 1/a rejects at level a) that the lever makes it faster, or slower. */
double holdout_faster(const struct holdout *h);
double holdout_slower(const struct holdout *h);

double holdout_mean(const struct holdout *h);      /* of the logarithms; NaN: none */
double holdout_deviation(const struct holdout *h); /* of a single logarithm; NaN: fewer than two */

/* Confidence sequence: contains the mean logarithm at all times with probability 1 - alpha.  False: too few
 * comparisons yet. */
bool holdout_interval(const struct holdout *h, double alpha, double *low, double *high);

#endif
