/* transfer.h - did the collectives themselves become slower? For good (communication) or in bursts
 * (congestion).
 *
 * The transfer of a step (what the last arrivers stayed in its collectives) is compared with what it was: a
 * running median that stands still while it is slow. Single slow steps are no news on any network, so the
 * median of three steps is looked at; its noise is the median of its absolute deviations, whatever
 * neighbouring steps have in common. A stretch of slow steps begins when a CUSUM (Page 1954) of the relative
 * excess passes its limit, and ends when three steps in a row are as before. A stretch that ends soon was a
 * burst. The price is the time above what it was. */
#ifndef SYNCGUARD_DETECT_TRANSFER_H
#define SYNCGUARD_DETECT_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "detect/work.h"
#include "model/interval.h"

#define TRANSFER_LEARN 12u

struct transfer {
    uint32_t learnt; /* steps that the usual transfer stands on */
    float first_s[TRANSFER_LEARN];
    float newest_s[3];     /* of the newest steps with one, a ring */
    uint32_t steps;        /* with one */
    double usual_s, sigma; /* of the median of three; sigma relative */
    double cusum;
    uint64_t rises;   /* step at which the cusum left zero */
    double before_s;  /* above the usual in the step before */
    double pending_s; /* above the usual since then */
    bool slow;        /* in a stretch */
    uint64_t since;   /* of the stretch */
    uint32_t calm;    /* steps in a row as before */
    uint32_t bursts;
    uint64_t first_burst, longest; /* step; steps */
    double height;                 /* mean excess in slow steps of the stretch, relative */
    uint32_t height_n;
    bool standing, congestion; /* what is reported; congestion: in bursts */
    uint64_t onset;
    double saved_s;   /* since the onset */
    double stretch_s; /* of this stretch */
    double tall;      /* height of the stretch that was reported last */
};

/* The smallest relative excess that would be a slow stretch now; NaN: not learnt yet. */
double transfer_limit(const struct transfer *t);

/* The interval of what it costs, over that. */
struct interval transfer_cost(const struct transfer *t);

/* Judge after work_take(); all zero is one that saw nothing. */
void transfer_step(struct transfer *t, const struct work *w, double min_slowdown);

#endif
