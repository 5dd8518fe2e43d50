/* linkfit.h - fits the time of a collective over its size, from the job's own collectives.
 *
 * It takes transfer times (the stay of a collective's last arriver, which waits for nobody), keeps a bounded
 * sample of each size, and fits time = a + b bytes to ranges of sizes: a in seconds, b in seconds per byte,
 * both effective values of the algorithm at this number of ranks rather than the wire's latency and
 * bandwidth.
 *
 * - Sizes differ by decades and slow transfers are the very thing looked for, so residuals are relative and
 *   Tukey's biweight rejects outliers: iteratively reweighted least squares (Beaton & Tukey, Technometrics
 *   16, 1974; Holland & Welsch 1977), begun from the medians of the sizes.
 * - Deviations of sizes from the line beyond their own noise (lack of fit) widen the intervals: a second
 *   variance component, by moments.
 * - Switch points of the protocol are found, not assumed: another segment must lower the chi squared of the
 *   sizes' means, over its own dispersion, by more than the Bayesian information criterion asks for its three
 *   parameters (Schwarz 1978; with dispersion: Lebreton et al., Ecological Monographs 62, 1992).
 * - A single size determines the sum, not its parts: a and b are then NaN and their intervals cover all
 *   possible values, a from 0 to the whole time.
 *
 * Pure, no allocation: struct linkfit is the caller's, all zero to begin with. Intervals hold 90 %. */
#ifndef SYNCGUARD_MODEL_LINKFIT_H
#define SYNCGUARD_MODEL_LINKFIT_H

#include <stdint.h>

#define LINKFIT_SIZES    32u /* sizes within a quarter of an octave are merged */
#define LINKFIT_SAMPLES  40u /* kept of each */
#define LINKFIT_SEGMENTS 3u

struct linkfit_size {
    int32_t key;
    uint32_t seen;
    double weight, bytes_sum, time_sum_s; /* of all collectives added */
    float bytes[LINKFIT_SAMPLES], time_s[LINKFIT_SAMPLES];
};

struct linkfit {
    uint32_t n;
    uint64_t random_state;
    struct linkfit_size size[LINKFIT_SIZES];
};

/* Add a collective of `bytes` whose last arriver stayed time_s; it represents `weight` similar ones.  Values
 * that are not positive are ignored, and so are sizes beyond LINKFIT_SIZES. New transfers replace random
 * older ones of a size (Aggarwal, VLDB 2006). */
void linkfit_add(struct linkfit *l, double bytes, double time_s, double weight);

struct linkfit_range {
    double value, low, high;
};

struct linkfit_segment {
    double from_bytes, to_bytes; /* smallest and largest size in it */
    unsigned sizes;
    struct linkfit_range a_s, b_s_per_byte; /* value NaN: one size alone */
    double a_sd_s;                          /* NaN: one size alone */
};

struct linkfit_result {
    unsigned sizes, segments; /* no segment: no collectives added */
    uint64_t samples;
    double noise; /* relative, of one transfer, without outliers */
    struct linkfit_segment segment[LINKFIT_SEGMENTS];
};

void linkfit_fit(const struct linkfit *l, struct linkfit_result *r);

/* The segment that a size belongs to (the nearest one); NULL without any. */
const struct linkfit_segment *linkfit_segment(const struct linkfit_result *r, double bytes);

#endif
