/* diagnosis_private.h - what diagnosis.c and diagnosis_price.c share: the list of findings, and what its
 * detectors know. */
#ifndef SYNCGUARD_DETECT_DIAGNOSIS_PRIVATE_H
#define SYNCGUARD_DETECT_DIAGNOSIS_PRIVATE_H

#include "detect/diagnosis.h"
#include "detect/oscillation.h"
#include "detect/pricing.h"
#include "detect/straggler.h"
#include "detect/transfer.h"
#include "detect/variability.h"

#define DIAGNOSIS_RECENT 64u /* steps that the slowdown of now stands on, at the most */

#define SAME_TIME   0.99 /* of a time that is added up in another way */
#define ONSET_EARLY 4u   /* steps after which an onset is still the beginning */

/* A finding is known to its detector by one of these; stragglers have their own numbers from STRAGGLER_KEY
 * on. */
enum key { KEY_JITTER, KEY_IMBALANCE, KEY_OSCILLATION, KEY_TRANSFER, KEY_ROLE, KEY_MIXED, STRAGGLER_KEY };

/* The straggler that an answer is about. Its place and its onset may be seen better later: then it is asked
 * again. */
struct asked {
    uint64_t onset;
    uint32_t place;
    enum finding_scope scope;
};

struct entry {
    uint64_t key;
    double found_s; /* the caller's clock */
    struct reported {
        enum finding_class class;
        uint64_t step; /* 0: not yet */
        uint32_t seq;
    } reported[2];              /* each class that was reported of it, and when first */
    struct straggler straggler; /* as it last was */
    double expired_s;           /* saved in steps that are no longer remembered */
    double alone_ratio;         /* share of the recent time that mending it alone would save */
    uint64_t doubted;           /* steps since the onset, of a straggler's newest interval; 0: it has none */
    size_t doubted_n;           /* findings whose common cost it was */
    uint32_t sure;              /* newest prices in a row that are surely above nothing, to SURE_LOOKS */
    struct missed {
        struct asked of;
        uint32_t since; /* steps since then, of the newest look; 0: none */
        /* what steps take without it, by replays, over what they took before it; of that */
        double ratio, error;
    } missed;
    struct earlier {
        struct asked of;
        uint32_t since; /* steps since then, of the newest look; 0: none */
        double steps;   /* before it with the straggler, as replays.earlier() of pricing.h */
    } earlier;
};

struct diagnosis {
    struct work *work;
    struct pricing pricing;
    struct stragglers *stragglers;
    struct variability *variability;
    struct oscillation oscillation;
    struct transfer transfer;
    struct finding finding[FINDINGS_MAX];
    struct entry entry[FINDINGS_MAX];
    size_t n;
    uint32_t next_id;
    double unseen_s, seen_s; /* before the first step that was judged; of those since */
    double unseen_steps;     /* there were before it, as far as it is known when the job began */
    double between_s;        /* between those: steps of another kind (evaluation) */
    double began_s, ended_s; /* when the first item came, and when the newest step ended */
    uint64_t priced;         /* the step at which the stragglers' prices were taken */
    uint32_t price_every;    /* steps */
    size_t priced_n;         /* findings then */
};

/* ---- diagnosis_price.c ---- */

/* Slowdown over the newest steps, from what all steps since the onset lost on average. */
double diagnosis_mean_slowdown(const struct work *w, uint64_t onset, double saved_s);
/* What was saved in the steps that were judged, and likewise in those between, and, if it began early, in
 * those before. */
double diagnosis_with_unseen(const struct diagnosis *d, bool early, double saved_s);
/* What a finding cost since its onset, and before it was seen, from what it cost in the newest steps, which
 * took of_s, of which over_s is after its end.  earlier: steps before its onset in which it was there, too;
 * NaN: not known. */
double diagnosis_since_onset(const struct diagnosis *d, uint64_t onset, const struct finding *f,
                             double saved_s, double of_s, double over_s, double earlier);
/* The time since the end of a straggler that may be over; 0: it stands. */
double diagnosis_over_s(const struct diagnosis *d, const struct straggler *straggler);
/* The interval of a cost for what steps take beyond their longest work and their transfer.  lost_ratio: the
 * share of the steps' time that the finding is said to cost. */
struct interval diagnosis_unexplained(const struct work *w, uint64_t onset, double lost_ratio);
/* Is it a straggler, or a drift, that stands? */
bool diagnosis_is_straggler(const struct diagnosis *d, size_t at);
static inline bool diagnosis_asked_of(const struct asked *a, const struct straggler *straggler)
{
    return a->onset == straggler->onset && a->scope == straggler->scope && a->place == straggler->place;
}
static inline struct asked diagnosis_ask(const struct straggler *straggler)
{
    return (struct asked){ straggler->onset, straggler->place, straggler->scope };
}
/* Of the newest steps since the onset, as many as took max_s, what they took beyond what they usually do,
 * because all paused in them. */
double diagnosis_paused_s(const struct work *w, uint64_t onset, double max_s);
/* Price the stragglers that stand, if it is time to. */
void diagnosis_price_stragglers(struct diagnosis *d);

/* ---- diagnosis_by_work.c, diagnosis_by_replays.c ---- */

extern const struct pricing_method diagnosis_by_work, diagnosis_by_replays;

/* ---- diagnosis_before.c ---- */

/* A fault may cost more than longer work and longer transfers: ranks that spin while they wait use up their
 * share of a processor, and do their own work slower afterwards.  So what steps take just after the onset
 * without the straggler, by replays, is compared with what they took just before, where nothing else began
 * then (interrupted time series: Wagner et al., J. Clin. Pharm. Ther. 27, 2002).  What they differ by counts
 * beyond two standard errors, and less the nearer it is to them (nonnegative garrote: Breiman, Technometrics
 * 37, 1995). Where steps are replayed; looked at again when twice as many steps are known. */
void diagnosis_look_before(struct diagnosis *d, size_t at);
/* What it saves, with that; p: the same by replays alone. A pause of all is not longer by it. */
double diagnosis_with_missed(const struct diagnosis *d, size_t at, struct price p);
/* The interval of the cost for that. */
struct interval diagnosis_missed_cost(const struct diagnosis *d, size_t at);

#endif
