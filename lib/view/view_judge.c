/* view_judge.c - what is reported of what is known: regime and verdicts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "view/health.h"
#include "view/updates.h"
#include "view/view_private.h"

#define PAUSE_S 1.0 /* the rest of a step may come this much later */
/* there is one hang at a time, or lost nodes; findings count from 0 */
#define HANG_ID UINT32_MAX
#define LOST_ID (HANG_ID - 1)
/* ... and on: those of before view_position_set() */
#define EARLIER_ID (LOST_ID - VIEW_RAISED_MAX)
/* ... and down: a slow worker or server, by its rank */
#define UPDATES_ID (EARLIER_ID - 1)

struct verdicts *view_verdicts_new(void)
{
    struct verdicts *s = xcalloc(1, sizeof(*s));

    s->raised = xcalloc(1, sizeof(*s->raised)); /* of jobs in which nothing is wrong there are many */
    s->raised_cap = 1;
    s->by_shares = REGIMES;
    return s;
}

void view_verdicts_free(struct verdicts *s)
{
    stall_moves_forget(&s->moves);
    free(s->stop);
    free(s->raised);
    free(s);
}

static const char *const names_of_regimes[] = { "starting",        "compute",     "communication",
                                                "synchronisation", "oscillating", "checkpoint",
                                                "stalled",         "suspended",   "unknown" };
const char *view_regime_name(enum view_regime r)
{
    return r < ARRAY_SIZE(names_of_regimes) ? names_of_regimes[r] : NULL;
}

static void describe_stop(const struct view *v, double now_s, const struct view_stall *s,
                          struct view_verdict *d)
{
    const struct step_count *steps = steps_count(v->steps);
    int64_t seq = steps->comm ? (int64_t)steps->newest_seq : -1;

    *d = (struct view_verdict){ .finding = { .id = s->lost ? LOST_ID : HANG_ID,
                                             .class = s->lost ? FINDING_LOST : FINDING_HANG,
                                             .scope = s->lost         ? SCOPE_NODE
                                                      : s->n_culprits ? SCOPE_RANK
                                                                      : SCOPE_NONE,
                                             .place = s->n_culprits ? s->culprit[0] : WORK_PLACE_NONE,
                                             .standing = true,
                                             .onset_seq = seq,
                                             .named_seq = seq,
                                             .saved_s = NAN,
                                             .slowdown = NAN,
                                             .alone = NAN,
                                             .cost = INTERVAL_UNKNOWN },
                                .since_step = steps->period && steps->done ? (int64_t)steps->done : -1,
                                .found_step = -1,
                                .since_s = now_s - s->age_s,
                                .found_s = now_s,
                                .times = 1 };
    memcpy(d->text, s->text, sizeof(d->text));
    for (uint32_t i = 0; i < s->n_culprits; i++)
        if (s->lost)
            snprintf(d->culprit[d->n_culprits++], VIEW_CULPRIT_SIZE, "%s",
                     roster_place_name(v->roster, s->culprit[i]));
        else
            view_finding_add_rank(d, s->culprit[i]);
    if (s->lost)
        return;
    view_cause(v, d, d->cause, sizeof(d->cause));
    if (s->n_culprits == 1)
        step_marks_inside(v->marks, now_s, s->culprit[0], d->cause, sizeof(d->cause));
}

/* From when a rank of it moves on, it is what it was until it is seen that others still wait, or that it is
 * over. A trace that ends so has nothing behind it. */
static void take_stop(struct view *v, double now_s, const struct view_stall *stall, struct view_verdict *d)
{
    struct verdicts *s = v->verdicts;

    if (!s->stop)
        s->stop = xcalloc(1, sizeof(*s->stop));
    if (!s->moves.n || stall->open || !stall_moves_seen(&s->moves, v, now_s)) {
        describe_stop(v, now_s, stall, s->stop);
        stall_moves_note(&s->moves, v, now_s, stall);
    }
    *d = *s->stop;
    memcpy(s->stalled.text, d->text, sizeof(s->stalled.text));
}

static void describe_finding(struct view *v, double now_s, const struct finding *found,
                             struct view_verdict *d)
{
    struct finding placed = *found, *f = &placed;
    bool by_connections = connections_place(v->connections, now_s, &placed);
    const struct step_count *steps = steps_count(v->steps);
    double step_s = steps_mean_s(v->steps, now_s);
    uint64_t since = diagnosis_steps(v->diagnosis) - f->onset_step + 1;
    char share[48];

    *d = (struct view_verdict){ .finding = *f,
                                .since_step = (int64_t)steps->done - (int64_t)(since * steps->block),
                                .found_step =
                                    (int64_t)steps->done -
                                    (int64_t)((diagnosis_steps(v->diagnosis) - f->named_step) * steps->block),
                                .since_s = f->onset_s,
                                .found_s = now_s,
                                .times = 1 };
    d->finding.standing = true;
    if (call_steps_active(v->calls)) /* the graph's steps are numbered, not its collectives */
        d->finding.onset_seq = d->finding.named_seq = -1;
    if (d->found_step < 0)
        d->found_step = -1;
    view_finding_culprits(v, f, d);
    view_finding_text(v, f, false, d->text, sizeof(d->text));
    if (d->since_step < 0)
        d->since_step = 0;
    if (f->slowdown > 1)
        text_append(d->text, sizeof(d->text), "; %s costs %s of the step time, %s of %s",
                    d->n_culprits > 1 && f->class <= FINDING_DRIFT ? "together this" : "this",
                    finding_lost_text(f, false, share, sizeof(share)),
                    text_s(step_s * (1 - 1 / f->slowdown)).s, text_s(step_s).s);
    if (f->alone >= 1)
        text_append(d->text, sizeof(d->text), ", and mending only one of them gains at most %s",
                    text_percent(1 - 1 / f->alone).s);
    d->minor = view_is_minor(f->slowdown);
    if (by_connections)
        connections_text(v->connections, d->cause, sizeof(d->cause));
    else
        view_cause(v, d, d->cause, sizeof(d->cause));
    if (d->n_culprits == 1 && (f->scope == SCOPE_RANK || f->class <= FINDING_DRIFT))
        step_marks_cause(v->marks, f->scope, f->place, d->cause, sizeof(d->cause));
}

static struct view_verdict *find_raised(struct verdicts *s, uint32_t id)
{
    for (size_t i = 0; i < s->n_raised; i++)
        if (s->raised[i].finding.id == id && s->raised[i].finding.standing)
            return &s->raised[i];
    return NULL;
}

/* Room in the run's list: of those that are over the one that cost least gives way. */
static struct view_verdict *raised_add(struct verdicts *s)
{
    struct view_verdict *over = NULL;

    if (s->n_raised < VIEW_RAISED_MAX) {
        s->raised = xgrow(s->raised, &s->raised_cap, s->n_raised + 1, sizeof(*s->raised));
        return &s->raised[s->n_raised++];
    }
    for (struct view_verdict *r = s->raised; r < s->raised + s->n_raised; r++)
        if (!r->finding.standing && (!over || r->finding.saved_s < over->finding.saved_s))
            over = r;
    return over;
}

/* The run's list follows what stands; changes of what is listed become events. */
static void keep_raised(struct view *v, double now_s, const struct view_verdict *d)
{
    struct view_verdict *r = find_raised(v->verdicts, d->finding.id);
    bool minor = d->minor && (!r || r->minor);
    bool changed = !r || r->minor || r->finding.class != d->finding.class ||
                   r->finding.scope != d->finding.scope ||
                   (d->finding.class <= FINDING_DRIFT && r->n_culprits != d->n_culprits) ||
                   strcmp(r->culprit[0], d->culprit[0]) != 0;
    double found_s = r ? r->found_s : d->found_s;
    char key[sizeof(((struct view_event *)0)->key)];

    if (!r)
        r = raised_add(v->verdicts);
    if (changed && !minor) {
        snprintf(key, sizeof(key), "%s %s", finding_class_name(d->finding.class), d->culprit[0]);
        events_add(v->events, now_s, key, "%s: %.480s", finding_class_name(d->finding.class), d->text);
    }
    if (!r)
        return;
    *r = *d;
    r->found_s = found_s;
    r->minor = minor;
    if (!minor)
        steps_change(v->steps, d->since_s);
}

/* It is part of another verdict, or was when both ended. */
static bool is_told_with_another(const struct view *v, const struct finding *f)
{
    const struct finding *all;
    size_t n = diagnosis_findings(v->diagnosis, &all);

    for (size_t i = 0; f->with != f->id && i < n; i++)
        if (all[i].id == f->with)
            return all[i].standing || !f->standing;
    return false;
}

/* Verdicts of before that stood then: what is found again is the same, and began when that did. */
void view_verdicts_go_on(struct view *v, const struct view_verdict *verdict, size_t n)
{
    struct verdicts *s = v->verdicts;

    for (size_t i = 0; i < n && i < VIEW_RAISED_MAX; i++) {
        struct view_verdict *d = raised_add(s);

        *d = verdict[i];
        d->earlier = true;
        d->went_on = d->finding.standing;
        d->finding.id = EARLIER_ID + (uint32_t)i;
        d->finding.standing = false;
        d->finding.place = WORK_PLACE_NONE;
    }
}

static void go_on_with(const struct verdicts *s, struct view_verdict *d)
{
    for (const struct view_verdict *r = s->raised; r < s->raised + s->n_raised; r++) {
        if (!r->went_on || !view_verdict_same(r, d))
            continue;
        d->since_s = r->since_s;
        d->since_step = r->since_step;
        d->found_step = r->found_step;
        d->finding.onset_seq = r->finding.onset_seq;
        d->finding.named_seq = r->finding.named_seq;
    }
}

static bool still_stands(const struct view_verdict *r, const struct view_verdict *now, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (now[i].finding.id == r->finding.id)
            return true;
    return false;
}

/* The diagnosis's finding of a verdict; NULL: it is of another run, or of no detector. */
static const struct finding *found_again(const struct view *v, const struct view_verdict *r)
{
    const struct finding *f;
    size_t n = diagnosis_findings(v->diagnosis, &f);

    for (size_t i = 0; i < n; i++)
        if (f[i].id == r->finding.id)
            return &f[i];
    return NULL;
}

/* It never was: the list of the run is without it, those who were told of it are told. */
static void withdraw_raised(struct view *v, double now_s, struct view_verdict *r)
{
    struct verdicts *s = v->verdicts;

    if (!r->minor)
        events_add(v->events, now_s, "", "%s %s: withdrawn, another verdict explains it",
                   finding_class_name(r->finding.class), r->culprit[0]);
    s->n_raised--;
    memmove(r, r + 1, (size_t)(s->raised + s->n_raised - r) * sizeof(*r));
}

static void close_raised(struct view *v, double now_s, const struct view_verdict *now, size_t n)
{
    struct verdicts *s = v->verdicts;

    for (size_t i = 0; i < s->n_raised; i++) {
        struct view_verdict *r = &s->raised[i];
        const struct finding *f;

        if (!r->finding.standing || still_stands(r, now, n))
            continue;
        f = found_again(v, r);
        if (f && f->withdrawn) {
            withdraw_raised(v, now_s, r);
            i--;
            continue;
        }
        r->finding.standing = false;
        r->over_s = now_s;
        if (f && f->class == r->finding.class && !finding_stops(f->class) && !isnan(f->saved_s))
            r->finding.saved_s = f->saved_s; /* its last price may have come with its end */
        if (!r->minor)
            steps_change(v->steps, now_s);
        if (finding_stops(r->finding.class)) /* nothing was done meanwhile */
            r->finding.saved_s = now_s - r->since_s;
        if (!r->minor)
            events_add(v->events, now_s, "", "%s %s: over", finding_class_name(r->finding.class),
                       r->culprit[0]);
    }
}

/* What follows from another comes behind all others; a hang that goes on, which has no price, before them. */
static int costlier(const struct view_verdict *x, double p, const struct view_verdict *y, double q)
{
    p = isnan(p) ? INFINITY : p;
    q = isnan(q) ? INFINITY : q;
    return x->finding.follows != y->finding.follows ? x->finding.follows - y->finding.follows
                                                    : (q > p) - (q < p);
}

int view_verdict_by_cost(const void *a, const void *b)
{
    const struct view_verdict *x = a, *y = b;

    return costlier(x, x->finding.saved_s, y, y->finding.saved_s);
}

static int by_slowdown(const void *a, const void *b)
{
    const struct view_verdict *x = a, *y = b;

    return costlier(x, x->finding.slowdown, y, y->finding.slowdown);
}

/* A rank that waits for a CPU gets it while it waits for others: its quota, or its share of a core, is for
 * all of its time.  As long as all ranks lack at least the share of the time that their uneven work costs,
 * nothing shows that even work would make the job faster.  Soon after the start what they lack is not known
 * yet, and the verdict waits for it. */
static bool lacks_cpu(const struct view *v, double now_s, const struct finding *f)
{
    char text[80];

    return f->class == FINDING_IMBALANCE && f->scope == SCOPE_NONE &&
           (view_health_is_due(v, now_s) || view_cpu_lack(v, text, sizeof(text)) > 1 - 1 / f->slowdown);
}

/* Of what is seen in part: what each rank does between its collectives. */
static bool is_of_work(const struct finding *f)
{
    return f->class == FINDING_STRAGGLER || f->class == FINDING_DRIFT || f->class == FINDING_IMBALANCE;
}

/* Findings that came and went between two looks were raised too. */
static size_t take_findings(struct view *v, double now_s, struct view_verdict *now, size_t n)
{
    struct verdicts *s = v->verdicts;
    const struct finding *f;
    size_t found = diagnosis_findings(v->diagnosis, &f);
    bool partial = presence_is_partial(v->presence, v->now_s);

    if (view_is_unseen(v))
        return n;
    for (size_t i = 0; i < found; i++) {
        struct view_verdict d;

        if (f[i].unconfirmed || f[i].doubtful || f[i].withdrawn || is_told_with_another(v, &f[i]) ||
            (!f[i].standing && f[i].id < s->next_finding) || lacks_cpu(v, now_s, &f[i]) ||
            (partial && !is_of_work(&f[i])))
            continue;
        describe_finding(v, now_s, &f[i], &d);
        go_on_with(s, &d);
        keep_raised(v, now_s, &d);
        s->next_finding = f[i].id >= s->next_finding ? f[i].id + 1 : s->next_finding;
        if (f[i].standing && n < VIEW_RAISED_MAX)
            now[n++] = d;
    }
    return n;
}

/* Workers that nobody waits for, and servers. */
static size_t take_updates(struct view *v, double now_s, struct view_verdict *now, size_t n)
{
    struct view_updates f;

    if (!view_updates_get(v, &f) || !f.u.found)
        return n;
    for (size_t i = 0; i < f.u.n && n < VIEW_RAISED_MAX; i++) {
        uint32_t id = UPDATES_ID - f.u.rank[i].rank;
        const struct view_verdict *before = find_raised(v->verdicts, id);
        double least = before ? 1 + (v->params.min_slowdown - 1) / 2 : v->params.min_slowdown;

        if (!f.u.rank[i].slow || f.u.rank[i].slowdown < least)
            continue;
        view_updates_describe(v, now_s, &f.u.rank[i], id, before, &now[n]);
        keep_raised(v, now_s, &now[n++]);
    }
    return n;
}

double view_verdict_alone(const struct finding *f, double run_s)
{
    double share = (1 - 1 / f->alone) / (1 - 1 / f->slowdown);

    return f->alone >= 1 && f->slowdown > 1 ? finding_slowdown(run_s, fmin(1, share) * f->saved_s) : NAN;
}

/* The most costly ones are what stands now, the run's list is priced by the whole run. */
static void set_verdicts(struct view *v, double now_s, struct view_verdict *now, size_t n)
{
    struct verdicts *s = v->verdicts;
    double run_s = presence_run_s(v->presence, now_s);

    if (n > 1) /* qsort() takes memory for an element this large, even of none */
        qsort(now, n, sizeof(now[0]), by_slowdown);
    s->n = n < VIEW_VERDICTS_MAX ? n : VIEW_VERDICTS_MAX;
    memcpy(s->now, now, s->n * sizeof(*now));
    for (struct view_verdict *r = s->raised; r < s->raised + s->n_raised; r++) {
        for (size_t i = 0; i < s->n; i++)
            if (s->now[i].finding.id == r->finding.id && r->finding.standing)
                s->now[i].found_s = r->found_s;
        if (isnan(r->finding.saved_s))
            continue;
        r->finding.alone = view_verdict_alone(&r->finding, run_s);
        r->finding.slowdown = finding_slowdown(run_s, r->finding.saved_s);
    }
    if (s->n_raised > 1)
        qsort(s->raised, s->n_raised, sizeof(s->raised[0]), view_verdict_by_cost);
}

/* No step for long, and no rank is inside of anything: they all do something else. */
static bool all_pause(const struct view *v, double now_s)
{
    const struct step_count *steps = steps_count(v->steps);

    if (!steps->done || presence_finished(v->presence) ||
        now_s < steps->seen_s + view_stall_limit_s(v, now_s) || presence_is_partial(v->presence, v->now_s))
        return false;
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct view_rank *k = roster_at(v->roster, r);

        if (k->known && !k->ended && (k->inside_op != RING_OP_NONE || k->left_at_s > steps->seen_s + PAUSE_S))
            return false;
    }
    return true;
}

static bool oscillates(const struct verdicts *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->now[i].finding.class == FINDING_OSCILLATION)
            return true;
    return false;
}

static enum view_regime judge_regime(const struct view *v, double now_s, bool stalled)
{
    static const enum view_regime regimes[REGIMES] = { [REGIME_COMPUTE] = VIEW_COMPUTE,
                                                       [REGIME_COMMUNICATION] = VIEW_COMMUNICATION,
                                                       [REGIME_SYNCHRONISATION] = VIEW_SYNCHRONISATION };
    struct verdicts *s = v->verdicts;
    struct view_updates updates;
    struct view_figures f;

    if (stalled)
        return VIEW_STALLED;
    if (view_updates_get(v, &updates) && updates.u.found) {
        if (isnan(updates.u.wait_ratio))
            return VIEW_STARTING;
        s->by_shares = regime_of(1 - updates.u.wait_ratio, updates.u.wait_ratio, 0, s->by_shares);
        return regimes[s->by_shares];
    }
    view_shares(v, &f);
    if (presence_is_partial(v->presence, v->now_s) && isnan(f.synchronisation_ratio))
        return VIEW_UNKNOWN;
    if (isnan(f.compute_ratio) || communicators_joined(v->communicators) < 16)
        return VIEW_STARTING;
    if (all_pause(v, now_s))
        return VIEW_CHECKPOINT;
    if (oscillates(s))
        return VIEW_OSCILLATING;
    s->by_shares = regime_of(f.compute_ratio, f.communication_ratio + f.p2p_ratio, f.synchronisation_ratio,
                             s->by_shares);
    return regimes[s->by_shares];
}

void view_judge(struct view *v, double now_s)
{
    struct view_verdict now[VIEW_RAISED_MAX];
    struct verdicts *s = v->verdicts;
    enum view_regime before = s->regime;
    bool stalled;
    size_t n = 0;

    if (presence_slurm(v->presence) == VIEW_SLURM_SUSPENDED && !presence_finished(v->presence)) {
        s->n = 0; /* what was raised before is looked at again when it goes on */
        s->regime = VIEW_SUSPENDED;
        if (before != VIEW_SUSPENDED)
            events_add(v->events, now_s, "", "regime: %s", view_regime_name(VIEW_SUSPENDED));
        presence_stand_still(v->presence, now_s, false, true);
        return;
    }
    stalled = view_stall_find(v, now_s, &s->stalled);
    if (stalled && s->stalled.hang) {
        take_stop(v, now_s, &s->stalled, &now[n]);
        keep_raised(v, now_s, &now[n++]);
    } else {
        stall_moves_forget(&s->moves);
    }
    n = take_findings(v, now_s, now, n);
    n = take_updates(v, now_s, now, n);
    close_raised(v, now_s, now, n);
    set_verdicts(v, now_s, now, n);
    /* What has ended is not stalled any more.  A trace that ends inside of a call may well be. */
    s->ended_still = stalled && presence_finished(v->presence) && !s->stalled.open;
    s->regime = s->ended_still ? s->moving : judge_regime(v, now_s, stalled);
    if (presence_finished(v->presence) && s->regime == VIEW_STARTING)
        s->regime = VIEW_NO_REGIME;
    presence_stand_still(v->presence, now_s, s->regime == VIEW_STALLED, s->regime == VIEW_SUSPENDED);
    if (s->regime != VIEW_STALLED && s->regime != VIEW_SUSPENDED)
        s->moving = s->regime;
    if (s->regime != before && !presence_finished(v->presence))
        events_add(v->events, now_s, "", "regime: %s", view_regime_name(s->regime));
}

enum view_regime view_regime_get(const struct view *v)
{
    return v->verdicts->regime;
}

size_t view_verdicts_raised(const struct view *v, const struct view_verdict **verdicts)
{
    *verdicts = v->verdicts->raised;
    return v->verdicts->n_raised;
}

size_t view_verdicts_get(const struct view *v, const struct view_verdict **verdicts)
{
    *verdicts = v->verdicts->now;
    return v->verdicts->n;
}
