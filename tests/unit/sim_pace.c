/* Pacing by the live rules in simulated jobs: what it gains, and that it leaves nothing behind. */
#include <stdlib.h>

#include "sim/simulation.h"
#include "tests/random.h"
#include "tests/tap.h"

#define WINDOW    640  /* steps that are compared, once pacing had ... */
#define SETTLE    64   /* ... so many collectives to notice that the cause is gone */
#define SLOWER    1.01 /* than without pacing, at most */
#define HISTORIES 2400

static struct scenario scenario;

/* The window of a run: from the end of a step to the end of another. */
struct run {
    struct sim_job_result result; /* without its arrays */
    int from, until;
    double from_s, until_s;
};

static int on_collective(void *arg, const struct sim_job_collective *c, struct err *err)
{
    struct run *r = arg;
    uint32_t buckets = (uint32_t)scenario.jobs[0].buckets;
    double end_s = 0;

    (void)err;
    if (c->job || c->node >= 0 || (c->seq + 1) % buckets)
        return 0;
    for (uint32_t i = 0; i < c->n; i++)
        end_s = fmax(end_s, c->leave_s[i]);
    if ((c->seq + 1) / buckets == (uint32_t)r->from)
        r->from_s = end_s;
    if ((c->seq + 1) / buckets == (uint32_t)r->until)
        r->until_s = end_s;
    return 0;
}

static void simulate(struct run *r, const char *text)
{
    struct sim_job_hooks hooks = { .collective = on_collective, .arg = r };
    struct simulation *m = NULL;
    struct err err = { "" };

    if (scenario_parse(&scenario, "t", text, strlen(text), &err) < 0 ||
        !(m = simulation_new(&scenario, &hooks, &err)) || simulation_run(m, &err) < 0) {
        printf("Bail out! %s\n%s", err.text, text);
        exit(1);
    }
    r->result = *simulation_result(m, 0);
    simulation_free(m);
}

/* ---- what it gains ---- */

static struct run oversubscribed(const char *keys)
{
    struct run r = { .from = 200, .until = 1000 };
    char text[512];

    snprintf(text, sizeof(text),
             "Run=r\nFabric=flat Nodes=2\nJob=a Ranks=16 RanksPerNode=8 Cores=2 Steps=1000 Compute=20ms "
             "Buckets=1 Bytes=1MB %s\nNoise=rank Cv=0.1\nFault=slow Rank=3 Ratio=2\n",
             keys);
    simulate(&r, text);
    return r;
}

static double window_s(const struct run *r)
{
    return r->until_s - r->from_s;
}

static void test_gain(void)
{
    struct run none = oversubscribed(""), gate = oversubscribed("Pacing=gate"),
               paced = oversubscribed("Pacing=auto");
    struct run denied = oversubscribed("Pacing=auto PaceLevers=none"),
               delay = oversubscribed("Pacing=auto PaceLevers=delay");
    const struct sim_job_lever *release = &paced.result.lever[0];
    double most = window_s(&none) / window_s(&gate), got = window_s(&none) / window_s(&paced);

    ok(most > 1.5,
       "8 ranks on 2 cores, one slow: giving cores away at all times is more than 1.5 times as fast\n%.3f",
       most);
    ok(got > 1 + 0.8 * (most - 1) && got < most,
       "Pacing=auto, hold-out included, gains most of that\n%.3f times as fast", got);
    ok(release->in_force == 2 && release->why == PACER_HELPS && paced.result.pace_nodes == 2,
       "lever release is in force on both nodes");
    ok(release->high < 1 && release->low < release->ratio && release->ratio < release->high &&
           release->low < 1 / most && release->high > 1 / most,
       "the hold-out's interval is about its ratio and has the truth\n%.3f (%.3f to %.3f) of the time, in truth %.3f",
       release->ratio, release->low, release->high, 1 / most);
    ok(release->paced > 800 && release->paced < 1000 * 11 / 12.0 && paced.result.pace_collectives == 1000,
       "lever release was used in most of 1000 collectives\n%.0f of %.0f", release->paced,
       paced.result.pace_collectives);
    ok(paced.result.lever[1].why == PACER_NO_CAUSE && paced.result.lever[1].paced == 0 &&
           paced.result.lever[3].why == PACER_UNALLOWED,
       "no lever but release was used");
    ok(denied.result.end_s == none.result.end_s && denied.result.lever[0].why == PACER_UNALLOWED,
       "without allowed levers the run is identical to one without pacing");
    ok(window_s(&delay) < 1.01 * window_s(&none), "delays alone\n%.3f times",
       window_s(&none) / window_s(&delay));
}

/* A policy of a day in which levers come and go. */
static void test_policies(void)
{
    struct run all = oversubscribed("Pacing=auto\nPolicy=a From=500 PaceLevers=none"),
               none = oversubscribed("");
    struct run late = oversubscribed("Pacing=auto PaceLevers=none\nPolicy=a From=500 PaceLevers=gate");

    ok(all.result.lever[0].in_force == 0 && all.result.lever[0].why == PACER_UNALLOWED &&
           all.result.lever[0].paced > 400 && all.result.lever[0].paced <= 500,
       "a lever allowed for 500 steps is used in these only\n%.0f collectives", all.result.lever[0].paced);
    ok(late.result.lever[1].in_force == 2 && late.result.lever[1].paced > 400 &&
           late.result.lever[1].paced < 500 && window_s(&late) < 0.9 * window_s(&none),
       "a lever allowed from step 500 on is used from there on\n%.0f collectives",
       late.result.lever[1].paced);
}

/* ---- nothing is left behind ---- */

struct history {
    char fabric[256], job[512], causes[1024], policies[1024];
    int calm; /* the first step without a cause */
    int steps;
    bool oversubscribed;
};

static int between(int low, int high)
{
    return low + (int)(uniform() * (high - low + 1));
}

static double log_between(double low, double high)
{
    return low * pow(high / low, uniform());
}

__attribute__((format(printf, 3, 4))) static void add(char *to, size_t size, const char *fmt, ...)
{
    size_t at = strlen(to);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(to + at, size - at, fmt, ap);
    va_end(ap);
}

static const char *levers_words(uint32_t levers)
{
    static char words[64];

    *words = '\0';
    for (uint32_t i = 0; i < PACER_LEVERS; i++) {
        if (levers & 1u << i)
            add(words, sizeof(words), "%s%s", *words ? "," : "", pacer_lever_name(1u << i));
    }
    return *words ? words : "none";
}

static void draw_job(struct history *h)
{
    static const char *const algorithms[] = { "ring", "tree", "doubling", "halving" };
    int nodes = between(1, 3), per_node = between(2, 6);
    int cores = uniform() < 0.5 ? between(1, per_node - 1) : 0, buckets = between(1, 3);
    int inner = uniform() < 0.2, collectives = buckets + inner, seed;
    double link;

    h->oversubscribed = cores > 0;
    h->steps = h->calm + (SETTLE + collectives - 1) / collectives + WINDOW;
    seed = between(1, 1000000);
    link = log_between(500, 20000);
    snprintf(h->fabric, sizeof(h->fabric),
             "Run=r Seed=%d Network=rounds\nFabric=flat Nodes=3 Link=%.0fMB/s Latency=%.0fns\n", seed, link,
             log_between(100, 20000));
    snprintf(h->job, sizeof(h->job), "Job=a Ranks=%d RanksPerNode=%d Cores=%d Steps=%d Buckets=%d Inner=%d",
             nodes * per_node, per_node, cores, h->steps, buckets, inner);
    add(h->job, sizeof(h->job), " Compute=%.3fms", log_between(1, 50));
    add(h->job, sizeof(h->job), " LastBucket=%.2f", uniform() < 0.5 ? 1 : 0.1 + 0.9 * uniform());
    add(h->job, sizeof(h->job), " Bytes=%.0fkB", log_between(1, 20000));
    add(h->job, sizeof(h->job), " Algorithm=%s", algorithms[between(0, 3)]);
    add(h->job, sizeof(h->job), " Wake=%.0fus", 200 * uniform());
    add(h->job, sizeof(h->job), " PaceMaxDelay=%.2fms", log_between(0.1, 1000));
    add(h->job, sizeof(h->job), " PaceShare=%.2f", uniform());
    add(h->job, sizeof(h->job), " PaceEpoch=%d", between(1, 16));
    add(h->job, sizeof(h->job), " PaceHoldout=%d", between(2, 12));
    add(h->causes, sizeof(h->causes), "Noise=rank Cv=%.4f", 0.2 * uniform() * uniform());
    add(h->causes, sizeof(h->causes), " Static=%.4f", 0.1 * uniform() * uniform());
    add(h->causes, sizeof(h->causes), " Shape=%s\n", uniform() < 0.5 ? "normal" : "lognormal");
    if (uniform() < 0.2)
        add(h->causes, sizeof(h->causes), "Noise=node Cv=0.02 Autocorrelation=0.9\n");
    if (uniform() < 0.2)
        add(h->causes, sizeof(h->causes), "Noise=rank SpikeRate=0.003 SpikeMean=2\n");
    for (int c = 0, from = 0, until = 0; from < h->calm; from = until) {
        static const char *const kinds[] = { "slow", "drift", "stall" };

        until = from + between(20, 150);
        until = until < h->calm ? until : h->calm;
        add(h->policies, sizeof(h->policies), "Policy=a From=%d PaceLevers=%s\n", from,
            levers_words((uint32_t)between(0, 15)));
        if (uniform() >= 0.8 || c++ >= 6)
            continue;
        add(h->causes, sizeof(h->causes), "Fault=%s From=%d Until=%d Over=50 Time=5ms", kinds[between(0, 2)],
            from, until);
        add(h->causes, sizeof(h->causes), " Rank=%d", between(0, nodes * per_node - 1));
        add(h->causes, sizeof(h->causes), " Ratio=%.2f", 1.05 + 2 * uniform());
        add(h->causes, sizeof(h->causes), " Every=%d\n", between(1, 30));
    }
    add(h->policies, sizeof(h->policies), "Policy=a From=%d PaceLevers=%s\n", h->calm,
        levers_words(uniform() < 0.5 ? 15 : (uint32_t)between(1, 15)));
}

/* Times of the window, with pacing over without. */
static double after(const struct history *h, struct run *paced)
{
    struct run without = { .from = h->steps - WINDOW, .until = h->steps };
    char text[4096];

    *paced = without;
    snprintf(text, sizeof(text), "%s%s\n%s", h->fabric, h->job, h->causes);
    simulate(&without, text);
    snprintf(text, sizeof(text), "%s%s Pacing=auto\n%s%s", h->fabric, h->job, h->causes, h->policies);
    simulate(paced, text);
    return window_s(paced) / window_s(&without);
}

struct tally {
    int histories, slow, had, ends_with;
    double worst;
};

static void take(struct tally *t, const struct history *h, const struct run *r, double ratio)
{
    double paced = 0;
    bool in_force = false;

    for (uint32_t i = 0; i < PACER_LEVERS; i++) {
        paced += r->result.lever[i].paced;
        in_force = in_force || r->result.lever[i].in_force;
    }
    t->histories++;
    t->had += paced > 0;
    t->ends_with += in_force;
    t->worst = fmax(t->worst, ratio);
    if (ratio <= SLOWER)
        return;
    if (t->slow++ < 4)
        printf("# %.4f of the time: %s%s Pacing=auto\n%s%s", ratio, h->fabric, h->job, h->causes,
               h->policies);
}

/* Mean steps, trials that fall among them included: over 208 steps one trial shows, and of 7200 jobs (seeds
 * 77, 1, 2) 6 took more than 1.01, at most 1.015; over 640 none did.  Seeds are the second argument. */
static void test_histories(int histories)
{
    struct tally tally[2] = { { 0 }, { 0 } };

    for (int i = 0; i < histories; i++) {
        struct history h = { .calm = between(40, 500) };
        struct run paced;
        double ratio;

        draw_job(&h);
        ratio = after(&h, &paced);
        take(&tally[h.oversubscribed], &h, &paced, ratio);
    }
    for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
        const struct tally *t = &tally[oversubscribed];

        ok(t->slow == 0 && t->had > t->histories / 20,
           "%s, random histories: after the cause is gone steps take no longer than without pacing\n%d histories, %d of them with levers, %d in force at the end: %d collectives after the cause is gone %d steps take at most %.4f of the time",
           oversubscribed ? "shared cores" : "a core each", t->histories, t->had, t->ends_with, SETTLE,
           WINDOW, t->worst);
    }
}

int main(int argc, char **argv)
{
    random_state = argc > 2 ? (uint64_t)atoi(argv[2]) : 77;
    test_gain();
    test_policies();
    test_histories(argc > 1 ? atoi(argv[1]) : (int)tried_of(HISTORIES));
    return done_testing();
}
