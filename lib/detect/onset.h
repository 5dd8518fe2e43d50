/* onset.h - when did a series begin to be higher, at once or slowly?
 *
 * Two explanations compete: a step (the most likely change point of a mean: Page 1954; Hinkley 1970) and a
 * ramp that ends in a plateau, both by least squares over all beginnings. The noise is taken from successive
 * differences, so that neither explanation hides in it. The ramp must explain clearly more than the best
 * step, and where the values are uneven must be seen before and behind that (decision 0101); a step must
 * explain clearly more than chance over all change points does, or it was so from the beginning. What the
 * steps took has to rise with a ramp, too (decision 0107). */
#ifndef SYNCGUARD_DETECT_ONSET_H
#define SYNCGUARD_DETECT_ONSET_H

#include <stdbool.h>
#include <stdint.h>

#define ONSET_MAX 256u /* values */

struct onset {
    bool ramp;
    uint32_t from; /* values before it began; 0: it was so from the beginning */
    uint32_t to;   /* a ramp's end: values before it stands in full; else from */
    double before; /* mean before it */
    double height; /* how much higher it is since (a ramp: at its end) */
};

/* How much of its height it has at i, 0 to 1: all of it at once where `to` is `from`. */
static inline double onset_rise(uint64_t from, uint64_t to, uint64_t i)
{
    if (i < from)
        return 0;
    return i < to ? (double)(i - from) / (double)(to - from) : 1;
}

/* y[n], oldest first, n from 1 to ONSET_MAX, is changed: an unknown value (NaN) becomes the one before it,
 * and the weight of one value is bounded. inflate: how much more a mean over some values varies than
 * independent ones would; lasting: a level that others have as well, and that counts for no change; was_ramp:
 * an earlier call found one. whole[n], NULL where it is not known: what the steps took, which a ramp has to
 * be seen in as well (growth.h). */
struct onset onset_find(float *y, const float *whole, uint32_t n, double inflate, double lasting,
                        bool was_ramp);

#endif
