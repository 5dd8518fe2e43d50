/* variability.h - delays that stay with nobody: jitter (rare and long, another rank each time) and imbalance
 * (every rank's work varies widely from step to step).
 *
 * A detour (of the CPU, by whatever: Beckman et al., "The influence of operating systems on the performance
 * of collective operations at extreme scale", CLUSTER 2006) is an excess of own work far beyond the noise,
 * which is over with its step and makes that step longer: where ranks need not wait for one another it may
 * not. Jitter is when different ranks have detours again and again; its price is the time that these ranks
 * came behind the slowest of the others. Imbalance is noise itself above what is ordinary; its price is the
 * part of the longest work, of each block between two collectives, that shrinks away with the noise (max =
 * typical (1 + z_N cv): MODELS, order statistics; David & Nagaraja 2003).  In the sum of several blocks noise
 * of a block averages out; that another rank is the last in each shows it. */
#ifndef SYNCGUARD_DETECT_VARIABILITY_H
#define SYNCGUARD_DETECT_VARIABILITY_H

#include <stdbool.h>
#include <stdint.h>

#include "detect/detours.h"
#include "detect/straggler.h"
#include "detect/work.h"
#include "model/interval.h"

struct variability {
    float *usual; /* n: each rank's excess as it mostly is */
    uint32_t n;
    struct detours detours;
    double z; /* mean of the largest of so many normal deviates */
    bool jitter;
    bool increased; /* there is more of it than there was before, and that is no chance */
    /* detours that it stood on turned out, in the newest step, to be those of a place that is named */
    bool redrawn;
    uint64_t jitter_onset; /* step */
    uint64_t ordinary;     /* detours before that */
    double seen_saved_s;   /* since the onset, by the detours that were seen ... */
    /* ... and by those, too, that hit ranks whose work is not known then (lost records) */
    double jitter_saved_s;
    double known;    /* shares of the ranks whose work is known, summed up over the steps ... */
    uint64_t looked; /* ... that were looked at */
    double detours_per_step;
    struct interval jitter_cost; /* of what it costs, over jitter_saved_s */
    double detour_ratio;         /* mean length of a detour over the typical work */
    bool imbalance;
    uint64_t imbalance_onset;
    double imbalance_saved_s; /* since the onset */
    struct interval imbalance_cost;
    double spread_s;      /* longest minus typical, summed up since wide_since */
    double spread_most_s; /* the same at most, where it is not known who waited */
    uint64_t wide_since;
    double noise; /* of a rank's work in a block, over its mean: of the imbalance that stands */
    double calm;  /* that when it was ordinary; NaN never */
    /* By how much the blocks of a step together are longer than the longest work of one rank in it, over the
     * typical work: a running mean over so many steps. */
    double apart;
    uint32_t apart_steps;
};

struct variability *variability_new(void);
void variability_free(struct variability *s); /* NULL is fine */
void variability_reset(struct variability *s);

/* Judge after work_take(), without the ranks of late[n], who are known to be late; fills in the newest step's
 * delayed and without_detours_s.  period: collectives a step, at which all ranks meet. */
void variability_step(struct variability *s, struct work *w, uint32_t period, const struct straggler *late,
                      size_t n, double min_slowdown);

#endif
