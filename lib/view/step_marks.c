#include "view/step_marks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define FADE_S 10.0 /* the weight of steps, by their age */
/* values of a rank; numbers of steps are exact as numbers of JSON */
#define GIVEN_MAX (UINT64_C(1) << 53)
/* a rank is reported where it takes so many times the median of all ... */
#define DEVIATES       1.25
#define DEVIATES_SHARE 0.01 /* ... and longer by this share of a step */

struct rank_marks {
    bool marks; /* its steps or phases */
    bool seen;  /* by a guest: the program marks none */
    uint8_t used, phase;
    double phase_since_s;
    double at_s, steps, step_s, phase_s[MARKS_PHASES]; /* when the newest step came; sums, which fade */
    struct marks_series value[MARKS_VALUES];           /* given 0: not reported */
};

struct step_marks {
    struct quota *quota;
    struct roster *roster;
    const struct presence *presence;
    struct events *events;
    struct rank_marks *rank;
    size_t n, cap;
    bool values;                     /* a rank reports some */
    uint32_t non_finite;             /* values of ranks that are not finite */
    struct view_non_finite reported; /* the earliest of them that an event has named; ranks 0: none */
    bool over;                       /* all are finite again, and no event has reported it yet */
};

struct step_marks *step_marks_new(struct quota *quota, struct roster *roster, const struct presence *presence,
                                  struct events *events)
{
    struct step_marks *s = xcalloc(1, sizeof(*s));

    s->quota = quota;
    s->roster = roster;
    s->presence = presence;
    s->events = events;
    return s;
}

void step_marks_free(struct step_marks *s)
{
    free(s->rank);
    free(s);
}

void step_marks_forget(struct step_marks *s)
{
    s->n = 0;
    s->values = false;
    s->non_finite = 0;
    s->reported = (struct view_non_finite){ 0 };
    s->over = false;
}

/* ---- items ---- */

/* NULL: the rank is unknown. */
static struct rank_marks *marks_of(struct step_marks *s, uint32_t rank, uint16_t app)
{
    if (!roster_find(s->roster, rank, app))
        return NULL;
    if (rank >= s->n) {
        s->rank = xgrow(s->rank, &s->cap, rank + 1, sizeof(*s->rank));
        memset(s->rank + s->n, 0, (rank + 1 - s->n) * sizeof(*s->rank));
        s->n = rank + 1;
    }
    return &s->rank[rank];
}

static bool adds_up(const struct phases_item *i)
{
    uint64_t left_ns = i->duration_ns;

    if (i->duration_ns > QUOTA_TIME_MAX_NS || i->age_ns > QUOTA_TIME_MAX_NS || (!i->steps && i->duration_ns))
        return false;
    for (int p = 0; p < MARKS_PHASES; p++) {
        if (i->phase_ns[p] > left_ns)
            return false;
        left_ns -= i->phase_ns[p];
    }
    return left_ns == 0;
}

/* Where a program marks phases itself, what a guest sees of them does not count. */
static bool supersedes(const struct rank_marks *m, const struct phases_item *i)
{
    bool seen = i->used & MARKS_SEEN;

    return !m->marks || m->seen == seen || (m->seen ? i->used != 0 : !m->used);
}

void step_marks_take_phases(struct step_marks *s, double now_s, const struct phases_item *i)
{
    struct rank_marks *m;
    double fade;

    if (!adds_up(i)) {
        s->quota->refused++;
        return;
    }
    if (!(m = marks_of(s, i->rank, i->app)) || !supersedes(m, i))
        return;
    if (m->marks && m->seen != !!(i->used & MARKS_SEEN))
        m->steps = 0;
    m->marks = true;
    m->seen = i->used & MARKS_SEEN;
    m->used = i->used & ~(unsigned)MARKS_SEEN;
    m->phase = i->phase;
    m->phase_since_s = now_s - (double)i->age_ns * 1e-9;
    if (!i->steps) /* the newest step stays, whatever its age */
        return;
    fade = m->steps > 0 ? exp(-fmax(now_s - m->at_s, 0) / FADE_S) : 0;
    m->at_s = now_s;
    m->steps = fade * m->steps + i->steps;
    m->step_s = fade * m->step_s + (double)i->duration_ns * 1e-9;
    for (int p = 0; p < MARKS_PHASES; p++)
        m->phase_s[p] = fade * m->phase_s[p] + (double)i->phase_ns[p] * 1e-9;
}

static bool earlier(uint64_t step, enum marks_value value, const struct view_non_finite *than)
{
    return !than->ranks || step < than->step || (step == than->step && value < than->value);
}

void step_marks_take_value(struct step_marks *s, const struct value_item *i)
{
    struct rank_marks *m;
    struct marks_series *k;
    bool was;

    if (i->given > GIVEN_MAX || i->non_finite > i->given || i->since > i->given ||
        !isfinite(i->newest) != (i->since != 0)) {
        s->quota->refused++;
        return;
    }
    if (!(m = marks_of(s, i->rank, i->app)))
        return;
    k = &m->value[i->value];
    if (i->given < k->given) /* older than what is known */
        return;
    was = k->since != 0;
    *k = (struct marks_series){ i->given, i->non_finite, i->since, i->newest };
    s->values = s->values || i->given;
    s->non_finite = s->non_finite + (k->since != 0) - was;
    if (was && !s->non_finite && s->reported.ranks) {
        s->over = true;
        s->reported.ranks = 0;
    }
}

/* Reports the earliest so far: items of several nodes come in any order.  Once a tick, because values may
 * turn with each item. */
void step_marks_roll(struct step_marks *s, double now_s)
{
    struct view_non_finite n;

    if (!step_marks_non_finite(s, &n)) {
        if (s->over)
            events_add(s->events, now_s, "", "loss and gradient norm are finite again");
    } else if (earlier(n.step, n.value, &s->reported)) {
        s->reported = n;
        events_add(s->events, now_s, "non_finite", "%s", n.text);
    }
    s->over = false;
}

/* ---- phases ---- */

/* Of one phase, or (MARKS_PHASES) of whole steps; value has room for all ranks. */
static struct view_phase_time time_of(const struct step_marks *s, int phase, double *value)
{
    struct view_phase_time t = { .median_s = NAN, .least_s = NAN, .most_s = NAN };

    for (uint32_t r = 0; r < s->n; r++) {
        const struct rank_marks *m = &s->rank[r];
        double x;

        if (!m->marks || !(m->steps > 0) || (phase == MARKS_OTHER && !m->used) ||
            (phase > MARKS_OTHER && phase < MARKS_PHASES && !(m->used & 1u << phase)))
            continue;
        x = (phase < MARKS_PHASES ? m->phase_s[phase] : m->step_s) / m->steps;
        if (!t.ranks || x < t.least_s)
            t.least_s = x;
        if (!t.ranks || x > t.most_s) {
            t.most_s = x;
            t.most_rank = r;
        }
        value[t.ranks++] = x;
    }
    if (t.ranks)
        t.median_s = statistics_median(value, t.ranks);
    return t;
}

bool step_marks_get(const struct step_marks *s, struct view_marked *m)
{
    double *value = xcalloc(s->n + 1, sizeof(*value));

    m->seen = false;
    for (size_t r = 0; r < s->n; r++)
        m->seen = m->seen || (s->rank[r].steps > 0 && s->rank[r].seen);
    m->step = time_of(s, MARKS_PHASES, value);
    for (int p = 0; p < MARKS_PHASES; p++)
        m->phase[p] = time_of(s, p, value);
    free(value);
    return m->step.ranks > 0;
}

enum marks_phase step_marks_phase(const struct step_marks *s, double now_s, uint32_t rank, double *age_s)
{
    const struct rank_marks *m = rank < s->n ? &s->rank[rank] : NULL;

    if (!m || !m->marks || !m->used || roster_at(s->roster, rank)->ended)
        return MARKS_PHASES;
    *age_s = fmax(0, now_s - m->phase_since_s);
    return (enum marks_phase)m->phase;
}

bool view_phase_deviates(const struct view_marked *m, enum marks_phase phase, double rank_s)
{
    double median_s = m->phase[phase].median_s;

    return rank_s > DEVIATES * median_s && rank_s - median_s > DEVIATES_SHARE * m->step.median_s;
}

static const char *source(bool seen)
{
    return seen ? "as PyTorch's calls show" : "by its own marks";
}

/* What it takes longer for than others; what is in no phase is work between two steps only where a guest saw
 * the phases.  MARKS_PHASES: nothing. */
static enum marks_phase longest(const struct rank_marks *m, const struct view_marked *all)
{
    enum marks_phase worst = MARKS_PHASES;
    double excess_s = 0;

    for (int p = m->seen ? MARKS_OTHER : MARKS_INPUT; p < MARKS_PHASES; p++) {
        double own_s = m->phase_s[p] / m->steps, more_s = own_s - all->phase[p].median_s;

        if ((p != MARKS_OTHER && !(m->used & 1u << p)) ||
            !view_phase_deviates(all, (enum marks_phase)p, own_s) || more_s <= excess_s)
            continue;
        worst = (enum marks_phase)p;
        excess_s = more_s;
    }
    return worst;
}

struct marked_longest step_marks_longest(const struct step_marks *s, enum finding_scope scope, uint32_t place)
{
    struct marked_longest l = { .phase = MARKS_PHASES };
    struct view_marked all;

    if ((scope != SCOPE_RANK && scope != SCOPE_NODE) || !step_marks_get(s, &all))
        return l;
    for (uint32_t r = 0; r < s->n; r++) {
        const struct rank_marks *m = &s->rank[r];
        enum marks_phase its;

        if (!(m->steps > 0) || (scope == SCOPE_RANK ? r : roster_at(s->roster, r)->node) != place)
            continue;
        its = longest(m, &all);
        if (its == MARKS_PHASES || (l.n && its != l.phase))
            return (struct marked_longest){ .phase = MARKS_PHASES };
        l.phase = its;
        l.own_s += (m->phase_s[its] / m->steps - l.own_s) / ++l.n;
        l.typical_s = all.phase[its].median_s;
        l.rank = r;
        l.seen = m->seen;
    }
    return l;
}

/* "it waits 50.0 ms a step for input, the typical rank 10.0 ms, by its own marks" */
void step_marks_cause(const struct step_marks *s, enum finding_scope scope, uint32_t place, char *buf,
                      size_t size)
{
    struct marked_longest l = step_marks_longest(s, scope, place);
    struct text own = text_s(l.own_s), typical = text_s(l.typical_s);
    const char *ending = l.n == 1 ? "s" : "";
    char who[32] = "it";

    if (l.phase == MARKS_PHASES)
        return;
    if (scope == SCOPE_NODE)
        snprintf(who, sizeof(who), l.n == 1 ? "rank %u" : "its %u ranks", l.n == 1 ? l.rank : l.n);
    text_append(buf, size, "%s", *buf ? "; " : "");
    if (l.phase == MARKS_INPUT && l.seen)
        text_append(
            buf, size,
            "%s stand%s still for %s before each forward pass (waiting for input?), the typical rank for %s",
            who, ending, own.s, typical.s);
    else if (l.phase == MARKS_INPUT)
        text_append(buf, size, "%s wait%s %s a step for input, the typical rank %s", who, ending, own.s,
                    typical.s);
    else if (l.phase == MARKS_OTHER)
        text_append(
            buf, size,
            "%s work%s for %s before each forward pass (optimizer, preparing input), the typical rank for %s",
            who, ending, own.s, typical.s);
    else
        text_append(buf, size, "%s takes %s %s a step, the typical rank %s", marks_phase_name(l.phase), who,
                    own.s, typical.s);
    text_append(buf, size, ", %s", source(l.seen));
}

void step_marks_inside(const struct step_marks *s, double now_s, uint32_t rank, char *buf, size_t size)
{
    double age_s;
    enum marks_phase phase = step_marks_phase(s, now_s, rank, &age_s);

    if (phase != MARKS_PHASES && phase != MARKS_OTHER)
        text_append(buf, size, "%s%s it is in the phase %s of its step", *buf ? "; " : "",
                    source(s->rank[rank].seen), marks_phase_name(phase));
}

/* ---- values ---- */

bool step_marks_value(const struct step_marks *s, enum marks_value value, struct view_value *out)
{
    double *x = xcalloc(s->n + 1, sizeof(*x));
    uint32_t n = 0;

    *out = (struct view_value){ .median = NAN, .least = NAN, .most = NAN };
    for (uint32_t r = 0; r < s->n; r++) {
        const struct marks_series *k = &s->rank[r].value[value];

        if (!k->given)
            continue;
        out->ranks++;
        out->step = k->given > out->step ? k->given : out->step;
        out->non_finite += k->since != 0;
        if (k->since)
            continue;
        out->least = n && out->least < k->newest ? out->least : k->newest;
        out->most = n && out->most > k->newest ? out->most : k->newest;
        x[n++] = k->newest;
    }
    if (n)
        out->median = statistics_median(x, n);
    free(x);
    return out->ranks > 0;
}

bool step_marks_values_known(const struct step_marks *s)
{
    return s->values;
}

bool step_marks_any_non_finite(const struct step_marks *s)
{
    return s->non_finite > 0;
}

/* "The loss of rank 2 on node4 is not a finite number since step 412" */
static void write_text(const struct step_marks *s, struct view_non_finite *n)
{
    static const char *const words[MARKS_VALUES] = {
        [MARKS_LOSS] = "loss", [MARKS_GRAD_NORM] = "norm of the gradient"
    };
    const char *node = roster_place_name(s->roster, roster_at(s->roster, n->rank)->node),
               *is = presence_finished(s->presence) ? "was" : "is";

    if (n->ranks == 1)
        snprintf(n->text, sizeof(n->text), "The %s of rank %u%s%s %s not a finite number since step %llu",
                 words[n->value], n->rank, *node ? " on " : "", node, is, (unsigned long long)n->step);
    else
        snprintf(
            n->text, sizeof(n->text),
            "The %s %s not a finite number since step %llu, on rank %u and %u other%s alike: on which of them it began "
            "cannot be told",
            words[n->value], is, (unsigned long long)n->step, n->rank, n->ranks - 1,
            n->ranks == 2 ? "" : "s");
}

bool step_marks_non_finite(const struct step_marks *s, struct view_non_finite *n)
{
    *n = (struct view_non_finite){ 0 };
    for (uint32_t r = 0; s->non_finite && r < s->n; r++)
        for (int i = 0; i < MARKS_VALUES; i++) {
            const struct marks_series *k = &s->rank[r].value[i];

            if (!k->since)
                continue;
            if (earlier(k->since, (enum marks_value)i, n))
                *n = (struct view_non_finite){ .value = (enum marks_value)i, .step = k->since, .rank = r };
            n->ranks += k->since == n->step && (enum marks_value)i == n->value;
        }
    if (!n->ranks)
        return false;
    write_text(s, n);
    return true;
}
