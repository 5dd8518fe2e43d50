/* view_run.c - the verdicts of a job that has ended: what cost it most comes first, also where it was over
 * before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "view/view_private.h"

#define ALL_ALONG 0.05 /* of the run: what began no later was there from its beginning ... */
#define FIRST     5u   /* ... as was what began in its first steps */

struct view_run {
    struct view_verdict verdict[VIEW_RAISED_MAX];
    size_t n;
};

/* The figures stay those of the one that cost more, of those whose places are known. */
static void join_verdicts(struct view_verdict *a, const struct view_verdict *other)
{
    struct view_verdict first = *a;
    const struct view_verdict *b = a->earlier && !other->earlier ? &first : other;
    bool began_first;
    double share;

    if (b == &first)
        *a = *other;
    began_first = view_verdict_from_s(b) < view_verdict_from_s(a);
    share = b->finding.saved_s / (a->finding.saved_s + b->finding.saved_s);
    a->finding.cost.low += share * (b->finding.cost.low - a->finding.cost.low);
    a->finding.cost.high += share * (b->finding.cost.high - a->finding.cost.high);
    a->finding.saved_s += b->finding.saved_s;
    a->over_s = fmax(a->over_s, b->over_s);
    a->finding.standing = a->finding.standing || b->finding.standing;
    a->times += b->times - (a->went_on || b->went_on);
    a->went_on = false;
    if (!began_first)
        return;
    a->finding.id = b->finding.id;
    a->finding.onset_seq = b->finding.onset_seq;
    a->finding.named_seq = b->finding.named_seq;
    a->since_step = b->since_step;
    a->found_step = b->found_step;
    a->since_s = b->since_s;
    a->found_s = b->found_s;
}

/* Did it stand at the end, and surely cost something then? */
static bool costs_at_end(const struct view *v, const struct view_verdict *d)
{
    const struct view_verdict *now;
    size_t n = view_verdicts_get(v, &now);

    for (size_t i = 0; i < n; i++)
        if (now[i].finding.id == d->finding.id)
            return !view_is_minor(finding_slowdown_interval(&now[i].finding).low) && !now[i].minor;
    return false;
}

/* ", from 6.10 s to 60.0 s of the run, 3 times; this cost 43.2 s of 98.1 s (44 %)" */
static void append_cost(const struct view *v, struct view_verdict *d, double run_s)
{
    double from_s = view_verdict_from_s(d) - presence_began_s(v->presence),
           to_s = d->over_s - presence_began_s(v->presence);
    struct text from = text_s(fmax(0, from_s));
    char lost[48];

    if (!d->finding.standing)
        text_append(d->text, sizeof(d->text), ", from %s to %s of the run", from.s, text_s(to_s).s);
    else if (from_s > ALL_ALONG * run_s && d->finding.onset_step > FIRST)
        text_append(d->text, sizeof(d->text), ", from %s of the run on", from.s);
    if (d->times > 1)
        text_append(d->text, sizeof(d->text), ", %u times", d->times);
    text_append(d->text, sizeof(d->text), "; this cost %s of %s (%s)", text_s(d->finding.saved_s).s,
                text_s(run_s).s, finding_lost_text(&d->finding, true, lost, sizeof(lost)));
    if (d->finding.alone >= 1)
        text_append(d->text, sizeof(d->text), ", and mending only one of them would have gained at most %s",
                    text_percent(1 - 1 / d->finding.alone).s);
}

static void settle_verdict(const struct view *v, double now_s, struct view_verdict *d)
{
    double run_s = presence_run_s(v->presence, now_s),
           step_s = d->finding.duty == DUTY_STEPS ? diagnosis_finding_step_s(v->diagnosis, &d->finding) : 0,
           run_ratio = (run_s + step_s) / run_s;

    d->finding.saved_s = fmin(d->finding.saved_s, run_s);
    d->finding.alone = view_verdict_alone(&d->finding, run_s);
    d->finding.slowdown = finding_slowdown(run_s, d->finding.saved_s);
    /* What ran before the job's first call and after its last one is not seen, at most a step each: the run
     * was longer than it seems, and cost as much more at its end as while the verdict had stood. */
    d->finding.cost.low /= run_ratio;
    if (d->finding.standing)
        d->finding.cost.high *= fmax(1, (1 + step_s / (now_s - view_verdict_from_s(d))) / run_ratio);
    d->minor = d->finding.slowdown < INFINITY && view_is_minor(d->finding.slowdown) && !costs_at_end(v, d);
    if (!d->earlier && !finding_stops(d->finding.class))
        view_finding_text(v, &d->finding, true, d->text, sizeof(d->text));
    if (d->earlier || !finding_stops(d->finding.class) || !d->finding.standing)
        append_cost(v, d, run_s);
}

void view_run_take(struct view *v, double now_s)
{
    const struct view_verdict *raised;
    size_t n = view_verdicts_raised(v, &raised);
    struct view_run *s = v->run ? v->run : xcalloc(1, sizeof(*s));

    v->run = s;
    s->n = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;

        while (at < s->n && !view_verdict_same(&s->verdict[at], &raised[i]))
            at++;
        if (at < s->n)
            join_verdicts(&s->verdict[at], &raised[i]);
        else
            s->verdict[s->n++] = raised[i];
    }
    for (size_t i = 0; i < s->n; i++)
        settle_verdict(v, now_s, &s->verdict[i]);
    if (s->n)
        qsort(s->verdict, s->n, sizeof(s->verdict[0]), view_verdict_by_cost);
}

char *view_verdict_past(const struct view *v, const struct view_verdict *d, char *buf, size_t size)
{
    if (d->earlier || finding_stops(d->finding.class))
        snprintf(buf, size, "%s", d->text);
    else
        view_finding_text(v, &d->finding, true, buf, size);
    return buf;
}

const char *view_run_sentence(const struct view *v)
{
    for (size_t i = 0; v->run && i < v->run->n; i++)
        if (!v->run->verdict[i].minor)
            return v->run->verdict[i].text;
    return NULL;
}

size_t view_verdicts_reported(const struct view *v, const struct view_verdict **verdicts)
{
    if (!v->run)
        return view_verdicts_get(v, verdicts);
    *verdicts = v->run->verdict;
    return v->run->n;
}
