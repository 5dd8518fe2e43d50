/* What simulated jobs do, against formulas and against each other. */
#include "sim/simulation.h"

#include <stdlib.h>

#include "model/cadence.h"
#include "tests/tap.h"

/* A job of 64 ranks, one a node, without communication. */
#define BARE                                            \
    "Run=r Seed=%d\nFabric=flat Nodes=64 Latency=0us\n" \
    "Job=a Ranks=64 RanksPerNode=1 Compute=1s Buckets=1 Bytes=0 "

static struct scenario scenario;
static struct simulation *simulation;

__attribute__((format(printf, 1, 2))) static const struct sim_job_result *simulate(const char *fmt, ...)
{
    char text[4096];
    struct err err = { "" };
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    simulation_free(simulation);
    simulation = NULL;
    if (scenario_parse(&scenario, "t", text, strlen(text), &err) < 0 ||
        !(simulation = simulation_new(&scenario, NULL, &err)) || simulation_run(simulation, &err) < 0) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return simulation_result(simulation, 0);
}

static double step_s(const struct sim_job_result *r)
{
    return (r->end_s - r->begin_s) / (double)r->steps;
}

/* ---- staleness ---- */

/* The known ratios: cv 0.3, 64 ranks (lognormal). */
static void test_staleness_jitter(void)
{
    static const struct {
        int bound;
        double want;
    } known[] = { { 0, 1.93 }, { 1, 1.22 }, { 2, 1.11 }, { 4, 1.06 } };

    for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
        double got = step_s(simulate(BARE "Steps=%d Sync=staleness Staleness=%d\nNoise=rank Cv=0.3\n", 1,
                                     tried_in_part() ? 2000 : 4000, known[i].bound));

        ok(fabs(got - known[i].want) < 0.015,
           "jitter, bound %d: the known share of the work\n%.3f, wanted %.2f", known[i].bound, got,
           known[i].want);
    }
}

static void test_staleness_slow_rank(void)
{
    double synchronous = step_s(simulate(BARE "Steps=500\nFault=slow Rank=9 Ratio=1.5\n", 1));

    for (int bound = 1; bound <= 4; bound *= 2) {
        double got = step_s(
            simulate(BARE "Steps=500 Sync=staleness Staleness=%d\nFault=slow Rank=9 Ratio=1.5\n", 1, bound));

        ok(near(got, synchronous, 0.002) && near(got, 1.5, 0.002),
           "a rank that is always slow, bound %d\n%.4f s, no gain", bound, got);
    }
}

/* ---- fewer barriers, no barriers ---- */

static void test_local(void)
{
    double often = step_s(simulate(BARE "Steps=4096\nNoise=rank Cv=0.1 Shape=normal\n", 1)) - 1;

    for (int every = 4; every <= 64; every *= 4) {
        double got = step_s(simulate(BARE "Steps=8192 Sync=local Every=%d\nNoise=rank Cv=0.1 Shape=normal\n",
                                     1, every)) -
                     1;

        ok(near(got * sqrt(every), often, 0.06), "a barrier every %d steps: waiting falls to 1/%.0f\n%.3f",
           every, sqrt(every), got / often);
    }
    ok(near(step_s(simulate(BARE "Steps=500 Sync=local Every=10\nFault=slow Rank=9 Ratio=1.5\n", 1)), 1.5,
            1e-9),
       "local steps gain nothing with a rank that is always slow");
}

static void test_asynchronous(void)
{
    const struct sim_job_result *r = simulate(
        BARE "Steps=2000 Sync=asynchronous\nFault=slow Rank=9 Ratio=4\nFault=slow Rank=3 Ratio=2\n", 1);
    double rate = 64 / step_s(r);

    ok(near(rate, 62 + 0.25 + 0.5, 0.002),
       "asynchronous: updates per second are the sum of the ranks' rates\n%.3f", rate);
    r = simulate(
        "Run=r\nFabric=flat Nodes=64 Link=1GB/s Latency=0us\n"
        "Job=a Ranks=64 RanksPerNode=1 Compute=10ms Bytes=10MB Sync=asynchronous Steps=200 Servers=4\n");
    ok(near(step_s(r), 64 * 2 * 10e6 / 4e9, 0.01), "the servers are the limit\n%.4f s a round of updates",
       step_s(r));
}

/* ---- shared cores ---- */

static double on_cores(const char *pacing, int cores)
{
    return step_s(simulate("Run=r\nFabric=flat Nodes=4 Latency=2us\nJob=a Ranks=64 RanksPerNode=16 Steps=100 "
                           "Compute=20ms Buckets=2 Bytes=1MB Cores=%d Pacing=%s\n"
                           "Noise=rank Cv=0.3 Shape=gamma Static=0.1\n",
                           cores, pacing));
}

static void test_gating(void)
{
    double spin = on_cores("none", 8), gate = on_cores("gate", 8), delay = on_cores("delay", 8);

    ok(gate < 0.85 * spin, "16 ranks on 8 cores: giving cores away gains\n%.1f for %.1f ms", gate * 1e3,
       spin * 1e3);
    ok(delay < spin, "sleeping shortens the step on shared cores, less than a gate\n%.1f ms", delay * 1e3);
    ok(on_cores("gate", 16) == on_cores("none", 16), "with a core each a gate changes nothing");
    ok(on_cores("delay", 16) >= on_cores("none", 16) * (1 - 1e-12),
       "with a core each sleeping gains nothing");
}

/* ---- checkpoints ---- */

static void test_checkpoints(void)
{
    /* 4 nodes of 4000 s: the job fails every 1000 s. */
    const double mtbf = 1000, write = 20, restart = 40, interval = 200;
    double want = cadence_goodput(interval, write, restart, mtbf), sum = 0, squares = 0, mean, error;
    const int runs = 10;

    for (int seed = 1; seed <= runs; seed++) {
        const struct sim_job_result *r =
            simulate("Run=r Seed=%d\nFabric=flat Nodes=4 Latency=0us\n"
                     "Job=a Ranks=4 RanksPerNode=1 Compute=1s Buckets=1 Bytes=0 Steps=100000\n"
                     "Checkpoint=a Write=20s Restart=40s Cadence=fixed Interval=200s NodeMtbf=4000s\n",
                     seed);
        double goodput = (double)r->steps / (r->end_s - r->begin_s);

        sum += goodput;
        squares += goodput * goodput;
    }
    mean = sum / runs;
    error = sqrt((squares / runs - mean * mean) / (runs - 1));
    ok(fabs(mean - want) < 3.5 * error && error < 0.005,
       "the goodput is that of the exact formula\n%.4f +- %.4f, of %.4f", mean, error, want);
    ok(simulate("Run=r\nFabric=flat Nodes=4\nJob=a Ranks=4 RanksPerNode=1 Compute=100s Steps=3\n"
                "Checkpoint=a Write=1s Restart=1s NodeMtbf=20s\n")
               ->state == SIM_JOB_STUCK,
       "a job whose step never ends before the next failure is stuck");
}

static void test_cadence(void)
{
    ok(near(simulate("Run=r\nFabric=flat Nodes=4\nJob=a Ranks=4 RanksPerNode=1 Steps=1\n"
                     "Checkpoint=a Write=30s Cadence=young NodeMtbf=4h\n")
                ->interval_s,
            sqrt(2 * 30 * 3600), 1e-9),
       "the interval is Young's for the failure rate of all nodes");
}

/* ---- deaths, stalls ---- */

static void test_death(void)
{
    const struct sim_job_result *r = simulate(BARE "Steps=50\nFault=death Rank=3 From=20\n", 1);

    ok(r->state == SIM_JOB_STALLED && r->steps == 20,
       "a job whose rank dies at step 20 stalls after 20 steps");
    r = simulate(BARE "Steps=50\nFault=death Rank=3 From=20\n"
                      "Checkpoint=a Write=1s Restart=9s Cadence=fixed Interval=8s\n",
                 1);
    ok(r->state == SIM_JOB_DONE && r->failures == 1, "a job with checkpoints continues after a rank dies");
    /* Writes after 8, 16, 24, ... 48 steps; 4 steps and the restart are lost. */
    ok(near(r->end_s, 50 + 6 + 4 + 9, 1e-9), "what it did since the last one is done again\n%.3f s",
       r->end_s);
}

/* ---- the same for the same seed, and for another order ---- */

static void test_reproducible(void)
{
#define MESSY                                                                                      \
    "Run=r Seed=%d\nFabric=leafspine Nodes=8 NodesPerSwitch=4 Spines=2\n"                          \
    "Job=a Ranks=32 RanksPerNode=4 Steps=40 Inner=1 Placement=%s Algorithm=halving\n"              \
    "Noise=rank Cv=0.1 SpikeRate=0.01\nNoise=node Cv=0.05 Autocorrelation=0.5\nFault=slow Node=2 " \
    "Ratio=1.1\n"
    double first = simulate(MESSY, 1, "contiguous")->end_s, again = simulate(MESSY, 1, "contiguous")->end_s;

    ok(first == again, "the same seed gives the same run");
    ok(first != simulate(MESSY, 2, "contiguous")->end_s, "another seed gives another run");
    /* Noise belongs to the rank; where it sits matters to the network alone. */
    ok(near(simulate(BARE "Steps=40\nNoise=rank Cv=0.3\n", 1)->end_s,
            simulate(BARE "Steps=40 Placement=shuffled\nNoise=rank Cv=0.3\n", 1)->end_s, 1e-12),
       "another order of ranks gives the same run");
}

/* A job alone is the same in lockstep and in play, beside one that does not touch it. */
static void test_play(void)
{
#define ALONE                                                                           \
    "Run=r Network=exact\nFabric=flat Nodes=16\n"                                       \
    "Job=a Ranks=16 RanksPerNode=4 Steps=20 Inner=%d Algorithm=%s Overlap=%s Sync=%s\n" \
    "Noise=rank Cv=0.1\nFault=slow Rank=3 Ratio=1.2 From=5\n"
#define BESIDE ALONE "Job=b Ranks=8 RanksPerNode=4 FirstNode=8 Steps=30\n"
    static const struct {
        int inner;
        const char *algorithm, *overlap, *sync;
    } cases[] = {
        { 1, "ring", "no", "synchronous" },
        { 1, "halving", "yes", "synchronous" },
        { 0, "ring", "no", "staleness" },
        { 1, "tree", "no", "local" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sim_job_result alone =
            *simulate(ALONE, cases[i].inner, cases[i].algorithm, cases[i].overlap, cases[i].sync);
        struct sim_job_result beside =
            *simulate(BESIDE, cases[i].inner, cases[i].algorithm, cases[i].overlap, cases[i].sync);

        ok(near(alone.end_s, beside.end_s, 1e-9) && near(alone.sync_s, beside.sync_s, 1e-6) &&
               near(alone.comm_s, beside.comm_s, 1e-6) && near(alone.compute_s, beside.compute_s, 1e-9),
           "%s, %s, overlap %s: the same in play\n%.6f, %.6f s", cases[i].algorithm, cases[i].sync,
           cases[i].overlap, alone.end_s, beside.end_s);
    }
}

/* So it is where ranks share cores, and where a job saves, fails and begins again. */
static void test_play_all_at_once(void)
{
#define SAVING                                                                            \
    "Run=r Network=exact Seed=3\nFabric=flat Nodes=16\n"                                  \
    "Job=a Ranks=16 RanksPerNode=4 Steps=%d Inner=1 Algorithm=halving Compute=100ms %s\n" \
    "Fault=slow Rank=3 Ratio=1.3 From=5\n%s\n"
#define OTHER "Job=b Ranks=8 RanksPerNode=4 FirstNode=8 Steps=30\n"
    static const struct {
        int steps;
        const char *keys, *lines, *name;
    } cases[] = {
        { 20, "Cores=2", "Noise=rank Cv=0.1", "shared cores" },
        { 20, "Cores=2 Pacing=gate", "Noise=rank Cv=0.1", "gated" },
        { 20, "Cores=3 Pacing=gate Wake=1ms", "Noise=rank Cv=0.1", "gated, slow to wake" },
        { 20, "Cores=2 Pacing=delay PaceMaxDelay=5ms", "Noise=rank Cv=0.1", "paced on shared cores" },
        { 300, "Cores=2 Pacing=auto", "Noise=rank Cv=0.05", "paced by the live rules" },
        { 300, "Cores=3 Pacing=auto PaceLevers=delay,stagger Wake=1ms",
          "Noise=rank Cv=0.05\nPolicy=a From=200 PaceLevers=gate", "other levers" },
        { 300, "Pacing=auto PaceLevers=stagger", "Noise=rank Cv=0.1", "staggered" },
        { 500, "Cores=2 Pacing=auto PaceEpoch=4",
          "Checkpoint=a Write=300ms Restart=1s Cadence=fixed Interval=20s NodeMtbf=400s",
          "failures of a job that paces" },
        { 200, "", "Checkpoint=a Write=1s Cadence=fixed Interval=3s", "checkpoints" },
        { 500, "", "Checkpoint=a Write=300ms Restart=1s Cadence=fixed Interval=2s NodeMtbf=40s", "failures" },
        { 500, "",
          "Checkpoint=a Write=300ms Restart=1s Cadence=fixed Interval=2s NodeMtbf=40s\n"
          "Noise=rank Cv=0.1\nGate=node Node=0 Limit=1\nGate=node Node=1 Limit=2",
          "failures before gates" },
        { 500, "Cores=2 Pacing=gate",
          "Checkpoint=a Write=300ms Restart=1s Cadence=fixed Interval=2s NodeMtbf=40s",
          "failures on gated cores" },
        { 200, "Overlap=yes", "Checkpoint=a Write=300ms Restart=1s Cadence=exact NodeMtbf=60s",
          "failures beside overlap" },
        { 50, "", "Fault=death Rank=3 From=20\nCheckpoint=a Write=1s Restart=9s Cadence=fixed Interval=1s",
          "a death" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct sim_job_result alone = *simulate(SAVING, cases[i].steps, cases[i].keys, cases[i].lines);
        struct sim_job_result beside = *simulate(SAVING OTHER, cases[i].steps, cases[i].keys, cases[i].lines);

        ok(near(alone.end_s, beside.end_s, 1e-9) && near(alone.sync_s, beside.sync_s, 1e-6) &&
               near(alone.compute_s, beside.compute_s, 1e-9) && near(alone.lost_s, beside.lost_s, 1e-9) &&
               alone.checkpoints == beside.checkpoints && alone.failures == beside.failures &&
               alone.state == beside.state,
           "%s: the same in play\n%.6f, %.6f s; %llu checkpoints, %llu failures", cases[i].name, alone.end_s,
           beside.end_s, (unsigned long long)alone.checkpoints, (unsigned long long)alone.failures);
    }
    ok(simulate("Run=r\nFabric=flat Nodes=8\nJob=a Ranks=4 RanksPerNode=1 Compute=100s Steps=3\n"
                "Job=b Ranks=4 RanksPerNode=1 FirstNode=4 Steps=3\n"
                "Checkpoint=a Write=1s Restart=1s NodeMtbf=20s\n")
               ->state == SIM_JOB_STUCK,
       "a stuck job is also detected message by message");
}

static void test_contention(void)
{
#define UPLINKS "Run=r\nFabric=leafspine Nodes=8 NodesPerSwitch=4 Spines=1 Link=1GB/s Uplink=1GB/s\n"
#define ONE     "RanksPerNode=1 NodeStride=2 Placement=round-robin Steps=10 Compute=1ms Buckets=1 Bytes=100MB "
    double alone = simulate(UPLINKS "Job=a Ranks=4 " ONE "\n")->end_s;
    double both = simulate(UPLINKS "Job=a Ranks=4 " ONE "\nJob=b Ranks=4 FirstNode=1 " ONE "\n")->end_s;

    ok(both > 1.5 * alone, "two jobs on one uplink slow each other down\n%.2f instead of %.2f s", both,
       alone);
}

static void test_shares(void)
{
    const struct sim_job_result *r =
        simulate("Run=r\nFabric=flat Nodes=8 Link=1GB/s\nJob=a Ranks=8 RanksPerNode=1 Steps=30 Compute=50ms "
                 "Bytes=10MB\nNoise=rank Cv=0.1\nFault=stall Rank=2 Time=100ms From=3 Every=10\n");
    double sum = r->compute_s + r->sync_s + r->comm_s, time = r->end_s - r->begin_s;
    double median_s = spread_quantile(&r->step, 0.5);

    ok(near(sum, 8 * time, 0.01), "work, waiting and transfers are all of the time\n%.4f of it",
       sum / 8 / time);
    ok(r->last[2] >= 3, "the rank that stalls is counted as the last");
    r = simulate("Run=r\nFabric=flat Nodes=8 Link=1GB/s\nJob=a Ranks=8 RanksPerNode=1 Steps=30 Compute=50ms "
                 "Bytes=10MB\nNoise=rank Cv=0.1\n");
    ok(near(median_s, step_s(r), 0.05), "the median step has no stall");
}

static void test_links(void)
{
#define LINKS \
    "Run=r\nFabric=flat Nodes=8 Link=1GB/s Latency=1us\nJob=a Ranks=8 RanksPerNode=1 Steps=20 Compute=1ms "
    double well = simulate(LINKS "Bytes=10MB\n")->end_s;
    double slow = simulate(LINKS "Bytes=10MB\nFault=link Node=3 Ratio=0.5 From=10\n")->end_s;
    const struct sim_job_result *r;
    double late = simulate(LINKS "Bytes=0\nFault=latency Node=3 Time=1ms From=10 Until=15\n")->end_s;

    ok(near(slow - well, (well - 0.020) / 2, 0.02),
       "a link at half rate for half of the steps adds half of the transfer time");
    /* One server: its link is the collective, so the step varies as the link does. */
    r = simulate("Run=r\nFabric=flat Nodes=8 Link=1GB/s Latency=0us\nJob=a Ranks=8 RanksPerNode=1 Steps=4000 "
                 "Compute=0s Buckets=1 Bytes=10MB Algorithm=server\nNoise=link Node=0 Cv=0.3\n");
    ok(near(r->step.mean, 2 * 7 * 10e6 / 1e9, 0.02) && near(spread_cv(&r->step), 0.3, 0.05),
       "a link that varies: the mean stays, the step varies\n%.4f s, %.3f", r->step.mean,
       spread_cv(&r->step));
    /* Four collectives a step, each of 14 rounds that cross that node once each way. */
    ok(late > 5 * 4 * 14 * 1e-3, "additional latency delays every round of the ring during the fault\n%.3f s",
       late);
}

/* 4 pods of 4 leaves of 4 nodes.  In halving over 64 ranks in order nobody shares a cable; pods exchange a
 * 32nd and a 64th of the buffer, both ways of the collective. */
static void test_fattree(void)
{
#define FATTREE                                                                                        \
    "Run=r\nFabric=fattree Nodes=64 NodesPerSwitch=4 Spines=4 LeavesPerPod=4 Link=1GB/s Uplink=1GB/s " \
    "Latency=0us TopCables=%d TopLink=%s\nJob=a Ranks=64 RanksPerNode=1 Steps=1 Compute=0s Buckets=1 " \
    "Bytes=64MB Algorithm=halving\n"
    double whole = simulate(FATTREE, 4, "1GB/s")->end_s;
    double narrow = simulate(FATTREE, 4, "250MB/s")->end_s;
    double few = simulate(FATTREE, 1, "1GB/s")->end_s;

    ok(near(whole, 2 * 63e6 / 1e9, 1e-9), "a full fat tree of three levels takes as long as one switch\n%g s",
       whole);
    ok(near(narrow - whole, 2 * (2e6 + 1e6) * (4 - 1) / 1e9, 1e-6),
       "a fat tree with a quarter of the top bandwidth slows the exchange between pods");
    ok(near(few, narrow, 0.01),
       "one top cable instead of four takes as long as a quarter of the bandwidth\n%g s", few);
    ok(near(simulate(FATTREE "Fault=link Switch=5 Ratio=0.5\n", 4, "1GB/s")->end_s - whole,
            2 * (8e6 + 4e6 + 2e6 + 1e6) / 1e9, 1e-6),
       "uplinks at half rate slow all traffic of the leaf");
}

int main(void)
{
    test_staleness_jitter();
    test_staleness_slow_rank();
    test_local();
    test_asynchronous();
    test_gating();
    test_checkpoints();
    test_cadence();
    test_death();
    test_reproducible();
    test_play();
    test_play_all_at_once();
    test_contention();
    test_shares();
    test_links();
    test_fattree();
    simulation_free(simulation);
    return done_testing();
}
