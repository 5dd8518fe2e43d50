/* view_finding.c - what is said of a finding: whom it names, and the evidence in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "detect/straggler.h"
#include "view/view_private.h"

#define CULPRITS_SHOWN 4u /* in a sentence */
#define SAME_EXCESS    0.01
#define LONGER_PERCENT 9.0 /* an excess of so much, and more, is a factor in words */
#define FACTOR_SIZE    16

size_t view_append(char *buf, size_t size, size_t at, const char *fmt, ...)
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

static void name_place(const struct view *v, const struct finding *f, struct view_verdict *d)
{
    if (d->n_culprits == VIEW_CULPRITS_MAX)
        return;
    if (f->scope == SCOPE_RANK)
        view_finding_add_rank(d, f->place);
    else
        snprintf(d->culprit[d->n_culprits++], sizeof(d->culprit[0]), "%s",
                 roster_place_name(v->roster, f->place));
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
    for (size_t i = 0; i < n; i++)
        name_place(v, list[i], d);
}

static uint32_t ranks_of(const struct view *v, const struct finding *f)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < roster_limit(v->roster); r++)
        n += roster_at(v->roster, r)->known &&
             (f->scope == SCOPE_NODE ? roster_at(v->roster, r)->node : roster_at(v->roster, r)->switch_id) ==
                 f->place;
    return n;
}

/* "rank 3 on node4"; a trace need not have the nodes. */
static size_t append_rank(const struct view *v, uint32_t rank, char *buf, size_t size)
{
    const char *node =
        rank < roster_limit(v->roster) ? roster_place_name(v->roster, roster_at(v->roster, rank)->node) : "";

    return view_append(buf, size, 0, "rank %u%s%s", rank, *node ? " on " : "", node);
}

/* "rank 3 on node4", "node4 (4 ranks)" */
static size_t append_culprit(const struct view *v, const struct finding *f, char *buf, size_t size)
{
    uint32_t n;

    if (f->scope == SCOPE_RANK)
        return append_rank(v, f->place, buf, size);
    n = ranks_of(v, f);
    return view_append(buf, size, 0, "%s%s (%u rank%s)", f->scope == SCOPE_SWITCH ? "switch " : "",
                       roster_place_name(v->roster, f->place), n, n == 1 ? "" : "s");
}

/* "node4 (4 ranks), node7 (4 ranks) and 2 more" */
static size_t append_culprits(const struct view *v, const struct finding *const *list, size_t n, char *buf,
                              size_t size)
{
    size_t shown = n > CULPRITS_SHOWN ? CULPRITS_SHOWN - 1 : n, at = 0;

    for (size_t i = 0; i < shown; i++) {
        char name[VIEW_CULPRIT_SIZE + 32];

        append_culprit(v, list[i], name, sizeof(name));
        at = view_append(buf, size, at, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " and ", name);
    }
    return shown < n ? view_append(buf, size, at, " and %zu more", n - shown) : at;
}

/* "39.1 % longer than its peers"; what takes ten times as long is no longer said in percent. */
static size_t append_longer(const struct finding *f, char *buf, size_t size, size_t at)
{
    char times[FACTOR_SIZE];

    if (f->excess < LONGER_PERCENT)
        return view_append(buf, size, at, "%.1f %% longer than its peers", 100 * f->excess);
    return view_append(buf, size, at, "%s times as long as its peers",
                       units_format_factor(times, sizeof(times), 1 + f->excess));
}

/* "waits 40.0 ms a step longer for its input than its peers", where that is most of what it is late by; else
 * nothing. */
static size_t append_input(const struct view *v, const struct finding *f, bool past, char *buf, size_t size,
                           size_t at)
{
    struct marked_longest m = step_marks_longest(v->marks, f->scope, f->place);
    double more_s = m.own_s - m.typical_s, late_s;

    if (m.phase != MARKS_INPUT)
        return at;
    late_s = steps_rank(v->steps, m.rank).compute_s * f->excess / (1 + f->excess);
    if (!(more_s > late_s / 2))
        return at;
    if (m.seen)
        return view_append(buf, size, at, "%s %s longer than its peers before each forward pass",
                           past ? "stood still" : "stands still", text_s(more_s).s);
    return view_append(buf, size, at, "%s %s a step longer for its input than its peers",
                       past ? "waited" : "waits", text_s(more_s).s);
}

static size_t append_last(const struct finding *f, bool past, char *buf, size_t size, size_t at)
{
    return view_append(buf, size, at, " and %s last in %.0f %% of the steps", past ? "was" : "is",
                       100 * f->last_ratio);
}

/* "node4 (4 ranks) computes 39.1 % longer than its peers and is last in 80 % of the steps" */
static size_t append_straggler(const struct view *v, const struct finding *f, bool past, char *buf,
                               size_t size)
{
    size_t begin = view_append(buf, size, append_culprit(v, f, buf, size), " "),
           at = append_input(v, f, past, buf, size, begin);

    if (at == begin)
        at = append_longer(f, buf, size, view_append(buf, size, at, past ? "computed " : "computes "));
    return append_last(f, past, buf, size, at);
}

/* "39.1 to 41.5 % longer than", "2.30 to 12.0 times as long as" */
static size_t append_excess(const struct finding *const *list, size_t n, char *buf, size_t size, size_t at)
{
    char from[FACTOR_SIZE], to[FACTOR_SIZE];
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < n; i++) {
        least = fmin(least, list[i]->excess);
        most = fmax(most, list[i]->excess);
    }
    units_format_factor(from, sizeof(from), 1 + least);
    units_format_factor(to, sizeof(to), 1 + most);
    if (most < LONGER_PERCENT)
        return most - least < SAME_EXCESS
                   ? view_append(buf, size, at, "%.1f %% longer than", 100 * most)
                   : view_append(buf, size, at, "%.1f to %.1f %% longer than", 100 * least, 100 * most);
    return !strcmp(from, to) ? view_append(buf, size, at, "%s times as long as", to)
                             : view_append(buf, size, at, "%s to %s times as long as", from, to);
}

/* Several places that hide one another. */
static size_t append_together(const struct view *v, const struct finding *const *list, size_t n, bool past,
                              char *buf, size_t size)
{
    size_t at = append_culprits(v, list, n, buf, size);

    at = view_append(buf, size, at, past ? " computed " : " compute ");
    at = append_excess(list, n, buf, size, at);
    return view_append(buf, size, at, " their peers, and one of them %s last in %.0f %% of the steps",
                       past ? "was" : "is", 100 * list[0]->last_ratio);
}

/* The ranks of a pipeline's stage, of all replicas. */
static size_t append_role(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    uint32_t n = 0, first = 0;

    for (uint32_t r = roster_limit(v->roster); r-- > 0;)
        if (call_steps_role(v->calls, r) == f->place) {
            first = r;
            n++;
        }
    if (n == 1)
        return view_append(
            buf, size, 0,
            "Uneven parts of the program, no single node: rank %u, which nobody shares its part with, %s %.0f %% more work than "
            "the others",
            first, past ? "had" : "has", 100 * f->excess);
    return view_append(
        buf, size, 0,
        "Uneven parts of the program, no single node: the %u ranks that do what rank %u does %s %.0f %% more "
        "work than the others",
        n, first, past ? "had" : "have", 100 * f->excess);
}

static size_t append_transfers(const struct view *v, const struct finding *f, bool past, char *buf,
                               size_t size)
{
    const char *take = past ? "took" : "take";
    char times[FACTOR_SIZE];

    units_format_factor(times, sizeof(times), 1 + f->excess);
    if (f->by_connections)
        return view_append(buf, size, 0,
                           "The collectives %s %s times as long as %s, held up by the network of %s%s%s",
                           take, times, f->class == FINDING_CONGESTION ? "usual" : "before",
                           roster_place_name(v->roster, f->place), f->scope == SCOPE_LINK ? " to " : "",
                           f->scope == SCOPE_LINK ? roster_place_name(v->roster, f->other) : "");
    if (f->scope == SCOPE_LINK)
        return view_append(buf, size, 0, "Transfers between %s and %s %s %s times as long as before",
                           roster_place_name(v->roster, f->place), roster_place_name(v->roster, f->other),
                           take, times);
    return view_append(buf, size, 0, "Transfers to and from %s %s %s times as long as before",
                       roster_place_name(v->roster, f->place), take, times);
}

size_t view_finding_text(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    const char *take = past ? "took" : "take";
    const struct finding *list[STRAGGLERS_MAX];
    size_t n = reported_with(v, f, list), at = 0;
    char times[FACTOR_SIZE];

    units_format_factor(times, sizeof(times), 1 + f->excess);
    if (n > 1)
        return append_together(v, list, n, past, buf, size);
    switch (f->class) {
    case FINDING_STRAGGLER:
        return append_straggler(v, f, past, buf, size);
    case FINDING_DRIFT:
        at = append_culprit(v, f, buf, size);
        at = view_append(buf, size, at, " %s longer and longer, %s ", past ? "computed" : "computes",
                         past ? "at the end" : "now");
        return append_last(f, past, buf, size, append_longer(f, buf, size, at));
    case FINDING_JITTER:
        return view_append(
            buf, size, 0,
            "Rare long delays %s single ranks, a different one each time: in %.0f %% of the steps, by %.0f %% of "
            "a step's work on average",
            past ? "held up" : "hold up", 100 * f->rate, 100 * f->excess);
    case FINDING_IMBALANCE:
        if (f->scope == SCOPE_RANKS)
            return append_role(v, f, past, buf, size);
        return view_append(buf, size, 0,
                           "Uneven work, no single node: every rank's work %s by ±%.0f %% from step to step",
                           past ? "varied" : "varies", 100 * f->excess);
    case FINDING_COMMUNICATION:
        if (f->scope != SCOPE_NONE)
            return append_transfers(v, f, past, buf, size);
        return view_append(buf, size, 0, "The collectives themselves %s %s times as long as before", take,
                           times);
    case FINDING_CONGESTION:
        if (f->by_connections)
            return append_transfers(v, f, past, buf, size);
        return view_append(buf, size, 0,
                           "The collectives %s slow in bursts (%.0f%s): they %s %s times as long as usual",
                           past ? "were" : "are", f->rate, past ? " in all" : " so far", take, times);
    case FINDING_OSCILLATION:
        return view_append(
            buf, size, 0,
            "All ranks together %s between fast and slow steps, every %.0f steps; the slow ones %s %.0f %% "
            "more work",
            past ? "alternated" : "alternate", f->rate, past ? "did" : "do", 100 * f->excess);
    case FINDING_HANG:
    case FINDING_LOST:
    case FINDING_CLASSES:
        break;
    }
    return at;
}

bool view_verdict_same(const struct view_verdict *a, const struct view_verdict *b)
{
    return a->finding.class == b->finding.class && !finding_stops(a->finding.class) &&
           a->finding.scope == b->finding.scope && a->n_culprits == b->n_culprits &&
           (!a->n_culprits || !strcmp(a->culprit[0], b->culprit[0]));
}

bool view_is_minor(double slowdown)
{
    return slowdown < VIEW_MINOR_SLOWDOWN;
}

double view_verdict_from_s(const struct view_verdict *d)
{
    return isnan(d->since_s) ? d->found_s : d->since_s;
}
