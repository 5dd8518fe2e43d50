/* rules/cadence: cost of a write, failure rates, when a checkpoint is due; thousands of simulated
 * preemptions. */
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
                                     .left_s = INFINITY,
                                     .notice_s = NAN,
                                     .since_notice_s = NAN };
}

static void test_cost(void)
{
    struct cadence_cost c = { 0 };
    struct cadence_estimate e = cadence_cost_get(&c, 60);
    int inside = 0, below = 0;

    ok(e.s == 60 && e.low_s < 10 && e.high_s > 300,
       "without a write the cost is the guess with a wide interval");
    cadence_cost_add(&c, NAN);
    cadence_cost_add(&c, -1);
    cadence_cost_add(&c, INFINITY);
    ok(c.n == 0, "invalid times of writes are ignored");
    cadence_cost_add(&c, 10);
    e = cadence_cost_get(&c, 60);
    ok(e.s == 10 && e.low_s == 5 && e.high_s == 20, "after one write the interval is half to double");
    for (int i = 0; i < 20; i++)
        cadence_cost_add(&c, 10 + 0.1 * (i % 3));
    cadence_cost_add(&c, 3000);
    e = cadence_cost_get(&c, 60);
    ok(near(e.s, 10.1, 0.02) && e.longest_s < 12,
       "a write that hung for 3000 s hardly counts\n%.2f s, at most %.2f", e.s, e.longest_s);
    for (int i = 0; i < 400; i++) {
        c = (struct cadence_cost){ 0 };
        for (int k = 0; k < 12; k++)
            cadence_cost_add(&c, 20 + 2 * gauss());
        e = cadence_cost_get(&c, 60);
        inside += e.low_s < 20 && 20 < e.high_s;
        below += 20 + 2 * gauss() < e.longest_s;
    }
    ok(inside > 330 && inside < 390,
       "90 %% intervals of 12 writes contain the mean in 82 to 97 %% of the cases\n%.0f %%", inside / 4.);
    ok(below > 388, "a further write is shorter than longest_s in more than 97 %% of the cases\n%.1f %%",
       below / 4.);
}

static void test_prior(void)
{
    struct failure_rate r = cadence_prior(0, 0);

    ok(near(failure_rate_mean(&r) * 1000 * DAY_S, 6.5, 1e-9),
       "without a history the rate is the published one");
    ok(near(failure_rate_quantile(&r, 0.05) / failure_rate_mean(&r), 0.0513, 0.01) &&
           near(failure_rate_quantile(&r, 0.95) / failure_rate_mean(&r), 2.996, 0.01),
       "without a history the rate's interval is wide");
    r = cadence_prior(200, 200 / (5 * CADENCE_PUBLISHED_RATE));
    ok(near(r.failures, 1 + CADENCE_PRIOR_FAILURES, 1e-9) &&
           near(failure_rate_mean(&r) / CADENCE_PUBLISHED_RATE, 4.2, 0.01),
       "a long history of five times the rate counts for 20 failures\n%.2f times",
       failure_rate_mean(&r) / CADENCE_PUBLISHED_RATE);
    r = cadence_prior(0, 1000 / CADENCE_PUBLISHED_RATE);
    ok(failure_rate_mean(&r) < 0.0011 * CADENCE_PUBLISHED_RATE,
       "a long history without failures lowers the rate");
    r = cadence_prior(NAN, 5);
    ok(r.failures == 1, "an invalid history is ignored");
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
       "the optimal interval and its goodput are the formula's\n%.0f s, at most %.3f", d.interval_s,
       d.goodput_most);
    f.since_s = d.interval_s;
    d = cadence_decide(&f, &b);
    ok(d.due && d.reason == CADENCE_OPTIMUM, "a checkpoint is due when the interval is over");
    f.writing = true;
    ok(!cadence_decide(&f, &b).due, "no checkpoint is due while one is being written");
    f = usual();
    b.max_s = 600;
    d = cadence_decide(&f, &b);
    ok(d.interval_s == 600 && d.reason == CADENCE_MAXIMUM &&
           near(d.optimal_s, cadence_optimal_s(60, mtbf_s), 1e-9),
       "the interval is at most that of the policy");
    b = (struct cadence_bounds){ 20000, INFINITY };
    ok(cadence_decide(&f, &b).interval_s == 20000, "the interval is at least that of the policy");
    f.step_s = 30000;
    ok(cadence_decide(&f, &b).interval_s == 30000, "the interval is at least a step");
    f = usual();
    f.write.s = NAN;
    d = cadence_decide(&f, &wide);
    ok(!d.due && isnan(d.optimal_s) && isnan(d.goodput_most),
       "without a cost nothing is due, and optimum and goodput are NaN");
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
       "the last checkpoint before the time limit is asked for in time");
    f.left_s = 82;
    ok(cadence_decide(&f, &wide).due,
       "the last checkpoint is due early enough to be written before the limit");
    f.since_s = 20;
    d = cadence_decide(&f, &wide);
    ok(!d.due && isinf(d.next_s), "a checkpoint shortly before the time limit is the last one");
    f.since_s = 3000;
    f.left_s = 30;
    d = cadence_decide(&f, &wide);
    ok(!d.due && d.too_late, "no checkpoint is due when too little time is left, and too_late is set");
    f = usual();
    f.since_s = interval_s - 1;
    f.left_s = interval_s / 4;
    d = cadence_decide(&f, &wide);
    ok(d.reason == CADENCE_LIMIT && d.next_s > 1, "a checkpoint shortly before the last one is left out");
    f.left_s = 3 * interval_s;
    ok(cadence_decide(&f, &wide).reason == CADENCE_OPTIMUM,
       "a checkpoint long before the time limit is not left out");
    f.left_s = NAN;
    ok(cadence_decide(&f, &wide).reason == CADENCE_OPTIMUM, "an unknown time limit has no effect");
}

static void test_notice(void)
{
    struct cadence_figures f = usual();
    struct cadence_decision d;

    f.since_s = 5;
    f.notice_s = 30;
    f.since_notice_s = 0;
    d = cadence_decide(&f, &wide);
    ok(d.due && d.reason == CADENCE_NOTICE, "after a notice a checkpoint is due at once");
    f.since_s = 1;
    f.since_notice_s = 20;
    d = cadence_decide(&f, &wide);
    ok(!d.due, "after a notice one checkpoint is enough");
}

static void test_call(void)
{
    ok(cadence_call(100, 0, 1, 0.05) == 101, "long steps: the next call is chosen");
    ok(cadence_call(100, 0.95, 1, 0.05) == 102,
       "long steps: the call after the next is chosen if the next is too near");
    ok(cadence_call(100, 0, 0.001, 0.0905) == 191,
       "short steps: the call is as many steps ahead as the message needs");
    ok(cadence_call(100, 0, NAN, 1) == 0 && cadence_call(100, 0, 0, 1) == 0 &&
           cadence_call(100, NAN, 1, 1) == 0,
       "an unknown step time gives no call");
}

/* ---- preemptions: a notice at any moment of a step, delays of messages, varying writes ---- */

#define PREEMPTIONS 10000
#define MARGIN_S    0.1  /* job/cadence.c: after a notice */
#define POLL_S      0.04 /* interval at which the agent checks programs for a notice */

#define VARIES 0.01 /* relative deviation of steps */
#define LEAST  0.96 /* shortest step, relative to the usual one */

/* A job with steps of about usual_s; the controller knows when the newest call was made. */
struct steps {
    double usual_s, start_s, end_s; /* of the present step */
    uint64_t calls;
};

static void steps_until(struct steps *j, double now_s)
{
    while (j->end_s <= now_s) {
        j->calls++;
        j->start_s = j->end_s;
        j->end_s += j->usual_s * (1 + VARIES * gauss());
    }
}

/* Whether the checkpoint is written within the grace period.  The controller arms a call, waits for all
 * agents and commits; if a rank has reached the call meanwhile, it arms a later one. */
static bool saved(double step_s, double write_s, double grace_s)
{
    struct cadence_figures f = usual();
    struct steps j = { .usual_s = step_s, .calls = 1000, .start_s = 0, .end_s = step_s };
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
        at = cadence_call(j.calls, now_s - j.start_s, LEAST * step_s, MARGIN_S);
        now_s += 0.001 + 0.02 * uniform(); /* to the agents and back */
        steps_until(&j, now_s);
    } while (j.calls >= at);
    now_s += 0.001 + 0.01 * uniform(); /* the commit arrives */
    steps_until(&j, now_s);
    if (j.calls >= at)
        return false; /* some ranks missed the request: counts as lost */
    while (j.calls < at)
        steps_until(&j, j.end_s);
    return j.start_s + write_s <= notice_s + grace_s;
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
