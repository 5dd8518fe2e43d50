/* diagnosis.h - what holds a job back: all detectors over the steps of one job, and what each finding costs.
 *
 * Fed step by step, in order; judges at once, from what was fed; but what is found in steps shorter than 10
 * ms is unconfirmed, and must not be reported, until it has stood for a second. Findings stay in the
 * list for the whole run (the oldest that is over gives way). Prices are what-ifs with the cause removed
 * (Ousterhout et al. 2015; Lin et al. 2025), found in one of two ways (pricing.h), when findings are asked
 * for. */
#ifndef SYNCGUARD_DETECT_DIAGNOSIS_H
#define SYNCGUARD_DETECT_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/finding.h"
#include "detect/pricing.h"
#include "detect/work.h"

struct diagnosis;
struct straggler;

struct diagnosis *diagnosis_new(void);
void diagnosis_free(struct diagnosis *d); /* NULL is fine */
/* Another program, or other steps: what was learnt does not apply; all that stood is over. */
void diagnosis_restart(struct diagnosis *d);
/* How stragglers are priced from now on, see pricing.h; by work at the beginning. The replays' arg is lent */
void diagnosis_price_by_work(struct diagnosis *d);
void diagnosis_price_by_replays(struct diagnosis *d, const struct replays *replays);
/* Price standing findings again after `steps` steps, or less often when there are many ranks; 0: at every
 * step. */
void diagnosis_price_every(struct diagnosis *d, uint32_t steps);
void diagnosis_price_now(struct diagnosis *d); /* price them now */
void diagnosis_place(struct diagnosis *d, uint32_t rank, uint32_t node, uint32_t switch_id);

struct diagnosis_step {
    uint32_t seq;       /* of its last collective on the main communicator */
    uint32_t period;    /* collectives a step there */
    const float *own_s; /* n: own work by rank, NaN not known */
    uint32_t n;
    double duration_s, transfer_s; /* transfer NaN: not known */
    /* for how long a rank waits for the last one at the step's collectives, mean over the ranks; NaN: not
     * known, 0: no longer than own_s shows */
    double wait_s;
    double ended_s; /* the caller's clock, and ... */
    double began_s; /* ... when the first item of the job came */
};
void diagnosis_step(struct diagnosis *d, const struct diagnosis_step *s, double min_slowdown);

/* Number (diagnosis_step.seq) of a step that is counted from 0, or of the oldest remembered one if that is
 * later. */
uint32_t diagnosis_seq(const struct diagnosis *d, uint64_t step);
/* What only the graph of calls shows, after diagnosis_step(). */
struct diagnosis_other {
    enum finding_class class; /* communication, imbalance or jitter */
    enum finding_scope scope;
    uint32_t place, other;
    uint64_t comm; /* as of a finding */
    bool mixed;    /* communication: messages are slow from the start, some of a link's or all of a node's */
    bool standing;
    uint32_t from;        /* number of its first step */
    double saved_s, of_s; /* in the steps since then that are remembered, of what they took */
    double slowdown;      /* over the newest steps */
    double excess, rate;
    struct interval cost; /* as of a finding */
    bool early;           /* it may have been there from the beginning */
    bool begun;           /* steps before `from` were looked at, and it was not there */
    bool redrawn; /* what it was found by is known to be another's: if it does not stand, it never did */
    double min_slowdown; /* slowdown from which on it is reported; 0: as always */
};
/* Delays of single ranks, each at least 0.8 times the typical work of a step, that are too few to be jitter:
 * how many, and what they cost at most, as others need not have waited for each.  0, and no cost: there are
 * none, or they cost less than min_slowdown together, as those of any machine do. */
uint32_t diagnosis_delays(const struct diagnosis *d, double min_slowdown, double *saved_s);
/* Is there jitter in the steps' work?  from: number of the first step with it; excess and rate as of a
 * finding. */
size_t diagnosis_stragglers(const struct diagnosis *d,
                            const struct straggler **list); /* that stand; lent until the next step */
bool diagnosis_jitter(const struct diagnosis *d, struct diagnosis_other *o);
/* The interval of what jitter costs, over its price. */
struct interval diagnosis_jitter_cost(const struct diagnosis *d);
void diagnosis_other(struct diagnosis *d, const struct diagnosis_other *o);
uint64_t diagnosis_steps(const struct diagnosis *d);
/* Findings of the run, with prices as of now, which are taken here where steps have come since; lent until
 * the next call of any of these. */
size_t diagnosis_findings(struct diagnosis *d, const struct finding **list);
/* The newest step as it is kept, after diagnosis_step; lent until the next. */
const struct work_step *diagnosis_newest(const struct diagnosis *d);
/* What the newest steps were like; lent. */
const struct work *diagnosis_work(const struct diagnosis *d);
/* The smallest excess of a rank's own work that could be named now; NaN while that is not known. */
double diagnosis_limit(const struct diagnosis *d);
/* The same of one that has been so since the first step: ranks' work may differ, and few ranks show less of
 * by how much. */
double diagnosis_limit_from_start(const struct diagnosis *d);
/* The smallest excess of the transfers of all ranks that could be named now; NaN likewise. */
double diagnosis_transfer_limit(const struct diagnosis *d);
/* Share of the steps in which the rank had the longest own work; NaN not known.  They are the newest ones
 * since the costliest straggler that stands began: those of its last_ratio. */
double diagnosis_last_ratio(const struct diagnosis *d, uint32_t rank);
/* Mean duration of the steps that a finding's slowdown stands on; NaN not known. */
double diagnosis_finding_step_s(const struct diagnosis *d, const struct finding *f);
/* A rank's mean own work over the median's, minus 1, over the newest steps; NaN not known. */
double diagnosis_excess(const struct diagnosis *d, uint32_t rank);

#endif
