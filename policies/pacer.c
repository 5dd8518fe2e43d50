#include "policies/pacer.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define GAIN_MIN 0.005 /* a lever that brings less is not worth the hold-out */

static const char *const names[PACER_LEVERS] = { "release", "gate", "delay", "stagger" };

const char *pacer_lever_name(uint32_t lever)
{
    for (uint32_t i = 0; i < PACER_LEVERS; i++)
        if (lever == 1u << i)
            return names[i];
    return NULL;
}

uint32_t pacer_levers(const char *list)
{
    uint32_t levers = 0;

    for (;;) {
        size_t length = strcspn(list, ","), i = 0;

        while (i < PACER_LEVERS && (strlen(names[i]) != length || strncasecmp(names[i], list, length) != 0))
            i++;
        if (i == PACER_LEVERS)
            return 0;
        levers |= 1u << i;
        if (!list[length])
            return levers;
        list += length + 1;
    }
}

const char *pacer_why_text(enum pacer_why why)
{
    static const char *const texts[] = {
        [PACER_NO_CAUSE] = "nothing here that it could help against",
        [PACER_UNABLE] = "the MPI library does not allow it, or does it by itself",
        [PACER_UNALLOWED] = "the policy does not list it",
        [PACER_ON_TRIAL] = "on trial",
        [PACER_HELPS] = "it helps",
        [PACER_NO_GAIN] = "tried, and not proven to help",
        [PACER_HARM] = "tried, and the job got slower",
        [PACER_FADED] = "it helped, and does no more",
    };

    return (unsigned)why < sizeof(texts) / sizeof(texts[0]) ? texts[why] : "";
}

/* ---- comparing ---- */

static struct pacer_slot *slot_of(struct pacer *p, uint64_t signature)
{
    struct pacer_slot *s = &p->slot[signature * 0x9e3779b97f4a7c15u >> 59];

    if (s->signature != signature)
        *s = (struct pacer_slot){ .signature = signature };
    return s;
}
_Static_assert(PACER_SLOTS == 1u << (64 - 59), "the hash has as many values as there are slots");

/* The same collective with and without the lever: the two (or more) that are nearest in time.  NaN: not both
 * yet. */
static double compare(struct pacer *p, uint32_t epoch, bool paced, uint64_t signature, double cycle_s)
{
    struct pacer_slot *s = slot_of(p, signature);
    uint32_t least = epoch > 1 ? epoch - 1 : 1;
    double log_ratio;

    if (!(cycle_s > 0) || isinf(cycle_s))
        return NAN;
    if (paced != p->was && epoch > 1) { /* what the epoch before left behind */
        p->was = paced;
        return NAN;
    }
    p->was = paced;
    s->log_s[paced] += log(cycle_s);
    s->n[paced]++;
    p->epochs[paced]++;
    if (s->n[0] < least || s->n[1] < least)
        return NAN;
    log_ratio = s->log_s[1] / s->n[1] - s->log_s[0] / s->n[0];
    *s = (struct pacer_slot){ .signature = signature };
    return log_ratio;
}

/* ---- changing ---- */

static void enter(struct pacer *p, enum pacer_mode mode)
{
    p->mode = (uint8_t)mode;
    p->since = p->at;
    memset(p->slot, 0, sizeof(p->slot));
}

static void try(struct pacer *p, bool again)
{
    struct pacer_lever *l = &p->lever[p->current];

    /* A trial that came to nothing is gone on with: the test allows to look again and again. Its first epochs
     * were short, and what lasts from one to the next (on which core the kernel has put a thread) was not
     * seen. */
    bool more = !again && l->why == PACER_NO_GAIN;

    if (!more || !l->longer)
        l->seen = (struct holdout){ 0 };
    l->longer = more || (again && l->longer);
    l->why = PACER_ON_TRIAL;
    p->lost = 0;
    p->again = again;
    enter(p, PACER_TRYING);
}

static void rest(struct pacer *p, enum pacer_why why)
{
    struct pacer_lever *l = &p->lever[p->current];
    uint32_t times = why == PACER_HARM ? PACER_HARM_REST : 2;
    bool promising = why == PACER_NO_GAIN && holdout_faster(&l->seen) >= PACER_PROMISE;

    if (!promising)
        l->rest = l->rest ? (uint32_t)fmin((double)l->rest * times, PACER_REST_MAX) : PACER_REST * times / 2;
    l->resume = p->at + (promising ? PACER_WARM : l->rest);
    l->why = (uint8_t)why;
    enter(p, PACER_OFF);
}

static void take_force(struct pacer *p)
{
    struct pacer_lever *l = &p->lever[p->current];

    l->why = PACER_HELPS;
    l->rest = 0;
    p->gain = holdout_mean(&l->seen);
    p->limit = fmax(0.4 * -p->gain, 2 * holdout_deviation(&l->seen));
    p->drift = 0;
    enter(p, PACER_IN_FORCE);
}

/* ---- the three modes ---- */

static bool has_cause(uint32_t lever, const struct pacer_sight *s)
{
    bool crowded = s->ranks > s->cores, contended = s->switches_hz >= PACER_SWITCHES;

    if (!(s->wait_ratio >= PACER_WAIT))
        return false;
    if (lever == PACER_STAGGER)
        return s->spans && s->ranks > 1;
    return s->ranks > 1 || s->spans ? crowded || contended : false;
}

static bool startable(struct pacer *p, uint32_t i, const struct pacer_params *params,
                      const struct pacer_sight *sight)
{
    struct pacer_lever *l = &p->lever[i];
    uint32_t lever = 1u << i;

    if (!(params->levers & lever))
        l->why = PACER_UNALLOWED;
    else if (!(sight->able & lever))
        l->why = PACER_UNABLE;
    else if (!has_cause(lever, sight)) {
        if (l->why < PACER_ON_TRIAL)
            l->why = PACER_NO_CAUSE;
    } else
        return p->at >= l->resume;
    return false;
}

static void off_tick(struct pacer *p, const struct pacer_params *params, const struct pacer_sight *sight)
{
    /* In between two trials the job is as it would be without us. */
    if (p->at - p->since < PACER_WARM)
        return;
    for (uint32_t i = 0; i < PACER_LEVERS; i++) {
        if (!startable(p, i, params, sight))
            continue;
        p->current = (uint8_t)i;
        try(p, false);
        return;
    }
}

static void trial_tick(struct pacer *p, double log_ratio)
{
    struct pacer_lever *l = &p->lever[p->current];

    holdout_take(&l->seen, log_ratio);
    if (!isnan(log_ratio))
        p->lost += expm1(fmin(log_ratio, HOLDOUT_LOG_MAX));
    if (holdout_faster(&l->seen) >= PACER_PROOF && holdout_mean(&l->seen) < -GAIN_MIN)
        take_force(p);
    else if (p->lost > PACER_LOSS || holdout_slower(&l->seen) >= PACER_PROOF_HARM)
        rest(p, p->again ? PACER_FADED : PACER_HARM);
    else if (p->at - p->since >= PACER_TRIAL)
        rest(p, p->again ? PACER_FADED : PACER_NO_GAIN);
}

static void force_tick(struct pacer *p, double log_ratio)
{
    struct pacer_lever *l = &p->lever[p->current];

    if (isnan(log_ratio))
        return;
    holdout_take(&l->seen, log_ratio);
    log_ratio = fmin(fmax(log_ratio, -HOLDOUT_LOG_MAX), HOLDOUT_LOG_MAX);
    p->drift = fmax(0, p->drift + log_ratio - p->gain / 2);
    if (p->drift > p->limit)
        try(p, true);
}

void pacer_tick(struct pacer *p, const struct pacer_params *params, const struct pacer_sight *sight,
                bool paced, uint64_t signature, double cycle_s)
{
    double log_ratio;

    p->at++;
    if (p->mode == PACER_OFF) {
        off_tick(p, params, sight);
        return;
    }
    if (!(params->levers & sight->able & 1u << p->current)) { /* no longer allowed */
        p->lever[p->current].why = PACER_UNALLOWED;
        enter(p, PACER_OFF);
        return;
    }
    log_ratio = compare(p, pacer_epoch(p, params), paced, signature, cycle_s);
    if (p->mode == PACER_TRYING)
        trial_tick(p, log_ratio);
    else
        force_tick(p, log_ratio);
}

uint32_t pacer_current(const struct pacer *p)
{
    return p->mode == PACER_OFF ? 0 : 1u << p->current;
}

uint32_t pacer_epoch(const struct pacer *p, const struct pacer_params *params)
{
    if (p->mode == PACER_OFF || !p->lever[p->current].longer)
        return 1;
    return params->epoch > PACER_EPOCH_MAX ? PACER_EPOCH_MAX : params->epoch ? params->epoch : 1;
}

uint32_t pacer_every(const struct pacer *p, const struct pacer_params *params)
{
    uint32_t most = 16 / pacer_epoch(p, params);

    if (p->mode != PACER_IN_FORCE)
        return 2;
    return params->every < most ? params->every : most;
}
