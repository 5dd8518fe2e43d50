/* view_judge.c - from what is known to what is said: regime, verdicts, the sentence. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/units.h"
#include "ring/ring.h"

#define STALL_STEPS 5.0 /* a collective open for so many steps, and at least STALL_S, is a stall */
#define STALL_S     3.0
#define SYNC_SHARE \
    0.10 /* waiting for late ranks above this share names the regime, where it outweighs the transfers */

__attribute__((format(printf, 4, 5))) static size_t append(char *buf, size_t size, size_t at, const char *fmt,
                                                           ...)
{
    va_list ap;
    int n;

    if (at >= size)
        return at;
    va_start(ap, fmt);
    n = vsnprintf(buf + at, size - at, fmt, ap);
    va_end(ap);
    return n < 0 ? at : at + (size_t)n;
}

static const char *format_s(char buf[32], double s)
{
    return units_format_s(buf, 32, s);
}

/* ---- hangs ---- */

struct stall {
    uint32_t seq, inside, missing;
    uint64_t comm;
    uint8_t op;
    double age_s;
};

static bool is_inside(const struct view_rank *k, double now_s)
{
    return k->known && !k->ended && k->inside_op != RING_OP_NONE && k->inside_op != RING_OP_POINT_TO_POINT &&
           k->live_at_s + LIVE_VALID_S > now_s;
}

/* The collective that has been open longest.  false: none is. */
static bool find_stall(const struct view *v, double now_s, struct stall *s)
{
    *s = (struct stall){ 0 };
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        const struct view_rank *k = &v->rank[r];

        if (!is_inside(k, now_s) || now_s - k->inside_since_s <= s->age_s)
            continue;
        *s = (struct stall){ .comm = k->inside_comm,
                             .seq = k->inside_seq,
                             .op = k->inside_op,
                             .age_s = now_s - k->inside_since_s };
    }
    return s->age_s > 0;
}

static bool inside_of(const struct view_rank *k, const struct stall *s, double now_s)
{
    return is_inside(k, now_s) && k->inside_comm == s->comm && k->inside_seq == s->seq;
}

static void describe_missing(const struct view *v, uint32_t rank, double now_s, char *buf, size_t size)
{
    const struct view_rank *k = &v->rank[rank];
    char age[32];

    format_s(age, now_s - k->inside_since_s);
    if (k->vanished)
        snprintf(buf, size, "its process is gone");
    else if (k->ended)
        snprintf(buf, size, "it has finalized MPI");
    else if (k->live_at_s + LIVE_VALID_S <= now_s)
        snprintf(buf, size, "nothing is heard of it");
    else if (k->live_op == RING_OP_NONE)
        snprintf(buf, size, "outside of MPI for %s, last in collective %u", age, k->inside_seq);
    else
        snprintf(buf, size, "in %s for %s", ring_op_name(k->live_op), age);
}

static void add_rank_culprit(struct view_verdict *d, uint32_t rank)
{
    if (d->n_culprits < VIEW_CULPRITS_MAX)
        snprintf(d->culprit[d->n_culprits++], sizeof(d->culprit[0]), "r%u", rank);
}

/* Who keeps the others waiting: the ranks that are in no collective at all. A rank that waits in another one
 * (an inner group's) is itself held up by somebody. */
static void judge_stall(const struct view *v, double now_s, struct stall *s, struct view_verdict *d)
{
    struct comm *c = view_comm_find(v, s->comm);
    char age[32], why[128] = "";
    uint32_t first = UINT32_MAX;
    size_t at;

    *d = (struct view_verdict){
        .class = VIEW_HANG, .slowdown = NAN, .confidence = 1, .since_step = -1, .since_s = now_s - s->age_s
    };
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        const struct view_rank *k = &v->rank[r];

        if (!k->known)
            continue;
        if (inside_of(k, s, now_s)) {
            s->inside++;
        } else if (!is_inside(k, now_s) && (k->vanished || !k->ended)) {
            s->missing++;
            first = r < first ? r : first;
            add_rank_culprit(d, r);
        }
    }
    d->scope = d->n_culprits ? VIEW_SCOPE_RANK : VIEW_SCOPE_NONE;
    if (v->period && v->steps)
        d->since_step = (int64_t)v->steps;
    if (first != UINT32_MAX)
        describe_missing(v, first, now_s, why, sizeof(why));
    at = append(d->text, sizeof(d->text), 0, "%s %u of %u ranks is open for %s", ring_op_name(s->op), s->seq,
                c ? c->size : s->inside, format_s(age, s->age_s));
    if (first == UINT32_MAX)
        append(d->text, sizeof(d->text), at,
               ": every rank has entered and none leaves, the transfer itself stands still");
    else if (s->missing == 1)
        append(d->text, sizeof(d->text), at, ": %u wait for rank %u on %s (%s)", s->inside, first,
               view_place_name(v, v->rank[first].node), why);
    else
        append(d->text, sizeof(d->text), at, ": %u wait for %u ranks, the first is rank %u on %s (%s)",
               s->inside, s->missing, first, view_place_name(v, v->rank[first].node), why);
}

/* ---- stragglers ---- */

static void name_culprits(const struct view *v, const struct straggler_finding *f, struct view_verdict *d)
{
    static const enum view_scope scopes[] = { VIEW_SCOPE_RANK, VIEW_SCOPE_NODE, VIEW_SCOPE_SWITCH };

    d->scope = scopes[f->scope];
    for (uint32_t i = 0; i < f->n_culprits && i < VIEW_CULPRITS_MAX; i++) {
        if (f->scope == STRAGGLER_RANK)
            add_rank_culprit(d, f->culprit[i]);
        else
            snprintf(d->culprit[d->n_culprits++], sizeof(d->culprit[0]), "%s",
                     view_place_name(v, f->culprit[i]));
    }
}

/* "rank 3 on node4", "node4 (4 ranks)", "node4, node7" */
static size_t append_culprits(const struct view *v, const struct straggler_finding *f, char *buf, size_t size)
{
    size_t at = 0;

    for (uint32_t i = 0; i < f->n_culprits && i < 3; i++) {
        uint32_t c = f->culprit[i];

        if (f->scope == STRAGGLER_RANK)
            at = append(buf, size, at, "%srank %u on %s", i ? ", " : "", c,
                        view_place_name(v, v->rank[c].node));
        else
            at = append(buf, size, at, "%s%s", i ? ", " : "", view_place_name(v, c));
    }
    if (f->n_culprits > 3)
        at = append(buf, size, at, " and %u more", f->n_culprits - 3);
    if (f->scope != STRAGGLER_RANK)
        at = append(buf, size, at, " (%u rank%s)", f->ranks, f->ranks == 1 ? "" : "s");
    return at;
}

static void judge_straggler(const struct view *v, double now_s, const struct straggler_finding *f,
                            struct view_verdict *d)
{
    double step_s = view_step_mean_s(v, now_s);
    char lost[32];
    size_t at;

    *d = (struct view_verdict){ .class = VIEW_STRAGGLER,
                                .slowdown = f->slowdown,
                                .confidence = f->last_ratio,
                                .since_step = f->since_step == UINT64_MAX ? -1 : (int64_t)f->since_step,
                                .since_s = now_s };
    name_culprits(v, f, d);
    at = append_culprits(v, f, d->text, sizeof(d->text));
    append(d->text, sizeof(d->text), at,
           ": own work %.0f %% above the others', last in %.0f %% of the steps; "
           "each step waits %s for it (%.2f times the step time without it)",
           100 * f->excess_ratio, 100 * f->last_ratio, format_s(lost, step_s * (1 - 1 / f->slowdown)),
           f->slowdown);
}

/* ---- all together ---- */

static bool same_verdict(const struct view_verdict *a, const struct view_verdict *b)
{
    return a->class == b->class && a->scope == b->scope && a->n_culprits && b->n_culprits &&
           !strcmp(a->culprit[0], b->culprit[0]);
}

static const struct view_verdict *find_same(const struct view_verdict *list, size_t n,
                                            const struct view_verdict *d)
{
    for (size_t i = 0; i < n; i++)
        if (same_verdict(&list[i], d))
            return &list[i];
    return NULL;
}

/* A verdict that stood before keeps its beginning; changes become events. */
static void replace_verdicts(struct view *v, double now_s, struct view_verdict *now, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct view_verdict *before = find_same(v->verdict, v->n_verdicts, &now[i]);

        if (before) {
            now[i].since_s = before->since_s;
            now[i].since_step = before->since_step;
        } else {
            view_event(v, now_s, "%s: %.480s", view_class_name(now[i].class), now[i].text);
        }
    }
    for (size_t i = 0; i < v->n_verdicts; i++)
        if (!find_same(now, n, &v->verdict[i]))
            view_event(v, now_s, "%s %s: over", view_class_name(v->verdict[i].class),
                       v->verdict[i].n_culprits ? v->verdict[i].culprit[0] : "");
    memcpy(v->verdict, now, n * sizeof(*now));
    v->n_verdicts = n;
}

static enum view_regime regime_of(const struct view *v, double now_s, bool stalled)
{
    struct view_figures f;

    if (stalled)
        return VIEW_STALLED;
    view_figures_get(v, now_s, &f);
    if (isnan(f.compute_ratio) || v->collectives < 16)
        return VIEW_STARTING;
    if (f.synchronisation_ratio >= SYNC_SHARE &&
        f.synchronisation_ratio >= f.communication_ratio + f.p2p_ratio)
        return VIEW_SYNCHRONISATION;
    return f.communication_ratio + f.p2p_ratio > f.compute_ratio ? VIEW_COMMUNICATION : VIEW_COMPUTE;
}

/* The smallest wait that can be called a stall: the job's own rhythm decides. */
static double stall_limit_s(const struct view *v, double now_s)
{
    double step_s = view_step_mean_s(v, now_s);

    return isnan(step_s) ? 2 * STALL_S : fmax(STALL_S, STALL_STEPS * step_s);
}

void view_judge(struct view *v, double now_s)
{
    struct straggler_finding found[STRAGGLER_SCOPES];
    struct view_verdict now[VIEW_VERDICTS_MAX];
    struct stall stall;
    bool stalled = find_stall(v, now_s, &stall) && stall.age_s > stall_limit_s(v, now_s);
    enum view_regime before = v->regime;
    size_t n = 0, m;

    v->stalled_s = stalled ? stall.age_s : 0;
    if (stalled && stall.age_s > v->params.hang_timeout_s)
        judge_stall(v, now_s, &stall, &now[n++]);
    m = straggler_find(v->straggler, v->params.min_slowdown, found);
    for (size_t i = 0; i < m && n < VIEW_VERDICTS_MAX; i++)
        judge_straggler(v, now_s, &found[i], &now[n++]);
    replace_verdicts(v, now_s, now, n);
    v->regime = regime_of(v, now_s, stalled);
    if (v->regime != before)
        view_event(v, now_s, "regime: %s", view_regime_name(v->regime));
}

size_t view_verdicts_get(const struct view *v, const struct view_verdict **verdicts)
{
    *verdicts = v->verdict;
    return v->n_verdicts;
}

char *view_sentence(const struct view *v, double now_s, char *buf, size_t size)
{
    struct view_figures f;
    char step[32];
    size_t at;

    view_figures_get(v, now_s, &f);
    format_s(step, f.step_mean_s);
    if (v->n_verdicts) {
        snprintf(buf, size, "%s", v->verdict[0].text);
        return buf;
    }
    if (v->regime == VIEW_STALLED) {
        snprintf(buf, size, "A collective is open for %s: nothing moves.", format_s(step, v->stalled_s));
        return buf;
    }
    if (!v->n_ranks) {
        snprintf(buf, size, "No rank has called MPI yet.");
        return buf;
    }
    if (isnan(f.step_mean_s)) {
        snprintf(buf, size, "%u ranks, no repeating step seen yet.", f.ranks);
        return buf;
    }
    if (isnan(f.mds))
        at = append(buf, size, 0, "Learning how steady %u ranks are", f.ranks);
    else
        at = append(buf, size, 0, "Nothing found above %.1f %% of a rank's work", 100 * (f.mds - 1));
    at = append(buf, size, at, ": a step takes %s", step);
    if (!isnan(f.synchronisation_ratio))
        append(buf, size, at, ", %.0f %% of the ranks' time is waiting for one another.",
               100 * f.synchronisation_ratio);
    else
        append(buf, size, at, ".");
    return buf;
}
