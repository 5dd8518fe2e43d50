#include "job/guarded.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "model/batch.h"
#include "model/deviate.h"

#define SURE       0.95  /* quantile on either side, for an interval of 90 % */
#define NOTHING    0.005 /* a smaller relative difference is not reported */
#define MEDIAN_VAR 1.571 /* variance of a median over that of a mean: pi / 2 */

static const char *const references[] = { "none", "hold-out", "before", "runs" };

const char *guarded_reference_name(enum guarded_reference r)
{
    return references[r];
}

static const struct guarded_ratio unknown = { NAN, NAN, NAN, GUARDED_NONE };

/* ---- hold-out: weighted by ranks, with an interval no narrower than those of the nodes ---- */

static struct guarded_ratio of_holdout(const struct guarded_lever *lever, size_t n)
{
    double value = 0, low = 0, high = 0, ranks = 0;

    for (size_t i = 0; i < n; i++) {
        if (!(lever[i].ratio > 0) || !(lever[i].low > 0) || !(lever[i].high > 0) || !(lever[i].ranks > 0))
            continue;
        value += lever[i].ranks * log(lever[i].ratio);
        low += lever[i].ranks * log(lever[i].low);
        high += lever[i].ranks * log(lever[i].high);
        ranks += lever[i].ranks;
    }
    if (!(ranks > 0))
        return unknown;
    return (struct guarded_ratio){ exp(value / ranks), exp(low / ranks), exp(high / ranks), GUARDED_HOLDOUT };
}

/* ---- before and since ---- */

/* A ratio of means; its error is by the delta method, with Student's t of the smaller number of degrees of
 * freedom. */
static struct guarded_ratio of_series(const struct guarded_series *s)
{
    struct batch_mean was, is;
    double error, t;

    if (!s->value || !s->before || s->before >= s->n)
        return unknown;
    was = batch_mean(s->value, s->before);
    is = batch_mean(s->value + s->before, s->n - s->before);
    if (was.known < GUARDED_COLUMNS_MIN || is.known < GUARDED_COLUMNS_MIN || !(was.value > 0) ||
        !(is.value > 0))
        return unknown;
    error = sqrt(was.variance / (was.value * was.value) + is.variance / (is.value * is.value));
    t = deviate_student(SURE, fmax(1, fmin(was.n, is.n) - 1));
    return (struct guarded_ratio){ is.value / was.value, is.value / was.value * exp(-t * error),
                                   is.value / was.value * exp(t * error), GUARDED_BEFORE };
}

/* ---- earlier runs ---- */

/* The interval includes the spread of the earlier runs and the error of their median. */
static struct guarded_ratio of_runs(double ratio, double spread, double runs)
{
    struct guarded_ratio r = { ratio, NAN, NAN, GUARDED_RUNS };

    if (!(ratio > 0))
        return unknown;
    if (runs >= 3 && spread >= 0) {
        double away = deviate_student(SURE, runs - 1) * spread * sqrt(1 + MEDIAN_VAR / runs);

        r.low = ratio * exp(-away);
        r.high = ratio * exp(away);
    }
    return r;
}

static struct guarded_ratio of_figure(const struct guarded_input *in, enum guarded_figure f)
{
    struct guarded_ratio r = of_series(&in->series[f]);

    if (r.reference)
        return r;
    return f == GUARDED_STEP     ? of_runs(in->runs.step, in->runs.spread, in->runs.runs)
           : f == GUARDED_CV     ? of_runs(in->runs.cv, NAN, in->runs.runs)
           : f == GUARDED_ENERGY ? of_runs(in->runs.energy, NAN, in->runs.runs)
                                 : unknown;
}

/* ---- comparison ---- */

bool guarded_selected(enum guarded_reference r)
{
    return r == GUARDED_BEFORE;
}

static void write_text(struct guarded *g)
{
    static const char *const what[] = { "", "in its own hold-out epochs", "before the first action",
                                        "in similar earlier runs, which may have been guarded, too" };
    const struct guarded_ratio *r = &g->ratio[GUARDED_STEP];
    bool known = !isnan(r->low), faster = known && r->high < 1 - NOTHING,
         slower = known && r->low > 1 + NOTHING;
    int at;

    if (!r->reference) {
        snprintf(g->text, sizeof(g->text), "There is no unguarded reference to compare with yet.");
        return;
    }
    at = snprintf(g->text, sizeof(g->text), "A step takes %.3g times what it took %s", r->value,
                  what[r->reference]);
    if (known)
        at += snprintf(g->text + at, sizeof(g->text) - (size_t)at, " (%.3g to %.3g)", r->low, r->high);
    snprintf(
        g->text + at, sizeof(g->text) - (size_t)at, "%s",
        faster && guarded_selected(r->reference)
            ? ". Actions are decided when a job is slow, so that part of this may have come without them."
        : faster ? ": the job is faster."
        : slower ? r->reference == GUARDED_RUNS ? ": the job is slower, which is not what the guard costs."
                                                : ": the job is slower."
        : known  ? ": no measurable difference."
                 : ".");
}

void guarded_compare(const struct guarded_input *in, struct guarded *out)
{
    struct guarded_ratio holdout = of_holdout(in->lever, in->n_levers), *step = &out->ratio[GUARDED_STEP];

    for (int f = 0; f < GUARDED_FIGURES; f++)
        out->ratio[f] = of_figure(in, (enum guarded_figure)f);
    if (holdout.reference)
        *step = holdout;
    if (holdout.reference || !out->ratio[GUARDED_THROUGHPUT].reference)
        out->ratio[GUARDED_THROUGHPUT] =
            (struct guarded_ratio){ 1 / step->value, 1 / step->high, 1 / step->low, step->reference };
    write_text(out);
}
