#include "rules/cadence.h"

#include <math.h>
#include <string.h>

#include "model/cadence.h"
#include "model/deviate.h"
#include "model/statistics.h"

#define HUBER       5.0
#define CONFIDENCE  0.95 /* quantile on either side, for an interval of 90 % */
#define LONGEST     3.0  /* deviations */
#define LONGEST_MIN 1.1  /* of the mean, also when all writes took the same time */

static const char *const reasons[] = { "optimum", "maximum", "time limit", "preemption" };

const char *cadence_reason_name(enum cadence_reason r)
{
    return reasons[r];
}

/* ---- cost of a checkpoint ---- */

void cadence_cost_add(struct cadence_cost *c, double write_s)
{
    if (write_s >= 0 && isfinite(write_s))
        c->s[c->n++ % CADENCE_WRITES] = write_s;
}

/* Median absolute distance from a value. */
static double median_from(double from, const double *v, size_t n)
{
    double away[CADENCE_WRITES];

    for (size_t i = 0; i < n; i++)
        away[i] = fabs(v[i] - from);
    return statistics_median(away, n);
}

static struct cadence_estimate around(double s, double factor)
{
    return (struct cadence_estimate){ s, s / factor, s * factor, s * factor };
}

struct cadence_estimate cadence_cost_get(const struct cadence_cost *c, double guess_s)
{
    size_t n = c->n < CADENCE_WRITES ? c->n : CADENCE_WRITES;
    double middle, reach, s[CADENCE_WRITES], wide;
    struct statistics_mean m;

    if (n == 0)
        return around(guess_s, 10);
    if (n == 1)
        return around(c->s[0], 2);
    middle = median_from(0, c->s, n);
    reach = HUBER * fmax(STATISTICS_MAD_TO_SD * median_from(middle, c->s, n), 0.02 * middle);
    for (size_t i = 0; i < n; i++)
        s[i] = n < 4 ? c->s[i] : fmin(fmax(c->s[i], middle - reach), middle + reach);
    m = statistics_mean(s, n);
    wide = deviate_student(CONFIDENCE, (double)(n - 1)) * m.error;
    return (struct cadence_estimate){ m.mean, fmax(m.mean - wide, m.mean / 10), m.mean + wide,
                                      fmax(m.mean + LONGEST * m.sd, LONGEST_MIN * m.mean) };
}

/* ---- failure rate ---- */

struct failure_rate cadence_prior(double failures, double node_s)
{
    double weight = failures > CADENCE_PRIOR_FAILURES ? CADENCE_PRIOR_FAILURES / failures : 1;

    if (!(node_s > 0) || !(failures >= 0))
        weight = failures = node_s = 0;
    return (struct failure_rate){ 1 + weight * failures, 1 / CADENCE_PUBLISHED_RATE + weight * node_s };
}

/* ---- the decision ---- */

static double known(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* The last checkpoint before the end replaces one that would be due less than half an interval earlier: at
 * the optimum, the risk of losing half an interval's work costs less than a write. */
static void before_the_end(const struct cadence_figures *f, struct cadence_decision *d)
{
    /* the longest time from a request until the checkpoint is on disk */
    double lead_s = f->write.longest_s + known(f->step_s, 0) + known(f->delivery_s, 0);
    double last_s = f->left_s - lead_s;

    if (isnan(f->left_s) || isinf(f->left_s))
        return;
    d->too_late = f->left_s < f->write.low_s;
    if (last_s <= 0) {
        /* A checkpoint finished this close to the end is the last one. */
        d->next_s = f->since_s > 2 * lead_s && !d->too_late ? 0 : INFINITY;
        d->reason = CADENCE_LIMIT;
    } else if (d->next_s > last_s - d->interval_s / 2) {
        d->next_s = last_s;
        d->reason = CADENCE_LIMIT;
    }
}

struct cadence_decision cadence_decide(const struct cadence_figures *f, const struct cadence_bounds *b)
{
    struct cadence_decision d = { .optimal_s = NAN, .goodput_most = NAN };

    d.mtbf_s = failure_mtbf_s(f->nodes, failure_rate_mean(&f->rate));
    if (f->write.s >= 0 && d.mtbf_s > 0)
        d.optimal_s = isinf(d.mtbf_s) ? INFINITY : cadence_optimal_s(f->write.s, d.mtbf_s);
    d.interval_s = fmin(fmax(known(d.optimal_s, INFINITY), b->min_s), b->max_s);
    d.interval_s = fmax(d.interval_s, known(f->step_s, 0));
    d.reason = d.optimal_s > b->max_s ? CADENCE_MAXIMUM : CADENCE_OPTIMUM;
    if (isfinite(d.mtbf_s) && isfinite(d.interval_s))
        d.goodput_most = cadence_goodput(d.interval_s, f->write.s, 0, d.mtbf_s);
    d.next_s = fmax(0, d.interval_s - f->since_s);
    before_the_end(f, &d);
    if (!isnan(f->notice_s)) { /* one checkpoint after it is enough, unless much more work fits */
        d.reason = CADENCE_NOTICE;
        d.too_late = f->notice_s < f->write.low_s;
        d.next_s = f->since_s < known(f->since_notice_s, INFINITY) ? INFINITY : 0;
    }
    if (f->writing) /* the interval counts from the end of the write */
        d.next_s = fmax(d.next_s, d.interval_s);
    d.due = d.next_s <= 0;
    return d;
}

/* ---- the call at which all ranks can receive a request ---- */

uint64_t cadence_call(uint64_t calls, double age_s, double step_min_s, double margin_s)
{
    double steps = (age_s + margin_s) / step_min_s;

    if (!(step_min_s > 0) || !(steps >= 0) || steps > 1e9)
        return 0;
    return calls + 1 + (uint64_t)steps;
}
