/* starts.h - the effect of a choice at launch: starts with it against those held out from it. Such choices
 * are the order of a job's ranks and the algorithm of its all-reduces.
 *
 * The effect is that of an action (rules/effect.h): the median step time of the starts with it over that of
 * the held-out ones, with an interval of 90 %. Which start is held out is drawn (spank/earlier.h) and does
 * not depend on how slow the job was, so that, unlike that of other actions, it has no regression to the mean
 * in it.
 *
 * Pure. Seconds, ratios; unknown is NaN. */
#ifndef SYNCGUARD_HISTORY_STARTS_H
#define SYNCGUARD_HISTORY_STARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "rules/effect.h"

#define STARTS_COMPARED_MAX 64u /* of the newest, placed and held out together */

struct start {
    bool held_out;
    double step_p50_s; /* of its run */
};

struct starts {
    size_t placed, held_out; /* placed: with the choice */
    struct effect_ratio effect;
    char text[240]; /* one sentence */
};

/* What starts had: "along the switches", "held out in Slurm's order". */
struct starts_words {
    const char *placed, *held_out;
};

/* n starts, the newest first.  False: there are none, and out is unchanged. */
bool starts_compare(const struct start *start, size_t n, const struct starts_words *words,
                    struct starts *out);

#endif
