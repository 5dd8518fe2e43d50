/* goodput.c - jobs that do not know their failure rate nor what a checkpoint costs, paced by
 * rules/cadence, against the best fixed interval that a search finds with hindsight, on the same failures.
 *
 * A job runs for so long (restarted after each failure, which may strike while it restarts or writes);
 * goodput is the share of that time whose work was kept.  It begins with the published prior and a guess of
 * 60 s for a write; the true rate is a multiple of the published one; writes are measured with 10 % noise.
 *
 * goodput [LEAST]: so many seeds a case at least; more until the standard error is 0.12 %. With it, or with
 * SYNCGUARD_FULL=yes, all cases. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "model/cadence.h"
#include "rules/cadence.h"
#include "tests/random.h"
#include "tests/tap.h"

#define STEP_S    1.0
#define RESTART_S 120.0
#define GUESS_S   60.0
#define DAY_S     86400.0
#define MTBFS     300.0 /* a run is so many mean times between failures, but ... */
#define LEAST_S   (30 * DAY_S)
#define MOST_S    (365 * DAY_S)
#define FAILURES  4096
#define SPACING   1.08 /* of the intervals that are searched */
#define TARGET    0.005
#define ERROR     0.0012 /* standard error that ends a case */
#define SEEDS_MAX 512

struct world {
    double nodes, write_s, mtbf_s, run_s;
    size_t n;
    double at_s[FAILURES]; /* failures, ascending; the last one is behind the end */
};

static void draw(struct world *w, uint64_t seed)
{
    double t = 0;

    random_state = seed * 7919 + 17;
    for (int i = 0; i < 8; i++)
        uniform();
    for (w->n = 0; t <= w->run_s && w->n < FAILURES; w->n++) {
        t += -w->mtbf_s * log(1 - uniform());
        w->at_s[w->n] = t;
    }
}

/* When work goes on after failure *i: *i becomes the next failure. */
static double restart(const struct world *w, size_t *i)
{
    double up_s = w->at_s[*i] + RESTART_S;

    while (++*i < w->n && w->at_s[*i] < up_s)
        up_s = w->at_s[*i] + RESTART_S;
    return up_s;
}

static double next_failure(const struct world *w, size_t i)
{
    return i < w->n ? w->at_s[i] : INFINITY;
}

/* With a fixed interval: whole segments between failures are counted at once. */
static double fixed_goodput(const struct world *w, double interval_s)
{
    double t = 0, kept_s = 0;
    size_t i = 0;

    while (t < w->run_s) {
        double until_s = fmin(next_failure(w, i), w->run_s), over_s = fmax(0, until_s - t);
        double segments = floor(over_s / (interval_s + w->write_s));

        kept_s += segments * interval_s;
        if (until_s >= w->run_s)
            break;
        t = restart(w, &i);
    }
    return kept_s / w->run_s;
}

/* With the policy: it sees the time pass, its own failures and its own writes. */
static double policy_goodput(const struct world *w)
{
    static const struct cadence_bounds bounds = { 0, 7 * DAY_S };
    struct failure_rate prior = cadence_prior(0, 0);
    struct cadence_cost cost = { 0 };
    struct cadence_figures f = { .nodes = w->nodes,
                                 .step_s = STEP_S,
                                 .delivery_s = 0,
                                 .left_s = INFINITY,
                                 .notice_s = NAN,
                                 .since_notice_s = NAN };
    double t = 0, kept_s = 0, failed = 0;
    size_t i = 0;

    f.write = cadence_cost_get(&cost, GUESS_S);
    while (t < w->run_s) {
        double work_s, end_s;

        f.rate = (struct failure_rate){ prior.failures + failed, prior.node_s + w->nodes * t };
        f.since_s = 0;
        work_s = STEP_S * ceil(cadence_decide(&f, &bounds).next_s / STEP_S);
        end_s = t + work_s + w->write_s;
        if (end_s > w->run_s)
            break;
        if (next_failure(w, i) < end_s) {
            size_t before = i;

            t = restart(w, &i);
            failed += (double)(i - before); /* those that struck while it restarted, too */
            continue;
        }
        kept_s += work_s;
        t = end_s;
        if (cost.n < 4 * CADENCE_WRITES) {
            cadence_cost_add(&cost, w->write_s * (1 + 0.1 * gauss()));
            f.write = cadence_cost_get(&cost, GUESS_S);
        }
    }
    return kept_s / w->run_s;
}

/* Mean over the seeds and its standard error. */
struct mean {
    double sum, squares;
    int n;
};

static void mean_add(struct mean *m, double v)
{
    m->sum += v;
    m->squares += v * v;
    m->n++;
}

static double mean_get(const struct mean *m)
{
    return m->sum / m->n;
}

static double mean_error(const struct mean *m)
{
    double mean = mean_get(m);

    return sqrt(fmax(0, m->squares / m->n - mean * mean) / fmax(1, m->n - 1));
}

struct outcome {
    double best, best_s, policy, loss, error;
    int seeds;
};

static double best_fixed(const struct world *w, int seeds, double *best_s)
{
    double best = -1;

    for (double s = 8 * STEP_S; s < fmin(w->run_s, 7 * DAY_S); s = ceil(s * SPACING)) {
        double sum = 0;

        for (int i = 0; i < seeds; i++)
            sum += fixed_goodput(&w[i], s);
        if (sum / seeds > best) {
            best = sum / seeds;
            *best_s = s;
        }
    }
    return best;
}

static struct outcome judge(const struct world *w, const double *got, int seeds)
{
    struct mean policy = { 0 }, difference = { 0 };
    struct outcome o = { .seeds = seeds };

    o.best = best_fixed(w, seeds, &o.best_s);
    for (int i = 0; i < seeds; i++) {
        mean_add(&policy, got[i]);
        mean_add(&difference, (fixed_goodput(&w[i], o.best_s) - got[i]) / o.best);
    }
    o.policy = mean_get(&policy);
    o.loss = mean_get(&difference);
    o.error = mean_error(&difference);
    return o;
}

/* As many seeds as the error asks for. */
static struct outcome compare(double nodes, double write_s, double factor, int least)
{
    struct world *w = xcalloc(SEEDS_MAX, sizeof(*w));
    double *got = xcalloc(SEEDS_MAX, sizeof(*got));
    struct outcome o = { .error = INFINITY };

    for (int n = 0, seeds = least; seeds <= SEEDS_MAX && o.error > ERROR; seeds *= 2) {
        for (; n < seeds; n++) {
            w[n].nodes = nodes;
            w[n].write_s = write_s;
            w[n].mtbf_s = failure_mtbf_s(nodes, factor * CADENCE_PUBLISHED_RATE);
            w[n].run_s = fmin(fmax(MTBFS * w[n].mtbf_s, LEAST_S), MOST_S);
            w[n].run_s = fmin(w[n].run_s, 0.8 * FAILURES * w[n].mtbf_s);
            draw(&w[n], (uint64_t)n);
            got[n] = policy_goodput(&w[n]);
        }
        o = judge(w, got, seeds);
    }
    free(w);
    free(got);
    return o;
}

static const double sizes[] = { 8, 64, 512, 4096, 16384 }, writes[] = { 1, 10, 60, 300, 600 };

/* Every second case of the table, so that each size and each cost of a write is among them; with a sanitizer,
 * the diagonal. */
static bool is_tried(size_t i, size_t k)
{
    return tried_in_full() || (tried_in_part() ? i == k : (i + k) % 2 == 0);
}

static double table(double factor, int least, bool all)
{
    double worst = -INFINITY;

    printf("# true rate %.3g times the published one\n"
           "#  nodes  write s   best interval s  best goodput  policy  less by %%  +- %%  seeds\n",
           factor);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        for (size_t k = 0; k < ARRAY_SIZE(writes); k++) {
            struct outcome o;

            if (!all && !is_tried(i, k))
                continue;
            o = compare(sizes[i], writes[k], factor, least);
            printf("# %6.0f %8.0f %17.0f %13.4f %7.4f %10.3f %5.3f %6d\n", sizes[i], writes[k], o.best_s,
                   o.best, o.policy, 100 * o.loss, 100 * o.error, o.seeds);
            fflush(stdout);
            worst = fmax(worst, o.loss);
        }
    return worst;
}

int main(int argc, char **argv)
{
    int least = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 8;
    static const double factors[] = { 1. / 3, 1, 3 };

    for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
        double worst = table(factors[i], least, argc > 1);

        ok(worst < TARGET, "rate %.3g times what it expects: within %.1f %% of the best fixed interval",
           factors[i], 100 * TARGET);
        printf("# at most %.2f %% below it\n", 100 * worst);
    }
    return done_testing();
}
