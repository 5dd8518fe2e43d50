#include "pacing/pacer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pacing/pace.h"
#include "tests/random.h"
#include "tests/tap.h"

/* ---- hold-out ---- */

static void test_epochs(void)
{
    int unpaced = 0, wrong = 0, runs = 0;

    for (uint32_t seq = 0; seq < 4096; seq += 2) {
        wrong += holdout_paced(7, seq, 1, 2) == holdout_paced(7, seq + 1, 1, 2);
        runs += holdout_paced(7, seq, 1, 2);
    }
    ok(wrong == 0, "on trial one collective of two goes without the lever");
    ok(runs > 900 && runs < 1150,
       "the draw leaves out the first epoch of a pair in about half of 2048 pairs\n%d", runs);
    for (uint32_t seq = 0; seq < 8 * 64; seq++)
        unpaced += !holdout_paced(7, seq, 1, 8);
    ok(unpaced == 64, "in force one collective of eight goes without the lever");
    wrong = 0;
    for (uint32_t seq = 0; seq < 4096; seq++)
        wrong += holdout_paced(7, seq, 4, 2) != holdout_paced(7, seq & ~3u, 4, 2);
    ok(wrong == 0, "an epoch of four collectives stays together");
    ok(holdout_paced(1, 5, 0, 0) == holdout_paced(1, 5, 1, 2),
       "an invalid epoch and hold-out count as one and two");
}

/* A heavy tail: what times of collectives are like at their worst. */
static double time_s(void)
{
    return 0.010 * pow(1 - uniform(), -0.5);
}

static void test_validity(void)
{
    int fooled = 0, missed = 0, within = 0, runs = 2000;
    double low, high;

    random_state = 1;
    for (int run = 0; run < runs; run++) {
        struct holdout null = { 0 }, real = { 0 };
        bool ever = false, outside = false;

        for (int i = 0; i < 200; i++) {
            holdout_take(&null, log(time_s() / time_s()));
            ever = ever || holdout_faster(&null) >= 20 || holdout_slower(&null) >= 20;
            if (holdout_interval(&null, 0.05, &low, &high))
                outside = outside || low > 0 || high < 0;
        }
        for (int i = 0; i < 16; i++)
            holdout_take(&real, log(0.43) + 0.1 * gauss());
        fooled += ever;
        within += !outside;
        missed += holdout_faster(&real) < 20;
    }
    ok(fooled <= runs / 10,
       "200 looks without an effect, both ways: false proofs in %d of %d (at most 1 in 10)", fooled, runs);
    ok(within >= runs * 95 / 100, "the interval contains zero at all 200 looks in %d of %d", within, runs);
    ok(missed == 0, "2.3 times as fast is proven in 16 comparisons\nmissed %d", missed);
}

static void test_figures(void)
{
    struct holdout h = { 0 };
    double low, high;

    ok(isnan(holdout_mean(&h)) && isnan(holdout_deviation(&h)) && !holdout_interval(&h, 0.05, &low, &high),
       "without a comparison mean and interval are unknown");
    holdout_take(&h, NAN);
    ok(h.n == 0, "comparisons that are not numbers are ignored");
    for (int i = 0; i < 20; i++)
        holdout_take(&h, i % 2 ? -0.11 : -0.09);
    ok(near(holdout_mean(&h), -0.1, 1e-9) && near(holdout_deviation(&h), 0.01026, 1e-3),
       "mean and deviation of the hold-out\n%g, %g", holdout_mean(&h), holdout_deviation(&h));
    holdout_interval(&h, 0.05, &low, &high);
    ok(low < -0.1 && high > -0.1 && high < 0, "the interval is about the mean and below zero\n%g to %g", low,
       high);
    /* by hand: S=-2, V=0.202: 2 sqrt(.04/.242) exp(4/.484) Phi(2/sqrt(.242)) = 3155 */
    ok(near(holdout_faster(&h), 3155, 0.01), "the evidence for a faster step is 3155\n%g",
       holdout_faster(&h));
    ok(holdout_slower(&h) < 1, "there is no evidence for a slower step");
    holdout_take(&h, INFINITY);
    ok(isfinite(holdout_mean(&h)), "the mean is finite after an outlier");
}

/* ---- a job in small ---- */

struct regime {
    const char *name;
    uint32_t ranks, cores;
    bool spans;
    double switches_hz, wait_ratio, lead; /* of the early rank, as a share of the step */
    double factor[PACER_LEVERS]; /* of the step's time, with that lever; delay: per share of the lead slept */
};

/* As measured on real MPI: doc/decisions/0018-pacing.md. */
static const struct regime regimes[] = {
    { "dedicated", 8, 8, false, 1, 0.2, 0.3, { 1.01, 1.03, 1, 1.05 } },
    { "oversubscribed", 8, 2, true, 300, 0.6, 0.3, { 0.42, 1.01, 1.8, 1 } },
    { "contended", 2, 2, true, 150, 0.3, 0.3, { 0.87, 0.86, 0.98, 1 } },
    { "contended, and nothing helps", 2, 2, true, 150, 0.3, 0, { 1.02, 1.2, 1.1, 1.05 } },
    { "contended, and everything harms", 2, 2, true, 90, 0.1, 0, { 2, 3, 1.5, 1.1 } },
};

struct model {
    struct pacer p;
    struct pacer_params params;
    struct pacer_sight sight;
    struct pace_state early;
    const struct regime *r;
    double noise;
    uint32_t seq, in_row;
    uint64_t paced;
    bool lasting, good; /* what a lever does lasts: for as long as the kernel leaves threads where they are */
};

/* As the probe sees it: only from a row of collectives without a lever. */
static void look(struct model *m, bool paced)
{
    m->in_row = paced ? 0 : m->in_row + 1;
    if (m->in_row && m->in_row % 16 == 0)
        m->sight = (struct pacer_sight){ .able = 15,
                                         .ranks = m->r->ranks,
                                         .cores = m->r->cores,
                                         .switches_hz = m->r->switches_hz,
                                         .wait_ratio = m->r->wait_ratio,
                                         .spans = m->r->spans };
}

/* Half of the steps take twice as long, many in a row; with the lever few begin to, and they soon end. */
static double placed(struct model *m, bool paced)
{
    m->good = m->good ? uniform() > (paced ? 0.01 : 0.08) : uniform() < (paced ? 0.45 : 0.06);
    return m->good ? 1 : 1.5;
}

/* One collective; returns its time without the noise, 1 being a step without levers. */
static double step(struct model *m)
{
    static const struct pace_params delay = { .max_delay_s = 0.5, .share = 0.8 };
    uint32_t lever = pacer_current(&m->p);
    bool paced = lever && holdout_paced(99, m->seq, pacer_epoch(&m->p), pacer_every(&m->p, &m->params));
    double time = 1, slept;

    for (uint32_t i = 0; paced && i < PACER_LEVERS; i++)
        if (lever == 1u << i)
            time = m->r->factor[i];
    if (m->lasting)
        time = placed(m, paced);
    if (paced && lever == PACER_DELAY) { /* a lead that has gone makes the delay the job's */
        slept = pace_delay_s(&m->early, &delay);
        time += fmax(0, slept - m->r->lead);
    }
    if (!paced)
        pace_learn(&m->early, 0, m->r->lead);
    m->paced += paced;
    look(m, paced);
    pacer_tick(&m->p, &m->params, &m->sight,
               &(struct pacer_collective){ paced, 99, m->seq, 1, time * exp(m->noise * gauss()) });
    m->seq++;
    return time;
}

static double run(struct model *m, int steps)
{
    double sum = 0;

    for (int i = 0; i < steps; i++)
        sum += step(m);
    return sum / steps;
}

static struct model begin(int regime, uint32_t levers, double noise)
{
    return (struct model){ .params = { .levers = levers, .epoch = 16, .every = HOLDOUT_EVERY_MAX },
                           .r = &regimes[regime],
                           .noise = noise };
}

static void test_choice(void)
{
    struct model m = begin(0, 15 & ~PACER_STAGGER, 0.02);
    double mean;

    run(&m, 5000);
    ok(m.paced == 0, "with a core for each rank and no other process no lever is tried");
    ok(m.p.lever[0].why == PACER_NO_CAUSE && m.p.lever[3].why == PACER_UNALLOWED,
       "levers that are not tried have their reason");
    m = begin(1, 3, 0.1);
    run(&m, 160);
    ok(pacer_current(&m.p) == PACER_RELEASE && m.p.mode == PACER_IN_FORCE,
       "with more ranks than cores release is in force");
    mean = run(&m, 800);
    ok(mean < 1 / 1.8, "with the hold-out the step is more than 1.8 times as fast\n%.3f of its time", mean);
    m = begin(1, PACER_GATE, 0.1);
    mean = run(&m, 4000);
    ok(pacer_current(&m.p) == 0 && mean < 1.005, "a lever that does nothing is off\n%.4f", mean);
    m = begin(2, PACER_GATE, 0.08);
    run(&m, 1000);
    ok(m.p.mode == PACER_IN_FORCE, "14 %% in noise of 8 %% is proven within 1000 collectives");
    m = begin(3, 15, 0.03);
    mean = run(&m, 3000);
    ok(mean < 1.01, "if no lever helps, the run takes at most 1 %% longer\n%.4f of its time", mean);
    m = begin(4, 15, 0.03);
    mean = run(&m, 3000);
    ok(mean < 1.01,
       "if every lever harms, threefold at worst, the run takes at most 1 %% longer\n%.4f of its time", mean);
    m.params.levers = 0;
    ok(run(&m, 64) <= 1.2 && pacer_current(&m.p) == 0, "the lever is off when no lever is allowed any more");
}

/* What lasts is seen all the same. */
static void test_lasting(void)
{
    int jobs = 200, in_force = 0;
    double without = 0, with = 0;

    random_state = 5;
    for (int i = 0; i < jobs; i++) {
        struct model m = begin(2, 0, 0.02);

        m.lasting = true;
        without += run(&m, 1200) / jobs;
        m = begin(2, PACER_GATE | PACER_RELEASE, 0.02);
        m.lasting = true;
        with += run(&m, 1200) / jobs;
        in_force += m.p.mode == PACER_IN_FORCE;
    }
    ok(in_force > 0 && without / with > 1.08,
       "the lever is in force after 1200 collectives, and all runs are more than 1.08 times as fast\nin %d of %d runs, %.3f times",
       in_force, jobs, without / with);
}

/* Between two collectives on all ranks come five on few of them: those of one communicator are compared. */
static void test_communicators(void)
{
    struct model m = begin(1, PACER_RELEASE, 0.05);
    uint32_t seq = 0, others = 0;
    bool paced;

    look(&m, false);
    for (int i = 0; i < 15; i++)
        look(&m, false);
    for (int i = 0; i < 6000; i++) {
        struct pacer_collective c = { .comm = i % 6 ? 2 : 1,
                                      .signature = i % 6 ? 2 : 1,
                                      .seq = i % 6 ? others++ : seq++ };

        paced = pacer_current(&m.p) && c.comm == m.p.comm &&
                holdout_paced(c.comm, c.seq, pacer_epoch(&m.p), pacer_every(&m.p, &m.params));
        c.paced = paced;
        c.cycle_s = (paced ? 0.5 : 1) * (i % 6 ? 0.01 : 0.05) * exp(0.05 * gauss());
        pacer_tick(&m.p, &m.params, &m.sight, &c);
    }
    ok(m.p.mode == PACER_IN_FORCE && near(exp(m.p.gain), 0.5, 0.1),
       "with several communicators the lever is in force\nratio %.3f", exp(m.p.gain));
    for (uint32_t i = 0; i <= PACER_OTHERS; i++)
        pacer_tick(&m.p, &m.params, &m.sight,
                   &(struct pacer_collective){ .comm = 7, .seq = i, .cycle_s = 0.01 });
    ok(pacer_current(&m.p) == 0, "the lever is off when its communicator is not used any more");
}

/* Trials of levers that harm cost a job next to nothing, however many nodes try them at times of their own.
 */
static void test_cost(void)
{
    static const struct regime harm = { "harm", 8, 4, true, 300, 0.3, 0, { 1.15, 1.15, 1.15, 1.15 } };
    struct model m[8];
    uint32_t steps = 4000;
    double sum = 0;

    random_state = 3;
    for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
        m[i] = begin(1, 15, 0.05);
        m[i].r = &harm;
    }
    for (uint32_t s = 0; s < steps; s++) {
        double time = 1, noise = 0.1 * gauss();
        bool paced[ARRAY_SIZE(m)];

        for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
            paced[i] = pacer_current(&m[i].p) &&
                       holdout_paced(99, s, pacer_epoch(&m[i].p), pacer_every(&m[i].p, &m[i].params));
            time = paced[i] ? 1.15 : time;
        }
        sum += time;
        for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
            look(&m[i], paced[i]);
            pacer_tick(
                &m[i].p, &m[i].params, &m[i].sight,
                &(struct pacer_collective){ paced[i], 99, s, 1, time * exp(noise + m[i].noise * gauss()) });
        }
    }
    ok(sum / steps < 1.01, "8 nodes try 4 levers that harm all of them\n%.4f of the time", sum / steps);
}

/* A lever without effect is off within 32 collectives, each time later. */
static void test_backing_off(void)
{
    struct model m = begin(3, PACER_RELEASE | PACER_STAGGER, 0.1);
    uint32_t longest = 0, now = 0, trials = 0;

    for (int i = 0; i < 20000; i++) {
        step(&m);
        if (m.p.mode == PACER_OFF) {
            now = 0;
        } else {
            trials += now == 0;
            longest = ++now > longest ? now : longest;
        }
    }
    ok(longest <= PACER_TRIAL, "a trial is bounded\n%u collectives at most", longest);
    ok(trials >= 2 && trials < 24, "20000 collectives see 2 to 23 trials\n%u", trials);
}

/* After any history, the cause is removed: within 64 collectives the step takes what it takes without us. */
static void test_histories(void)
{
    int histories = 4000, slow = 0;
    double worst = 0;

    random_state = 20;
    for (int h = 0; h < histories; h++) {
        struct model m = begin(0, 15, 0.01 * uniform());
        int chapters = 1 + (int)(uniform() * 6);
        double mean;

        m.params.every = 2 + (uint32_t)(uniform() * 15);
        m.params.epoch = (uint32_t)(uniform() * 20);
        for (int c = 0; c < chapters; c++) {
            m.r = &regimes[(size_t)(uniform() * 5)];
            m.params.levers = (uint32_t)(uniform() * 16);
            run(&m, (int)(uniform() * 600));
        }
        m.params.levers = 15;
        m.r = &regimes[0];
        run(&m, 64);
        mean = run(&m, 256);
        worst = fmax(worst, mean);
        slow += mean > 1.01;
        if (mean > 1.01 && slow < 4)
            printf("# history %d: %.4f, lever %u\n", h, mean, pacer_current(&m.p));
    }
    ok(slow == 0,
       "%d random histories: 64 collectives after the cause is gone no step is slower\nat most %.4f of the step",
       histories, worst);
}

static void test_words(void)
{
    ok(pacer_lever_name(PACER_DELAY) && !pacer_lever_name(3) && !pacer_lever_name(0),
       "each lever has a name, and other bits have none");
}

/* Impossible times leave no trace in the sums. */
static void test_nonsense(void)
{
    struct model m = begin(1, 15, 0.01);
    const struct pacer_sight sight = { 15, 8, 2, 300, 0.5, true }, unknown = { 15, 8, 2, NAN, NAN, true };
    const double times[] = { NAN, -1, 0, INFINITY, 1e300, 1e-300 };

    for (int i = 0; i < 600; i++)
        pacer_tick(&m.p, &m.params, &sight,
                   &(struct pacer_collective){ i % 2, 1, (uint32_t)i, (uint64_t)i % 3, times[i % 6] });
    for (uint32_t i = 0; i < PACER_LEVERS; i++)
        if (m.p.lever[i].seen.n)
            ok(isfinite(m.p.lever[i].seen.sum), "lever %u: the sum is finite after invalid input", i);
    m = begin(1, 15, 0.01);
    for (int i = 0; i < 600; i++)
        pacer_tick(&m.p, &m.params, &unknown, &(struct pacer_collective){ false, 1, (uint32_t)i, 1, 1 });
    ok(pacer_current(&m.p) == 0, "unknown waits are no cause for a lever");
}

int main(void)
{
    test_epochs();
    test_validity();
    test_figures();
    test_choice();
    test_lasting();
    test_communicators();
    test_cost();
    test_backing_off();
    test_histories();
    test_words();
    test_nonsense();
    return done_testing();
}
