/* rules/cadence: what a write costs, what a rate is, when a checkpoint is due; preemptions by the
 * thousand. */
#include "model/cadence.h"
#include "rules/cadence.h"
#include "tests/random.h"
#include "tests/tap.h"

#define DAY_S 86400.0

static const struct cadence_bounds wide = { 0, INFINITY };

static struct cadence_figures usual(void)
{
    return (struct cadence_figures){ .write = { 60, 50, 70, 80 },
                                     .rate = { 10, 10 / CADENCE_PUBLISHED_RATE },
                                     .nodes = 512,
                                     .step_s = 2,
                                     .delivery_s = 0.2,
                                     .restart_s = NAN,
                                     .writing_s = NAN,
                                     .left_s = INFINITY,
                                     .notice_s = NAN,
                                     .since_notice_s = NAN };
}

static void test_cost(void)
{
    struct cadence_cost c = { 0 };
    struct cadence_estimate e = cadence_cost_get(&c, 60);
    int inside = 0, below = 0;

    ok(e.s == 60 && e.low_s < 10 && e.high_s > 300, "nothing measured: the guess, and that it is one");
    cadence_cost_add(&c, NAN);
    cadence_cost_add(&c, -1);
    cadence_cost_add(&c, INFINITY);
    ok(c.n == 0, "what is no time is passed over");
    cadence_cost_add(&c, 10);
    e = cadence_cost_get(&c, 60);
    ok(e.s == 10 && e.low_s == 5 && e.high_s == 20, "one write: half to double");
    for (int i = 0; i < 20; i++)
        cadence_cost_add(&c, 10 + 0.1 * (i % 3));
    cadence_cost_add(&c, 3000);
    e = cadence_cost_get(&c, 60);
    ok(near(e.s, 10.1, 0.02) && e.longest_s < 12,
       "a write that hung for 3000 s hardly counts: %.2f s, at most %.2f", e.s, e.longest_s);
    for (int i = 0; i < 400; i++) {
        c = (struct cadence_cost){ 0 };
        for (int k = 0; k < 12; k++)
            cadence_cost_add(&c, 20 + 2 * gauss());
        e = cadence_cost_get(&c, 60);
        inside += e.low_s < 20 && 20 < e.high_s;
        below += 20 + 2 * gauss() < e.longest_s;
    }
    ok(inside > 330 && inside < 390, "90 %% intervals of 12 writes hold the truth in %.0f %% of the cases",
       inside / 4.);
    ok(below > 388, "a further write is below the longest in %.1f %%", below / 4.);
}

static void test_prior(void)
{
    struct failure_rate r = cadence_prior(0, 0);

    ok(near(failure_rate_mean(&r) * 1000 * DAY_S, 6.5, 1e-9), "no history: the published rate");
    ok(near(failure_rate_quantile(&r, 0.05) / failure_rate_mean(&r), 0.0513, 0.01) &&
           near(failure_rate_quantile(&r, 0.95) / failure_rate_mean(&r), 2.996, 0.01),
       "and broad");
    r = cadence_prior(200, 200 / (5 * CADENCE_PUBLISHED_RATE));
    ok(near(r.failures, 1 + CADENCE_PRIOR_FAILURES, 1e-9) &&
           near(failure_rate_mean(&r) / CADENCE_PUBLISHED_RATE, 4.2, 0.01),
       "a long history of five times the rate counts for 20 failures: %.2f times",
       failure_rate_mean(&r) / CADENCE_PUBLISHED_RATE);
    r = cadence_prior(0, 1000 / CADENCE_PUBLISHED_RATE);
    ok(failure_rate_mean(&r) < 0.0011 * CADENCE_PUBLISHED_RATE, "much time without any failure says so");
    r = cadence_prior(NAN, 5);
    ok(r.failures == 1, "nonsense is no history");
}

static void test_interval(void)
{
    struct cadence_figures f = usual();
    struct cadence_bounds b = wide;
    struct cadence_decision d = cadence_decide(&f, &b);
    double mtbf_s = 1000 * DAY_S / 6.5 / 512;

    ok(near(d.mtbf_s, mtbf_s, 1e-9) && near(d.interval_s, cadence_optimal_s(60, mtbf_s), 1e-9) &&
           near(d.goodput_most, cadence_goodput(d.interval_s, 60, 0, mtbf_s), 1e-9) && !d.due &&
           near(d.next_s, d.interval_s, 1e-9),
       "the optimum: %.0f s of work, goodput at most %.3f", d.interval_s, d.goodput_most);
    ok(isnan(d.goodput), "the time of a restart is not known: neither is the goodput");
    f.restart_s = 300;
    d = cadence_decide(&f, &b);
    ok(near(d.goodput, cadence_goodput(d.interval_s, 60, 300, mtbf_s), 1e-9) && d.goodput_most == d.goodput,
       "it is %.3f with a restart of 5 minutes", d.goodput);
    f.restart_s = NAN;
    f.since_s = d.interval_s;
    d = cadence_decide(&f, &b);
    ok(d.due && d.reason == CADENCE_OPTIMUM && d.lost_s == f.since_s, "due when it is over");
    f.writing_s = 3;
    ok(!cadence_decide(&f, &b).due, "not while one is being written");
    f = usual();
    b.most_s = 600;
    d = cadence_decide(&f, &b);
    ok(d.interval_s == 600 && d.reason == CADENCE_MAXIMUM &&
           near(d.optimal_s, cadence_optimal_s(60, mtbf_s), 1e-9),
       "never longer than the policy says");
    b = (struct cadence_bounds){ 20000, INFINITY };
    ok(cadence_decide(&f, &b).interval_s == 20000, "nor shorter");
    f.step_s = 30000;
    ok(cadence_decide(&f, &b).interval_s == 30000, "nor than a step");
    f = usual();
    f.asked = true;
    d = cadence_decide(&f, &wide);
    ok(d.due && d.reason == CADENCE_REQUEST, "due when asked for");
    f = usual();
    f.write.s = NAN;
    d = cadence_decide(&f, &wide);
    ok(!d.due && isnan(d.optimal_s) && isnan(d.goodput_most), "what is not known is NaN, and nothing is due");
}

static void test_limit(void)
{
    struct cadence_figures f = usual();
    struct cadence_decision d;
    double interval_s = cadence_decide(&f, &wide).interval_s;

    f.since_s = 3000;
    f.left_s = 83;
    d = cadence_decide(&f, &wide);
    ok(!d.due && near(d.next_s, 83 - 82.2, 1e-6) && d.reason == CADENCE_LIMIT,
       "the last one is asked for in time");
    f.left_s = 82;
    ok(cadence_decide(&f, &wide).due, "so that it is written before the limit");
    f.since_s = 20;
    d = cadence_decide(&f, &wide);
    ok(!d.due && isinf(d.next_s), "once");
    f.since_s = 3000;
    f.left_s = 30;
    d = cadence_decide(&f, &wide);
    ok(!d.due && d.too_late, "too late for one: that is said");
    f = usual();
    f.since_s = interval_s - 1;
    f.left_s = interval_s / 4;
    d = cadence_decide(&f, &wide);
    ok(d.reason == CADENCE_LIMIT && d.next_s > 1, "one that the last one follows soon is saved");
    f.left_s = 3 * interval_s;
    ok(cadence_decide(&f, &wide).reason == CADENCE_OPTIMUM, "one long before the limit is not");
    f.left_s = NAN;
    ok(cadence_decide(&f, &wide).reason == CADENCE_OPTIMUM, "an unknown limit bounds nothing");
}

static void test_notice(void)
{
    struct cadence_figures f = usual();
    struct cadence_decision d;

    f.since_s = 5;
    f.notice_s = 30;
    f.since_notice_s = 0;
    d = cadence_decide(&f, &wide);
    ok(d.due && d.reason == CADENCE_NOTICE, "a notice: at once, however young the last one is");
    f.since_s = 1;
    f.since_notice_s = 20;
    d = cadence_decide(&f, &wide);
    ok(!d.due, "one after the notice is enough");
}

static void test_call(void)
{
    ok(cadence_call(100, 0, 1, 0.05) == 101, "long steps: the next call");
    ok(cadence_call(100, 0.95, 1, 0.05) == 102, "the next one is too near: the one after");
    ok(cadence_call(100, 0, 0.001, 0.0905) == 191, "short steps: as many as the message needs");
    ok(cadence_call(100, 0, NAN, 1) == 0 && cadence_call(100, 0, 0, 1) == 0 &&
           cadence_call(100, NAN, 1, 1) == 0,
       "not known: none");
}

/* ---- preemptions: a notice at any moment of a step; the request travels; the write takes what it takes ----
 */

#define PREEMPTIONS 10000
#define MARGIN_S    0.1  /* job/cadence.c: after a notice */
#define POLL_S      0.04 /* the agent looks so often whether a program tells of a notice */

#define VARIES 0.01 /* from step to step */
#define LEAST  0.96 /* what a step takes at least, of what it usually does */

/* A job whose steps take usual_s, give or take; the controller knows when the newest call was made. */
struct steps {
    double usual_s, begun_s, end_s; /* of the step that is going on */
    uint64_t calls;
};

static void steps_until(struct steps *j, double now_s)
{
    while (j->end_s <= now_s) {
        j->calls++;
        j->begun_s = j->end_s;
        j->end_s += j->usual_s * (1 + VARIES * gauss());
    }
}

/* Is the checkpoint written before the grace is over?  The controller arms a call, hears all agents, commits;
 * a call that a rank has come to meanwhile is armed anew. */
static bool saved(double step_s, double write_s, double grace_s)
{
    struct cadence_figures f = usual();
    struct steps j = { .usual_s = step_s, .calls = 1000, .begun_s = 0, .end_s = step_s };
    double notice_s = step_s * uniform(), now_s = notice_s + POLL_S * uniform();
    uint64_t at;

    f.write = (struct cadence_estimate){ write_s, write_s / 2, 2 * write_s, 2 * write_s };
    f.step_s = step_s;
    f.since_notice_s = now_s - notice_s;
    f.notice_s = grace_s - f.since_notice_s;
    f.since_s = 100 * uniform();
    if (!cadence_decide(&f, &wide).due)
        return false;
    do {
        steps_until(&j, now_s);
        at = cadence_call(j.calls, now_s - j.begun_s, LEAST * step_s, MARGIN_S);
        now_s += 0.001 + 0.02 * uniform(); /* there and back */
        steps_until(&j, now_s);
    } while (j.calls >= at);
    now_s += 0.001 + 0.01 * uniform(); /* the commit arrives */
    steps_until(&j, now_s);
    if (j.calls >= at)
        return false; /* a split: counts as lost */
    while (j.calls < at)
        steps_until(&j, j.end_s);
    return j.begun_s + write_s <= notice_s + grace_s;
}

static void test_preemptions(void)
{
    static const double at_least_s[] = { 0.02, 1, 10 };
    double delivery_s = POLL_S + MARGIN_S + 0.06;
    int lost = 0;

    random_state = 42;
    for (int i = 0; i < PREEMPTIONS; i++) {
        double step_s = exp(log(0.02) + uniform() * log(60 / 0.02)), write_s = exp(uniform() * log(600));

        lost += !saved(step_s, write_s, (2 - LEAST + 4 * VARIES) * step_s + write_s + delivery_s);
    }
    ok(lost == 0, "%d of %d preemptions lost their checkpoint: grace %.2f steps, the write and %.1f s", lost,
       PREEMPTIONS, 2 - LEAST + 4 * VARIES, delivery_s);
    for (size_t k = 0; k < ARRAY_SIZE(at_least_s); k++) {
        lost = 0;
        for (int i = 0; i < PREEMPTIONS; i++) {
            double step_s = exp(log(at_least_s[k]) + uniform() * log(60 / at_least_s[k]));
            double write_s = exp(uniform() * log(600));

            lost += !saved(step_s, write_s, step_s + write_s);
        }
        printf("# grace of one step and the write to the microsecond, steps of %g to 60 s: %d of %d lost\n",
               at_least_s[k], lost, PREEMPTIONS);
    }
}

int main(void)
{
    test_cost();
    test_prior();
    test_interval();
    test_limit();
    test_notice();
    test_call();
    test_preemptions();
    return done_testing();
}
