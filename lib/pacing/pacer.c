#include "pacing/pacer.h"

#include <math.h>
#include <string.h>

#define USUAL_GAIN 0.125
#define LOST_MAX   2.5   /* a single collective cannot exceed it */
#define GAIN_MIN   0.005 /* a lever with a smaller gain is not worth its hold-out */

static const char *const names[PACER_LEVERS] = { "release", "gate", "delay", "stagger" };

const char *pacer_lever_name(uint32_t lever)
{
    for (uint32_t i = 0; i < PACER_LEVERS; i++)
        if (lever == 1u << i)
            return names[i];
    return NULL;
}

const char *pacer_why_text(enum pacer_why why)
{
    static const char *const texts[] = {
        [PACER_NO_CAUSE] = "no cause on this node that it could help against",
        [PACER_UNABLE] = "the MPI library does not support it, or already does it",
        [PACER_UNALLOWED] = "not allowed by the policy",
        [PACER_ON_TRIAL] = "on trial",
        [PACER_HELPS] = "it helps",
        [PACER_NO_GAIN] = "tried; not proven to help",
        [PACER_HARM] = "tried; the job became slower",
        [PACER_FADED] = "it helped, but no longer does",
    };

    return (unsigned)why < sizeof(texts) / sizeof(texts[0]) ? texts[why] : "";
}

/* ---- comparison ---- */

static struct pacer_slot *slot_of(struct pacer *p, uint64_t signature)
{
    struct pacer_slot *s = &p->slot[signature * 0x9e3779b97f4a7c15u >> 59];

    if (s->signature != signature)
        *s = (struct pacer_slot){ .signature = signature };
    return s;
}
_Static_assert(PACER_SLOTS == 1u << (64 - 59), "the hash has as many values as there are slots");

/* Sums and numbers of times of the collectives that both sides have. */
struct matched {
    double s[2];
    uint32_t n[2];
};

static struct matched match_times(const struct pacer *p)
{
    struct matched m = { { 0 }, { 0 } };

    for (uint32_t i = 0; i < PACER_SLOTS; i++) {
        const struct pacer_slot *s = &p->slot[i];

        for (int side = 0; s->n[0] && s->n[1] && side < 2; side++) {
            m.s[side] += exp(s->log_s[side] / s->n[side]);
            m.n[side] += s->n[side];
        }
    }
    return m;
}

static void forget_slot(struct pacer_slot *s)
{
    memset(s->log_s, 0, sizeof(s->log_s));
    memset(s->n, 0, sizeof(s->n));
}

/* Learn the usual time of a collective from those without a lever, and add up what those with it lost. */
static void learn_usual(struct pacer *p, struct pacer_slot *s, const struct pacer_collective *c)
{
    if (!c->paced) {
        s->usual_s += s->usual_s > 0 ? USUAL_GAIN * (c->cycle_s - s->usual_s) : c->cycle_s;
    } else if (s->usual_s > 0) {
        p->usual_s += s->usual_s;
        p->lost_s += fmin(c->cycle_s, LOST_MAX * s->usual_s) - s->usual_s;
        p->counted++;
    }
}

static void count_from_zero(struct pacer *p)
{
    p->lost_s = p->usual_s = 0;
    p->counted = 0;
}

static bool lost_more_than(const struct pacer *p, double collectives)
{
    return p->counted && p->lost_s > collectives * p->usual_s / p->counted;
}

/* Yielding a core may change where the kernel places ranks, and so affect later collectives too; a later
 * entry does not. */
static bool may_last(uint32_t which)
{
    return 1u << which < PACER_DELAY;
}

/* Whether one more loss like those before it would be too much. */
static bool would_lose_too_much(const struct pacer *p)
{
    double most = may_last(p->current) && pacer_epoch(p) > 1 ? PACER_LOSS : PACER_LOSS_AT_ONCE;

    return p->counted > 1 && lost_more_than(p, most * p->counted / (p->counted + 1));
}

/* Compare the same collectives with and without the lever, nearest in time.  NaN: not enough of both yet. */
static double compare_sides(struct pacer *p, struct pacer_slot *s, const struct pacer_collective *c)
{
    uint32_t left_out = pacer_epoch(p) / 2, least = pacer_epoch(p) - left_out;
    struct matched m;

    p->run = c->paced == p->was ? p->run + 1 : 1;
    p->was = c->paced;
    if (p->run <= left_out) /* may still be affected by the epoch before */
        return NAN;
    s->log_s[c->paced] += log(c->cycle_s);
    s->n[c->paced]++;
    p->epochs[c->paced]++;
    if (!s->n[!c->paced])
        return NAN;
    m = match_times(p);
    if (m.n[0] < least || m.n[1] < least)
        return NAN;
    for (uint32_t i = 0; i < PACER_SLOTS; i++)
        if (p->slot[i].n[0] && p->slot[i].n[1])
            forget_slot(&p->slot[i]);
    return log(m.s[1] / m.s[0]);
}

/* ---- transitions ---- */

static void enter_mode(struct pacer *p, enum pacer_mode mode)
{
    p->mode = (uint8_t)mode;
    p->since = p->at;
    p->was = false;
    p->run = PACER_EPOCH_MAX;
    p->ticks = p->others = 0;
    for (uint32_t i = 0; i < PACER_SLOTS; i++)
        forget_slot(&p->slot[i]);
}

static bool oversubscribed(const struct pacer_sight *s)
{
    return s->ranks > s->cores;
}

/* Length of the epochs in the next trial: one collective, or the longest allowed. */
static uint8_t trial_epoch(const struct pacer *p, uint32_t which, const struct pacer_params *params)
{
    if (!may_last(which) ||
        (p->oversubscribed && p->lever[which].why != PACER_NO_GAIN)) /* the lever may act with a delay */
        return 1;
    return (uint8_t)(params->epoch > PACER_EPOCH_MAX ? PACER_EPOCH_MAX : params->epoch ? params->epoch : 1);
}

static void try_lever(struct pacer *p, uint8_t epoch, bool again)
{
    struct pacer_lever *l = &p->lever[p->current];

    /* Continue a trial that was inconclusive or whose cause disappeared: the test may be repeated without
     * limit. */
    if ((l->why != PACER_NO_GAIN && l->why != PACER_NO_CAUSE) || l->epoch != epoch)
        l->seen = (struct holdout){ 0 };
    l->epoch = epoch;
    l->why = PACER_ON_TRIAL;
    count_from_zero(p);
    p->again = again;
    enter_mode(p, PACER_TRYING);
}

/* Whether the trial was too short for a decision. */
static bool is_promising(const struct pacer *p, uint32_t which)
{
    const struct pacer_lever *l = &p->lever[which];

    return may_last(which) && l->why == PACER_NO_GAIN && holdout_faster(&l->seen) >= PACER_PROMISE;
}

/* Rest until the cost of the trial, with its uncertainty, is a small share of the time until the next trial
 * of any lever.  Not where other processes want the cores: there a single comparison of long epochs says
 * little about the cost, and the lever's own rest is long enough. */
static void pay_for_trial(struct pacer *p)
{
    double error = holdout_deviation(&p->lever[p->current].seen) * sqrt(p->counted), lost;

    if (!p->counted || (pacer_epoch(p) > 1 && !p->oversubscribed))
        return;
    lost = p->lost_s / (p->usual_s / p->counted) + (isnan(error) ? 0 : error);
    if (lost > 0)
        p->quiet = p->at + (uint64_t)(fmin(lost, PACER_TRIAL) / PACER_COST * (double)(p->at - p->since) /
                                      (p->ticks ? p->ticks : 1));
}

static void rest_lever(struct pacer *p, enum pacer_why why)
{
    struct pacer_lever *l = &p->lever[p->current];
    uint32_t times = why == PACER_HARM ? PACER_HARM_REST : 2;

    l->why = (uint8_t)why;
    if (is_promising(p, p->current)) {
        l->resume = p->at + PACER_WARM;
    } else {
        l->rest = l->rest ? (uint32_t)fmin((double)l->rest * times, PACER_REST_MAX) : PACER_REST * times / 2;
        l->resume = p->at + l->rest;
        pay_for_trial(p);
    }
    enter_mode(p, PACER_OFF);
}

/* ---- the three modes ---- */

static bool has_cause(uint32_t lever, const struct pacer_sight *s)
{
    if (!(s->wait_ratio >= PACER_WAIT))
        return false;
    if (lever == PACER_STAGGER)
        return s->spans && s->ranks > 1;
    return (s->ranks > 1 || s->spans) && (oversubscribed(s) || s->switches_hz >= PACER_SWITCHES);
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

static void off_tick(struct pacer *p, const struct pacer_params *params, const struct pacer_sight *sight,
                     const struct pacer_collective *c)
{
    static const uint8_t order[2][PACER_LEVERS] = { { 1, 0, 2, 3 }, { 0, 1, 2, 3 } };

    /* Between two trials the job runs without levers. */
    if (p->at - p->since < PACER_WARM || p->at < p->quiet)
        return;
    p->oversubscribed = oversubscribed(sight);
    for (uint32_t i = 0; i < PACER_LEVERS; i++) {
        uint8_t which = order[p->oversubscribed][i], epoch;

        if (!startable(p, which, params, sight))
            continue;
        epoch = trial_epoch(p, which, params);
        /* Epochs come in pairs; begin at the start of a pair. */
        if ((c->seq + 1) % (p->quiet && !is_promising(p, which) ? PACER_GRID : 2u * epoch))
            continue;
        p->current = which;
        p->comm = c->comm;
        try_lever(p, epoch, false);
        return;
    }
}

static void trial_tick(struct pacer *p, double log_ratio)
{
    struct pacer_lever *l = &p->lever[p->current];

    holdout_take(&l->seen, log_ratio);
    if (holdout_faster(&l->seen) >= PACER_PROOF && holdout_mean(&l->seen) < -GAIN_MIN) {
        l->why = PACER_HELPS;
        l->rest = 0;
        p->gain = holdout_mean(&l->seen);
        p->limit = fmax(0.4 * -p->gain, (l->epoch > 1 ? 4 : 2) * holdout_deviation(&l->seen));
        p->drift = 0;
        enter_mode(p, PACER_IN_FORCE);
    } else if (would_lose_too_much(p) || holdout_slower(&l->seen) >= PACER_PROOF_HARM) {
        rest_lever(p, p->again ? PACER_FADED : PACER_HARM);
    } else if (p->ticks >= PACER_TRIAL) {
        rest_lever(p, p->again ? PACER_FADED : PACER_NO_GAIN);
    }
}

static void force_tick(struct pacer *p, double log_ratio)
{
    struct pacer_lever *l = &p->lever[p->current];

    if (p->run == 1)
        count_from_zero(p);
    if (lost_more_than(p, 2 * PACER_LOSS)) {
        rest_lever(p, PACER_HARM);
        return;
    }
    if (isnan(log_ratio))
        return;
    holdout_take(&l->seen, log_ratio);
    log_ratio = fmin(fmax(log_ratio, -HOLDOUT_LOG_MAX), HOLDOUT_LOG_MAX);
    p->drift = fmax(0, p->drift + log_ratio - p->gain / 2);
    if (p->drift > p->limit)
        try_lever(p, l->epoch, true);
}

void pacer_tick(struct pacer *p, const struct pacer_params *params, const struct pacer_sight *sight,
                const struct pacer_collective *c)
{
    struct pacer_slot *s = slot_of(p, c->signature);
    uint32_t lever = 1u << p->current;
    bool timed = c->cycle_s > 0 && !isinf(c->cycle_s);
    double log_ratio;

    p->at++;
    if (timed && (p->mode == PACER_OFF || c->comm == p->comm))
        learn_usual(p, s, c);
    if (p->mode == PACER_OFF) {
        off_tick(p, params, sight, c);
        return;
    }
    if (!(params->levers & sight->able & lever) || !has_cause(lever, sight)) {
        p->lever[p->current].why = params->levers & sight->able & lever ? PACER_NO_CAUSE : PACER_UNALLOWED;
        if (p->mode == PACER_TRYING)
            pay_for_trial(p);
        enter_mode(p, PACER_OFF);
        return;
    }
    if (c->comm != p->comm) {
        if (++p->others > PACER_OTHERS) {
            p->lever[p->current].why = PACER_NO_CAUSE;
            enter_mode(p, PACER_OFF);
        }
        return;
    }
    p->others = 0;
    p->ticks++;
    log_ratio = timed ? compare_sides(p, s, c) : NAN;
    if (p->mode == PACER_TRYING)
        trial_tick(p, log_ratio);
    else
        force_tick(p, log_ratio);
}

uint32_t pacer_current(const struct pacer *p)
{
    return p->mode == PACER_OFF ? 0 : 1u << p->current;
}

uint32_t pacer_epoch(const struct pacer *p)
{
    uint32_t epoch = p->lever[p->current].epoch;

    return p->mode == PACER_OFF || !epoch ? 1 : epoch;
}

uint32_t pacer_every(const struct pacer *p, const struct pacer_params *params)
{
    uint32_t most = 16 / pacer_epoch(p);

    if (p->mode != PACER_IN_FORCE || most < 2)
        return 2;
    return params->every < most ? params->every : most;
}
