/* serving.h - how long a server takes for an update, compared with itself: since when is it slower?
 *
 * A single server has no other one to be compared with.  What it takes from an update's arrival until its
 * answer has gone depends neither on how many wait nor on how often they come, so that its own earlier times
 * are a measure.  Times are kept of the whole job: medians of 16 updates, of a long job the means of several
 * of these, so that SERVING_POINTS cover all of it.
 *
 * A server is slower if its newest times are above those before an update, by more than a fifth and by more
 * than chance explains.  What is slow from its first updates on is its speed and no change.  Updates of
 * another size are other work: what was before them is forgotten.
 *
 * Pure.  Units: seconds, nanoseconds of the server's clock, bytes. */
#ifndef SYNCGUARD_CALLS_SERVING_H
#define SYNCGUARD_CALLS_SERVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVING_MEDIAN 16u /* updates of a median */
#define SERVING_POINTS 64u /* that cover the job; even */

struct serving {
    uint64_t bytes; /* of an update */
    float open[SERVING_MEDIAN];
    uint32_t n_open;
    uint64_t from_ns;      /* when the first one of the point that goes on was answered */
    double sum_s;          /* of the point that goes on */
    uint32_t summed, wide; /* medians in it, and in a whole one; wide 0: 1 */
    float point_s[SERVING_POINTS];
    uint64_t point_ns[SERVING_POINTS]; /* when each began */
    size_t n;
};

/* All zero is one that knows nothing.  It was answered then, and took so long. */
void serving_take(struct serving *s, uint64_t bytes, uint64_t ns, double service_s);

struct serving_change {
    double before_s, now_s; /* means */
    uint64_t since_ns;      /* to one point, a 64th to a 32nd of the job */
    uint64_t since_update;  /* of those that were taken, from 0 */
};
/* stood: it was slower when it was asked for before, and stays so for half of the difference and evidence.
 * false: it is not slower, or too little is known. */
bool serving_slower(const struct serving *s, bool stood, struct serving_change *c);

#endif
