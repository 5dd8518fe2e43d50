/* holdout.h - does it help?  Some epochs of a job go without the lever, and are set against those with it.
 *
 * Pure: no clock, no I/O, no memory of its own.  Which epoch goes without is drawn by the epoch's number, so
 * that all ranks agree without a word.  What is compared is the logarithm of (time with the lever / time
 * without) of two epochs close to each other, of the same collective.  Since the draw decides which of the
 * two had the lever, such a logarithm is symmetric about zero when the lever does nothing, whatever the
 * distribution of times; for symmetric x, exp(l x - l^2 x^2 / 2) is a supermartingale (de la Pena 1999,
 * lemma 6.1), and so is its mixture over a half-normal l (Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon
 * 2021).  The test is hence valid whenever one looks, and as often. */
#ifndef SYNCGUARD_PACING_HOLDOUT_H
#define SYNCGUARD_PACING_HOLDOUT_H

#include <stdbool.h>
#include <stdint.h>

#define HOLDOUT_EVERY_MAX 12u /* two that go without are at most 23 apart: a fading effect is seen soon */
#define HOLDOUT_LOG_MAX   2.0 /* a single comparison counts for no more than a factor of 7.4 */

/* Comparisons so far.  All zero: none. */
struct holdout {
    double sum, squares;
    uint32_t n;
};

/* Is the lever used at the seq-th collective of the communicator called key?  Epochs are of epoch
 * collectives; one in each `every` of them, drawn, goes without.  epoch 0 counts as 1, every as what is
 * nearest of 2 to HOLDOUT_EVERY_MAX. */
bool holdout_paced(uint64_t key, uint32_t seq, uint32_t epoch, uint32_t every);

/* One comparison; what is no number is not counted. */
void holdout_take(struct holdout *h, double log_ratio);

/* Evidence (an e-value: 1/a rejects at level a) that the lever makes it faster, or slower. */
double holdout_faster(const struct holdout *h);
double holdout_slower(const struct holdout *h);

double holdout_mean(const struct holdout *h);      /* of the logarithms; NaN: none */
double holdout_deviation(const struct holdout *h); /* of one of them; NaN: fewer than two */

/* Where the mean logarithm lies at all times with probability 1 - alpha.  False: nothing can be said yet. */
bool holdout_interval(const struct holdout *h, double alpha, double *low, double *high);

#endif
