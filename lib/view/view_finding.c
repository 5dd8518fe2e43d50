/* view_finding.c - what is said of a finding: whom it names, and the evidence in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "detect/straggler.h"
#include "ring/ring.h"
#include "view/view_private.h"

#define CULPRITS_SHOWN 4u /* in a sentence */
#define SAME_EXCESS    0.01
#define LONGER_PERCENT 9.0 /* an excess of so much, and more, is a factor in words */
#define FACTOR_SIZE    16
#define NEARLY_ALL     0.95

void view_finding_add_rank(struct view_verdict *d, uint32_t rank)
{
    if (d->n_culprits < VIEW_CULPRITS_MAX)
        snprintf(d->culprit[d->n_culprits++], sizeof(d->culprit[0]), "r%u", rank);
}

/* A finding and those that are reported with it; returns how many, at most STRAGGLERS_MAX. */
static size_t reported_with(const struct view *v, const struct finding *f,
                            const struct finding *list[STRAGGLERS_MAX])
{
    const struct finding *all;
    size_t found = diagnosis_findings(v->diagnosis, &all), n = 0;

    list[n++] = f;
    for (size_t i = 0; i < found && n < STRAGGLERS_MAX; i++)
        if (all[i].with == f->id && all[i].id != f->id && all[i].standing == f->standing)
            list[n++] = &all[i];
    return n;
}

void view_finding_culprits(const struct view *v, const struct finding *f, struct view_verdict *d)
{
    const struct finding *list[STRAGGLERS_MAX];
    size_t n;

    if (f->scope == SCOPE_NONE)
        return;
    if (f->scope == SCOPE_RANKS) {
        for (uint32_t r = 0; r < roster_limit(v->roster); r++)
            if (call_steps_role(v->calls, r) == f->place)
                view_finding_add_rank(d, r);
        return;
    }
    if (f->scope == SCOPE_LINK) {
        const char *a = roster_place_name(v->roster, f->place), *b = roster_place_name(v->roster, f->other);
        bool turned = strverscmp(a, b) > 0;

        snprintf(d->culprit[0], sizeof(d->culprit[0]), "%s-%s", turned ? b : a, turned ? a : b);
        d->n_culprits = 1;
        return;
    }
    n = reported_with(v, f, list);
    for (size_t i = 0; i < n && d->n_culprits < VIEW_CULPRITS_MAX; i++)
        if (list[i]->scope == SCOPE_RANK)
            view_finding_add_rank(d, list[i]->place);
        else
            snprintf(d->culprit[d->n_culprits++], sizeof(d->culprit[0]), "%s",
                     roster_place_name(v->roster, list[i]->place));
}

/* "rank 3 on node4" (a trace need not have the nodes), "node4 (4 ranks)" */
static void append_culprit(const struct view *v, const struct finding *f, char *buf, size_t size)
{
    const char *node;
    uint32_t n = 0;

    if (f->scope == SCOPE_RANK) {
        node = f->place < roster_limit(v->roster)
                   ? roster_place_name(v->roster, roster_at(v->roster, f->place)->node)
                   : "";
        text_append(buf, size, "rank %u%s%s", f->place, *node ? " on " : "", node);
        return;
    }
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct view_rank *k = roster_at(v->roster, r);

        n += k->known && (f->scope == SCOPE_NODE ? k->node : k->switch_id) == f->place;
    }
    text_append(buf, size, "%s%s (%u rank%s)", f->scope == SCOPE_SWITCH ? "switch " : "",
                roster_place_name(v->roster, f->place), n, text_plural(n));
}

/* "39.1 % longer than its peers"; what takes ten times as long is no longer said in percent. */
static void append_longer(const struct finding *f, char *buf, size_t size)
{
    char times[FACTOR_SIZE];

    if (f->excess < LONGER_PERCENT)
        text_append(buf, size, "%.1f %% longer than its peers", 100 * f->excess);
    else
        text_append(buf, size, "%s times as long as its peers",
                    units_format_factor(times, sizeof(times), 1 + f->excess));
}

/* "4 of the 8", "all 8", "the one" */
static const char *some_of(uint32_t some, uint32_t n, char *buf, size_t size)
{
    if (some < n)
        snprintf(buf, size, "%u of the %u", some, n);
    else if (n > 1)
        snprintf(buf, size, "all %u", n);
    else
        snprintf(buf, size, "the one");
    return buf;
}

/* ", nearly all of it in front of 4 of the 8 alltoall calls of a step,", where a part of the step is slow. */
static void append_phase(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    struct slow_phase p;
    char some[32];
    const char *s;

    if (!call_steps_phase(v->calls, f->scope, f->place, &p))
        return;
    s = text_plural(p.n);
    text_append(buf, size, ", %s of it ", p.share > NEARLY_ALL ? "nearly all" : "most");
    if (!p.alike)
        text_append(buf, size, "in %u of the %u parts of a step,", p.pieces, p.n);
    else if (p.message)
        text_append(buf, size, "in front of %s message%s that it %s a step,",
                    some_of(p.pieces, p.n, some, sizeof(some)), s,
                    p.sends ? past ? "sent" : "sends"
                    : past  ? "received"
                            : "receives");
    else
        text_append(buf, size, "in front of %s %s call%s of a step,",
                    some_of(p.pieces, p.n, some, sizeof(some)), ring_op_name((enum ring_op)p.op), s);
}

/* "waits 40.0 ms a step longer for its input than its peers", where that is most of what it is late by; else
 * nothing, and false. */
static bool append_input(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    struct marked_longest m = step_marks_longest(v->marks, f->scope, f->place);
    double more_s = m.own_s - m.typical_s, late_s;

    if (m.phase != MARKS_INPUT)
        return false;
    late_s = steps_rank(v->steps, m.rank).compute_s * f->excess / (1 + f->excess);
    if (!(more_s > late_s / 2))
        return false;
    if (m.seen)
        text_append(buf, size, "%s %s longer than its peers before each forward pass",
                    past ? "stood still" : "stands still", text_s(more_s).s);
    else
        text_append(buf, size, "%s %s a step longer for its input than its peers", past ? "waited" : "waits",
                    text_s(more_s).s);
    return true;
}

static void append_last(const struct finding *f, bool past, char *buf, size_t size)
{
    text_append(buf, size, " and %s last in %.0f %% of the steps", past ? "was" : "is", 100 * f->last_ratio);
}

/* "rank 0 on node1 is late in one step of 30, again and again, by 7.1 times a step's work on average" */
static void append_recurring(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    append_culprit(v, f, buf, size);
    text_append(buf, size, past ? " was late in " : " is late in ");
    if (f->period == 2)
        text_append(buf, size, "every second step");
    else if (f->period == 3)
        text_append(buf, size, "every third step");
    else if (f->period)
        text_append(buf, size, "one step of %u, again and again", f->period);
    else
        text_append(buf, size, "%.*f %% of the steps", f->rate < 0.1, 100 * f->rate);
    if (f->excess < 1)
        text_append(buf, size, ", by %.0f %% of a step's work on average", 100 * f->excess);
    else
        text_append(buf, size, ", by %.1f times a step's work on average", f->excess);
}

/* "39.1 to 41.5 % longer than", "2.30 to 12.0 times as long as" */
static void append_excess(const struct finding *const *list, size_t n, char *buf, size_t size)
{
    char from[FACTOR_SIZE], to[FACTOR_SIZE];
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, list[i]->excess);
        most = fmax(most, list[i]->excess);
    }
    units_format_factor(from, sizeof(from), 1 + least);
    units_format_factor(to, sizeof(to), 1 + most);
    if (most < LONGER_PERCENT && most - least < SAME_EXCESS)
        text_append(buf, size, "%.1f %% longer than", 100 * most);
    else if (most < LONGER_PERCENT)
        text_append(buf, size, "%.1f to %.1f %% longer than", 100 * least, 100 * most);
    else if (!strcmp(from, to))
        text_append(buf, size, "%s times as long as", to);
    else
        text_append(buf, size, "%s to %s times as long as", from, to);
}

/* Several places that hide one another: "node4 (4 ranks), node7 (4 ranks) and 2 more compute ..." */
static void append_together(const struct view *v, const struct finding *const *list, size_t n, bool past,
                            char *buf, size_t size)
{
    size_t shown = n > CULPRITS_SHOWN ? CULPRITS_SHOWN - 1 : n;

    for (size_t i = 0; i < shown; i++) {
        text_append(buf, size, "%s", i == 0 ? "" : i + 1 < n ? ", " : " and ");
        append_culprit(v, list[i], buf, size);
    }
    if (shown < n)
        text_append(buf, size, " and %zu more", n - shown);
    text_append(buf, size, past ? " computed " : " compute ");
    append_excess(list, n, buf, size);
    text_append(buf, size, " their peers, and one of them %s last in %.0f %% of the steps",
                past ? "was" : "is", 100 * list[0]->last_ratio);
}

/* The ranks of a pipeline's stage, of all replicas. */
static void append_role(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    uint32_t n = 0, first = 0;

    for (uint32_t r = roster_limit(v->roster); r-- > 0;)
        if (call_steps_role(v->calls, r) == f->place) {
            first = r;
            n++;
        }
    text_append(buf, size, "Uneven parts of the program, no single node: ");
    if (!n) /* roles were found anew since, or their ranks have ended */
        text_append(buf, size, "ranks that do the same %s %.0f %% more work than the others",
                    past ? "had" : "have", 100 * f->excess);
    else if (n == 1)
        text_append(buf, size,
                    "rank %u, which nobody shares its part with, %s %.0f %% more work than the others", first,
                    past ? "had" : "has", 100 * f->excess);
    else if (call_steps_is_part(v->calls, f->place))
        text_append(
            buf, size,
            "the %u ranks at the place of rank %u in their groups %s %.0f %% more work than the others", n,
            first, past ? "had" : "have", 100 * f->excess);
    else
        text_append(buf, size, "the %u ranks that do what rank %u does %s %.0f %% more work than the others",
                    n, first, past ? "had" : "have", 100 * f->excess);
}

static void append_transfers(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    const char *take = past ? "took" : "take", *place = roster_place_name(v->roster, f->place),
               *other = f->scope == SCOPE_LINK ? roster_place_name(v->roster, f->other) : "";
    char times[FACTOR_SIZE];

    units_format_factor(times, sizeof(times), 1 + f->excess);
    if (f->by_connections)
        text_append(buf, size, "The collectives %s %s times as long as %s, held up by the network of %s%s%s",
                    take, times, f->class == FINDING_CONGESTION ? "usual" : "before", place,
                    f->scope == SCOPE_LINK ? " to " : "", other);
    else if (finding_has_two_speeds(f))
        text_append(
            buf, size,
            "From the start some messages between %s and %s %s %s times as long as those between other "
            "nodes that do the same, while others between the two %s not",
            place, other, take, times, past ? "did" : "do");
    else if (f->rate > 0)
        text_append(buf, size,
                    "From the start messages to and from %s %s %s times as long as those between other "
                    "nodes that do the same",
                    place, take, times);
    else if (f->scope == SCOPE_LINK)
        text_append(buf, size, "Transfers between %s and %s %s %s times as long as before", place, other,
                    take, times);
    else
        text_append(buf, size, "Transfers to and from %s %s %s times as long as before", place, take, times);
}

/* "The collectives of communicator dp3 (8 ranks) take 3.10 times as long as before, while those of other
 * communicators between the same nodes do not" */
static void append_collectives(const struct view *v, const struct finding *f, bool past, char *buf,
                               size_t size)
{
    char label[64], times[FACTOR_SIZE];
    uint32_t n = f->comm ? communicators_size(v->communicators, f->comm) : 0;

    text_append(buf, size, "The collectives ");
    if (f->comm)
        text_append(buf, size, "of communicator %s ",
                    communicators_label(v->communicators, f->comm, label, sizeof(label)));
    else
        text_append(buf, size, "themselves ");
    if (n)
        text_append(buf, size, "(%u ranks) ", n);
    text_append(buf, size, "%s %s times as long as before", past ? "took" : "take",
                units_format_factor(times, sizeof(times), 1 + f->excess));
    if (f->comm)
        text_append(buf, size, ", while those of other communicators between the same nodes %s",
                    past ? "did not" : "do not");
}

void view_finding_text(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    const char *take = past ? "took" : "take";
    const struct finding *list[STRAGGLERS_MAX];
    size_t n = reported_with(v, f, list);
    char times[FACTOR_SIZE];

    units_format_factor(times, sizeof(times), 1 + f->excess);
    buf[0] = '\0';
    if (n > 1) {
        append_together(v, list, n, past, buf, size);
        return;
    }
    switch (f->class) {
    case FINDING_STRAGGLER: /* "node4 (4 ranks) computes 39.1 % longer than its peers and is last in ..." */
        if (f->duty != DUTY_STEPS) {
            view_updates_append(v, f, past, buf, size);
            break;
        }
        if (!isnan(f->rate)) {
            append_recurring(v, f, past, buf, size);
            break;
        }
        append_culprit(v, f, buf, size);
        text_append(buf, size, " ");
        if (!append_input(v, f, past, buf, size)) {
            text_append(buf, size, past ? "computed " : "computes ");
            append_longer(f, buf, size);
            append_phase(v, f, past, buf, size);
        }
        append_last(f, past, buf, size);
        break;
    case FINDING_DRIFT:
        append_culprit(v, f, buf, size);
        text_append(buf, size, " %s longer and longer, %s ", past ? "computed" : "computes",
                    past ? "at the end" : "now");
        append_longer(f, buf, size);
        append_last(f, past, buf, size);
        break;
    case FINDING_JITTER:
        text_append(
            buf, size,
            "Rare long delays %s single ranks, a different one each time: in %.0f %% of the steps, by %.0f %% of "
            "a step's work on average",
            past ? "held up" : "hold up", 100 * f->rate, 100 * f->excess);
        break;
    case FINDING_IMBALANCE:
        if (f->scope == SCOPE_RANKS)
            append_role(v, f, past, buf, size);
        else if (!isnan(f->rate))
            text_append(
                buf, size,
                "Uneven work, no single node: some ranks of a group %s %.0f %% more work than its others, in "
                "turns",
                past ? "had" : "have", 100 * f->excess);
        else
            text_append(buf, size,
                        "Uneven work, no single node: every rank's work %s by ±%.0f %% from step to step",
                        past ? "varied" : "varies", 100 * f->excess);
        break;
    case FINDING_COMMUNICATION:
        if (f->scope != SCOPE_NONE)
            append_transfers(v, f, past, buf, size);
        else
            append_collectives(v, f, past, buf, size);
        break;
    case FINDING_CONGESTION:
        if (f->by_connections)
            append_transfers(v, f, past, buf, size);
        else
            text_append(buf, size,
                        "The collectives %s slow in bursts (%.0f%s): they %s %s times as long as usual",
                        past ? "were" : "are", f->rate, past ? " in all" : " so far", take, times);
        break;
    case FINDING_OSCILLATION:
        text_append(
            buf, size,
            "All ranks together %s between fast and slow steps, every %.0f steps; the slow ones %s %.0f %% "
            "more work",
            past ? "alternated" : "alternate", f->rate, past ? "did" : "do", 100 * f->excess);
        break;
    case FINDING_HANG:
    case FINDING_LOST:
    case FINDING_CLASSES:
        break;
    }
}

bool view_verdict_same(const struct view_verdict *a, const struct view_verdict *b)
{
    for (uint32_t i = 0; i < a->n_culprits && i < b->n_culprits; i++)
        if (strcmp(a->culprit[i], b->culprit[i]) != 0)
            return false;
    return a->finding.class == b->finding.class && !finding_stops(a->finding.class) &&
           a->finding.scope == b->finding.scope && a->n_culprits == b->n_culprits;
}

bool view_is_minor(double slowdown)
{
    return slowdown < VIEW_MINOR_SLOWDOWN;
}

double view_verdict_from_s(const struct view_verdict *d)
{
    return isnan(d->since_s) ? d->found_s : d->since_s;
}
