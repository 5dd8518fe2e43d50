/* From events of ranks whose clocks have nothing to do with each other to steps, lateness, verdicts. */
#include "view/comms.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "view/verdicts.h"
#include "view/view.h"

#include <stdlib.h>

#include "ring/ring.h"
#include "sampling/flow.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS    8u
#define PER_NODE 2u
#define WORLD    0x1234u
#define COMPUTE  0.050
#define NOISE    0.04

static const uint64_t buckets[] = { 4 << 20, 4 << 20, 1 << 20, 8 };

static struct job {
    struct view *view;
    struct flow *flow[RANKS];
    double now_s[RANKS];   /* true time */
    double clock_s[RANKS]; /* what the node's clock is ahead of it */
    uint64_t comm;
    uint32_t seq, step;
    double factor[RANKS]; /* of own work */
    double transfer_s;    /* of a collective */
    double noise;         /* of own work, from call to call */
    bool runs_ahead;      /* collectives are posted, and not waited for */
    uint32_t late;        /* what this many of the ranks send, the last ones, is held back */
} job;

static const struct view_params usual_params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

#define SENT 8192u
static struct telemetry_item sent[SENT]; /* the newest */
static size_t n_sent;
static struct telemetry_item held[SENT];
static size_t n_held;

static void to_view(const struct telemetry_item *item, void *arg)
{
    const uint32_t *rank = arg;

    sent[n_sent++ % SENT] = *item;
    if (*rank < RANKS - job.late)
        view_item(job.view, job.now_s[0], item);
    else
        held[n_held++] = *item;
}

static void announce(uint64_t name, uint32_t instance)
{
    for (uint32_t r = 0; r < RANKS; r++)
        view_item(job.view, job.now_s[0],
                  &(struct telemetry_item){ .kind = TELEMETRY_COMM,
                                            .comm = { .rank = r,
                                                      .name = name,
                                                      .membership = 1,
                                                      .size = RANKS,
                                                      .comm_rank = r,
                                                      .instance = instance,
                                                      .last = RANKS - 1 } });
}

static void add_ranks(uint32_t from, uint32_t to)
{
    for (uint32_t r = from; r < to; r++) {
        char node[16], switch_name[16];

        snprintf(node, sizeof(node), "node%u", r / PER_NODE);
        snprintf(switch_name, sizeof(switch_name), "leaf%u", r / PER_NODE / 2);
        view_rank_add(job.view, r, 0, node, switch_name);
    }
    announce(WORLD, 0);
}

/* The agents of the other ranks connect later. */
static void start_some(double rate_hz, uint32_t ranks)
{
    memset(&job, 0, sizeof(job));
    random_state = 7;
    job.transfer_s = 0.001;
    job.noise = NOISE;
    job.view = view_new(&usual_params, 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        job.flow[r] = flow_new(r, 0, rate_hz);
        job.clock_s[r] = 1000 + 5000 * (r / PER_NODE);
        job.factor[r] = 1;
    }
    job.comm = WORLD;
    add_ranks(0, ranks);
}

static void start(double rate_hz)
{
    start_some(rate_hz, RANKS);
}

static void finish(void)
{
    for (uint32_t r = 0; r < RANKS; r++)
        flow_free(job.flow[r]);
    view_free(job.view);
}

static void collective(uint64_t bytes, double compute_s)
{
    double enter[RANKS], last = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        enter[r] = job.now_s[r] + compute_s * job.factor[r] * (1 + job.noise * gauss());
        last = fmax(last, enter[r]);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        double leave = last + job.transfer_s + 5e-6 * uniform();
        struct call c = { .enter_ns = (uint64_t)((enter[r] + job.clock_s[r]) * 1e9),
                          .leave_ns = (uint64_t)((leave + job.clock_s[r]) * 1e9),
                          .comm = job.comm,
                          .bytes = bytes,
                          .seq = job.seq,
                          .root = -1,
                          .op = RING_OP_ALLREDUCE };

        if (job.runs_ahead) {
            c.begin_ns = c.enter_ns;
            c.leave_ns = c.enter_ns + 2000;
            c.flags = RING_EVENT_NONBLOCKING | RING_EVENT_UNWAITED;
        }
        flow_call(job.flow[r], &c, RANKS, 0, to_view, &r);
        job.now_s[r] = leave;
    }
    job.seq++;
}

static void steps(uint32_t n)
{
    for (uint32_t i = 0; i < n; i++, job.step++) {
        for (size_t b = 0; b < ARRAY_SIZE(buckets); b++)
            collective(buckets[b], b ? COMPUTE / 6 : COMPUTE / 2);
        view_tick(job.view, job.now_s[0]);
    }
}

static const struct view_verdict *verdict(void)
{
    const struct view_verdict *list;

    return view_verdicts_get(job.view, &list) ? list : NULL;
}

static void healthy(void)
{
    struct view_figures f;
    char sentence[256];

    start(100);
    steps(600);
    view_figures_get(job.view, job.now_s[0], &f);
    is_int(f.period, ARRAY_SIZE(buckets), "the step is found without markers");
    ok(f.steps >= 590 && f.steps <= 600, "steps are counted\n%llu of 600", (unsigned long long)f.steps);
    ok(near(f.step_mean_s, 0.056, 0.05), "the mean step is 56 ms\n%.4f s", f.step_mean_s);
    ok(f.regime == VIEW_COMPUTE, "the regime is compute: %s", view_regime_name(f.regime));
    ok(!verdict(), "noise alone raises no verdict");
    ok(f.mds > 1 && f.mds < 1.05, "the smallest slowdown that would be named is known\n%.3f", f.mds);
    ok(f.transfer_mds > 1.1 && f.transfer_mds < 3 && isnan(f.transfer_link_mds),
       "the smallest slowdown of transfers that would be named is known, of links it is not\n%.3f",
       f.transfer_mds);
    ok(f.step_p99_s >= f.step_p95_s && f.p99_steps >= 100,
       "the 99th percentile of steps is not below the 95th\nof %u steps: %.4f s, %.4f s", f.p99_steps,
       f.step_p99_s, f.step_p95_s);
    ok(f.synchronisation_ratio > 0.02 && f.synchronisation_ratio < 0.15,
       "the share of waiting is between 0.02 and 0.15\n%.3f", f.synchronisation_ratio);
    ok(fabs(f.compute_ratio + f.communication_ratio + f.synchronisation_ratio + f.p2p_ratio - 1) < 1e-9,
       "the shares of the time sum to 1");
    is_int((long long)f.refused, 0, "no item was rejected");
    printf("# %s\n", view_sentence(job.view, job.now_s[0], sentence, sizeof(sentence)));
    finish();
}

/* slow_rank computes by factor slower; how many steps until the verdict, and is it right? */
static int steps_until_named(uint32_t first, uint32_t last, double factor, uint32_t limit)
{
    steps(100);
    for (uint32_t r = first; r <= last; r++)
        job.factor[r] = factor;
    for (uint32_t i = 1; i <= limit; i++) {
        steps(1);
        if (verdict())
            return (int)i;
    }
    return -1;
}

/* The sentence, the cost in it, and the figures of steps below it are of the same steps. */
static void one_window(void)
{
    static struct view_scaling scaling;
    struct view_figures f;
    char sentence[512], step[32];

    start(100);
    steps_until_named(5, 5, 2, 100);
    steps(60);
    view_figures_get(job.view, job.now_s[0], &f);
    view_sentence(job.view, job.now_s[0], sentence, sizeof(sentence));
    snprintf(step, sizeof(step), " of %.0f ms", f.step_mean_s * 1e3);
    ok(near(f.step_p50_s, 0.104, 0.03) && near(f.step_mean_s, 0.104, 0.03),
       "since a rank is slow the steps are those since then\n%.1f ms, %.1f ms", f.step_p50_s * 1e3,
       f.step_mean_s * 1e3);
    ok(strstr(sentence, step) != NULL, "... and so is what the cost is of: %s", sentence);
    view_scaling_get(job.view, false, &scaling);
    ok(scaling.noise.steps >= 60 && scaling.noise.steps < 90 &&
           near(scaling.projection.point[0].step_s.p50, f.step_mean_s, 0.01),
       "... and what a projection stands on\n%u steps, %.1f ms", scaling.noise.steps,
       scaling.projection.point[0].step_s.p50 * 1e3);
    job.factor[5] = 1;
    steps(100);
    view_figures_get(job.view, job.now_s[0], &f);
    view_sentence(job.view, job.now_s[0], sentence, sizeof(sentence));
    ok(!verdict() && f.step_p50_s < 0.06, "when it is over they are those after it\n%.1f ms",
       f.step_p50_s * 1e3);
    ok(strstr(sentence, "median of the last ") && !strstr(sentence, "minute"),
       "... and the sentence says how many seconds: %s", sentence);
    finish();
}

/* What cost too little of the run is reported of it only where it surely cost something at its end. */
static void minor_at_the_end(void)
{
    static const struct {
        double factor;
        bool minor;
        const char *what;
    } cases[] = { { 1.05, true, "what may have cost next to nothing is left out" },
                  { 1.2, false, "what surely cost something is not" } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct view_verdict *d;
        bool now;

        start(100);
        steps(700);
        steps_until_named(5, 5, cases[i].factor, 64);
        now = verdict() && !verdict()->minor;
        view_finish(job.view, job.now_s[0]);
        ok(now && view_verdicts_reported(job.view, &d) == 1 && d->finding.slowdown < 1.015 &&
               d->minor == cases[i].minor,
           "of what began shortly before the end %s: %s", cases[i].what, now ? d->text : "nothing stood");
        finish();
    }
}

/* What costs too little to be listed is not in the sentence either. */
static void minor(void)
{
    const struct view_verdict *d;
    char sentence[512];

    ok(view_is_minor(1.0149) && !view_is_minor(1.0151) && !view_is_minor(NAN),
       "a price of 1.01x is minor, one of 1.02x and an unknown one are not");
    start(100);
    view_params_set(job.view, &(struct view_params){ .min_slowdown = 1.001, .hang_timeout_s = 30 });
    ok(steps_until_named(5, 5, 1.025, 600) > 0, "a rank that computes 2.5 %% longer is found");
    d = verdict();
    view_sentence(job.view, job.now_s[0], sentence, sizeof(sentence));
    ok(d && d->minor && d->finding.slowdown < 1.015, "its price is minor\n%.4f",
       d ? d->finding.slowdown : NAN);
    ok(!strncmp(sentence, "Healthy: ", 9), "the sentence does not name a minor verdict: %s", sentence);
    job.factor[5] = 1.2;
    steps(60);
    d = verdict();
    view_sentence(job.view, job.now_s[0], sentence, sizeof(sentence));
    ok(d && !d->minor, "the verdict is not minor when it costs more\n%.4f", d ? d->finding.slowdown : NAN);
    ok(strstr(sentence, "rank 5") != NULL, "the sentence names a verdict that is not minor: %s", sentence);
    finish();
}

/* Programs run ahead of their GPUs: when they post a collective says nothing of who waits for whom. */
static void unseen(void)
{
    char sentence[512];

    start(100);
    job.runs_ahead = true;
    is_int(steps_until_named(5, 5, 1.5, 300), -1,
           "nobody is named by when ranks post what they do not wait for");
    view_sentence(job.view, job.now_s[0], sentence, sizeof(sentence));
    ok(!strncmp(sentence, "Not judged: ", 12), "it is said that nothing is judged: %s", sentence);
    job.runs_ahead = false;
    steps(200);
    ok(verdict() != NULL, "as soon as ranks are seen to wait, who they wait for is named");
    finish();
}

/* What is said of a step without ranks: what the agents found, and never that an ended one begins. */
static void without_ranks(void)
{
    struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 60 };
    struct view *v = view_new(&params, 0);
    struct view_figures f;
    char sentence[512];

    view_tick(v, 1);
    view_figures_get(v, 1, &f);
    ok(f.regime == VIEW_STARTING, "a step without ranks is starting");
    is_str(view_sentence(v, 1, sentence, sizeof(sentence)), "No call of MPI, NCCL or Gloo was seen yet.",
           "at first it is not claimed that there was none");
    view_unseen_set(v, false, "train (pid 7): linked statically");
    is_str(view_sentence(v, 1, sentence, sizeof(sentence)), "Not seen: train (pid 7): linked statically.",
           "why nothing is seen is said");
    view_unseen_set(v, true, "train (pid 7): has loaded MPI");
    is_str(view_sentence(v, 1, sentence, sizeof(sentence)),
           "No rank has called MPI, NCCL or Gloo yet: train (pid 7): has loaded MPI.",
           "that no rank has called is said where they are watched");
    view_finish(v, 20);
    view_figures_get(v, 20, &f);
    ok(!view_regime_name(f.regime), "an ended step that had no ranks has no regime");
    is_str(view_sentence(v, 20, sentence, sizeof(sentence)),
           "Ended without a call of MPI, NCCL or Gloo: train (pid 7): has loaded MPI.",
           "it ended without a call");
    view_unseen_set(v, false, "train (pid 7): linked statically");
    is_str(view_sentence(v, 20, sentence, sizeof(sentence)),
           "Ended unseen: train (pid 7): linked statically.", "or unseen");
    view_unseen_set(v, false, "");
    is_str(view_sentence(v, 20, sentence, sizeof(sentence)),
           "No call of MPI, NCCL or Gloo was seen before the end.", "or too early to know why");
    view_free(v);
}

/* The longest work of n ranks over the mean: the expected largest of n normals (exact values), with the noise
 * of a step made of four parts. */
static double longest(uint32_t n)
{
    static const double z[] = { 0, 0, 0.5642, 0.8463, 1.0294, 1.1630, 1.2672, 1.3522, 1.4236 };

    return 1 + z[n] * NOISE * sqrt(0.25 + 3.0 / 36);
}

static void stragglers(void)
{
    static const struct {
        uint32_t first, last;
        double factor;
        enum finding_scope scope;
        const char *culprit;
        uint32_t limit;
    } cases[] = {
        { 5, 5, 1.2, SCOPE_RANK, "r5", 12 },    { 5, 5, 1.05, SCOPE_RANK, "r5", 64 },
        { 2, 3, 1.2, SCOPE_NODE, "node1", 12 }, { 4, 7, 1.3, SCOPE_SWITCH, "leaf1", 12 },
        { 0, 0, 2.0, SCOPE_RANK, "r0", 8 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct view_verdict *d;
        struct view_event e;
        double onset_s = 100 * 0.0569, found_s; /* a step of all ranks alike */
        int after;

        start(100);
        after = steps_until_named(cases[i].first, cases[i].last, cases[i].factor, cases[i].limit);
        steps(16);
        d = verdict();
        ok(after > 0 && d && d->finding.scope == cases[i].scope && !strcmp(d->culprit[0], cases[i].culprit),
           "%s slower by %.0f %% is named\nafter %d steps", cases[i].culprit, 100 * (cases[i].factor - 1),
           after);
        if (!d) {
            finish();
            continue;
        }
        ok(labs((long)d->since_step - 100) <= 8, "the verdict dates the onset to step 100\n%ld",
           (long)d->since_step);
        ok(fabs(d->since_s - onset_s) < 0.5,
           "the verdict dates the onset to its time\n%.3f s, it was at %.3f s", d->since_s, onset_s);
        found_s = d->found_s;
        ok(found_s > onset_s && found_s <= job.now_s[0], "the verdict is found after the onset\nat %.3f s",
           found_s);
        printf("# %s\n", d->text);
        steps(60);
        d = verdict();
        double want = (cases[i].factor * COMPUTE * longest(cases[i].last - cases[i].first + 1) + 0.004) /
                      (COMPUTE * longest(RANKS - 1 - (cases[i].last - cases[i].first)) + 0.004);
        ok(d && d->found_s == found_s, "the time at which a verdict was found does not change");
        ok(d && fabs(d->finding.slowdown - want) < 0.015,
           "the price is the expected one\n%.3f, expected about %.3f", d ? d->finding.slowdown : NAN, want);
        for (uint32_t r = 0; r < RANKS; r++)
            job.factor[r] = 1;
        steps(120);
        ok(!verdict(), "a verdict is lowered when its fault is over");
        while (view_event_take(job.view, &e))
            printf("# %.2f s: %s\n", e.at_s, e.text);
        finish();
    }
}

static void slow_transfer(void)
{
    const struct view_verdict *d;

    start(100);
    steps(100);
    job.transfer_s = 0.003;
    steps(100);
    d = verdict();
    ok(d && d->finding.class == FINDING_COMMUNICATION && strstr(d->text, " times as long as before"),
       "collectives of three times the length are named: %s", d ? d->text : "");
    ok(d && !strstr(d->text, "arrivals"), "the sentence on slow collectives claims nothing about arrivals");
    finish();
}

static void thinned(void)
{
    struct view_figures f;

    start(20);
    int after = steps_until_named(5, 5, 1.2, 24);
    ok(after > 0 && !strcmp(verdict()->culprit[0], "r5"), "a thinned stream names it too\nafter %d steps",
       after);
    view_figures_get(job.view, job.now_s[0], &f);
    ok(f.worst_rank == 5 && f.worst_lateness_s < 0.002, "rank 5 is the worst\nrank %u, late by %.4f s",
       f.worst_rank, f.worst_lateness_s);
    finish();
}

static void live(uint32_t rank, uint8_t op, uint32_t seq, double age_s)
{
    view_item(job.view, job.now_s[0],
              &(struct telemetry_item){ .kind = TELEMETRY_LIVE,
                                        .live = { .rank = rank,
                                                  .op = op,
                                                  .state = RING_STATE_RUNNING,
                                                  .comm = WORLD,
                                                  .seq = seq,
                                                  .age_ns = (uint64_t)(age_s * 1e9) } });
}

static void hang(void)
{
    const struct view_verdict *d;
    struct view_figures f;

    start(100);
    steps(50);
    for (int second = 1; second <= 35; second++) {
        job.now_s[0] += 1;
        for (uint32_t r = 0; r < RANKS; r++)
            live(r, r == 6 ? RING_OP_NONE : RING_OP_ALLREDUCE, job.seq - (r == 6), second);
        view_tick(job.view, job.now_s[0]);
        if (second == 10) {
            view_figures_get(job.view, job.now_s[0], &f);
            ok(f.regime == VIEW_STALLED && !verdict(),
               "after 10 s the regime is stalled, and no hang is raised");
            ok(view_rank_holds_up(job.view, 6) && !view_rank_holds_up(job.view, 5),
               "it is known already who holds the others up");
        }
    }
    d = verdict();
    ok(d && d->finding.class == FINDING_HANG && d->n_culprits == 1 && !strcmp(d->culprit[0], "r6"),
       "a hang names the missing rank");
    printf("# %s\n", d ? d->text : "");
    steps(2);
    ok(!verdict() && !view_rank_holds_up(job.view, 6), "a hang is over when the collective ends");
    finish();
}

/* While a straggler's verdict stands and nothing moves, the straggler costs nothing: the sentence is not
 * about it. */
static void stalled_with_a_straggler(void)
{
    struct view_figures f;
    char sentence[512];

    start(100);
    steps_until_named(5, 5, 2, 100);
    steps(60);
    for (int second = 1; second <= 10; second++) {
        job.now_s[0] += 1;
        for (uint32_t r = 0; r < RANKS; r++)
            live(r, r == 6 ? RING_OP_NONE : RING_OP_ALLREDUCE, job.seq - (r == 6), second);
        view_tick(job.view, job.now_s[0]);
    }
    view_figures_get(job.view, job.now_s[0], &f);
    view_sentence(job.view, job.now_s[0], sentence, sizeof(sentence));
    ok(f.regime == VIEW_STALLED && verdict() && verdict()->finding.class == FINDING_STRAGGLER,
       "a verdict on a straggler stands in a job in which nothing moves");
    ok(!strncmp(sentence, "Nothing moves: ", 15) && strstr(sentence, "rank 6") && !strstr(sentence, "rank 5"),
       "the sentence is about what nothing moves for: %s", sentence);
    steps(8);
    view_sentence(job.view, job.now_s[0], sentence, sizeof(sentence));
    ok(strncmp(sentence, "Nothing moves", 13) != 0, "once it moves it is not: %s", sentence);
    finish();
}

/* Each rank's process reports that share of its time. */
static void waits_for_cpu(float ratio)
{
    for (uint32_t r = 0; r < RANKS; r++)
        view_item(job.view, job.now_s[0],
                  &(struct telemetry_item){ .kind = TELEMETRY_TASK,
                                            .task = { .rank = r,
                                                      .run_delay_ratio = ratio,
                                                      .cpu_ratio = 0.4f,
                                                      .foreign_ratio = NAN,
                                                      .involuntary_per_s = NAN,
                                                      .voluntary_per_s = NAN,
                                                      .major_faults_per_s = NAN,
                                                      .gpu = -1 } });
}

static void uneven(void)
{
    start(100);
    job.noise = 0.3;
    for (int i = 0; i < 40; i++) {
        waits_for_cpu(0.05f);
        steps(10);
    }
    ok(verdict() && verdict()->finding.class == FINDING_IMBALANCE && verdict()->finding.slowdown > 1.1,
       "work that varies widely is uneven while CPUs lack for little");
    for (int i = 0; i < 40; i++) {
        waits_for_cpu(0.6f);
        steps(10);
    }
    ok(!verdict(), "it is no verdict while all ranks wait for a CPU for longer than it costs");
    finish();
}

/* Delays that come and go: a price whose interval reaches zero is none. */
static void certain(void)
{
    const struct view_verdict *list;
    uint32_t told = 0, doubtful = 0;

    for (uint32_t seed = 1; seed <= 30; seed++) {
        start(100);
        random_state = seed;
        job.noise = 0.02;
        for (int i = 0; i < 60; i++) {
            uint32_t late = (uint32_t)(uniform() * RANKS);

            job.factor[late] = uniform() < 0.3 ? 1 + 2 * uniform() : 1;
            steps(1);
            job.factor[late] = 1;
            for (size_t n = view_verdicts_get(job.view, &list); n; n--) {
                told += interval_known(list[n - 1].finding.cost);
                doubtful += list[n - 1].finding.cost.low <= 0;
            }
        }
        finish();
    }
    ok(told && !doubtful, "no interval of a price reaches zero\nof %u", told);
}

/* An agent that did not hear that its batches arrived sends them again. */
static void again(void)
{
    struct view_figures f;
    uint64_t before;

    start(100);
    n_sent = 0;
    steps(200);
    view_figures_get(job.view, job.now_s[0], &f);
    before = f.steps;
    for (size_t i = 0; i < n_sent && i < SENT; i++)
        view_item(job.view, job.now_s[0], &sent[i]);
    view_tick(job.view, job.now_s[0] + 1);
    steps(20);
    view_figures_get(job.view, job.now_s[0], &f);
    ok(before >= 190 && f.steps >= before + 18 && f.steps <= before + 22,
       "steps that are sent again are counted once\n%llu, %llu", (unsigned long long)before,
       (unsigned long long)f.steps);
    finish();
}

/* Half of the agents connect when the others have reported for some time. */
static void come_late(void)
{
    struct view_figures f;

    start_some(100, RANKS / 2);
    job.late = RANKS / 2;
    n_held = 0;
    steps(100);
    job.late = 0;
    add_ranks(RANKS / 2, RANKS);
    for (size_t i = 0; i < n_held; i++)
        view_item(job.view, job.now_s[0], &held[i]);
    steps(20);
    view_figures_get(job.view, job.now_s[0], &f);
    ok(f.steps >= 90 && f.steps <= 120,
       "steps that half of the ranks report late are counted once\n%llu of 120", (unsigned long long)f.steps);
    finish();
}

static uint64_t counted(void)
{
    struct view_figures f;

    view_figures_get(job.view, job.now_s[0], &f);
    return f.steps;
}

/* What too few ranks reported to judge it was steps all the same. */
static void few_report(void)
{
    struct view_position p;

    start(100);
    steps(100);
    job.late = RANKS - 2;
    n_held = 0;
    steps(60);
    job.late = 0;
    steps(40);
    ok(counted() >= 190 && counted() <= 200,
       "steps that few ranks report are counted with the next ones\n%llu of 200",
       (unsigned long long)counted());

    view_position_get(job.view, &p);
    view_free(job.view);
    job.view = view_new(&usual_params, 0);
    add_ranks(0, RANKS);
    view_position_set(job.view, &p, NULL, 0);
    job.late = RANKS - 2;
    steps(60);
    job.late = 0;
    steps(40);
    ok(counted() >= 290 && counted() <= 300, "... in a view that goes on, too\n%llu of 300",
       (unsigned long long)counted());
    finish();
}

static void bounds(void)
{
    struct view_figures f;
    struct telemetry_item bad[] = {
        { .kind = TELEMETRY_SAMPLE, .sample = { .rank = 99, .comm = WORLD, .n = 1 } },
        { .kind = TELEMETRY_SAMPLE, .sample = { .rank = 1, .comm = WORLD, .n = 0 } },
        { .kind = TELEMETRY_SAMPLE, .sample = { .rank = 1, .comm = WORLD, .n = 1, .stay_ns = UINT64_MAX } },
        { .kind = TELEMETRY_STEP,
          .step = { .rank = 1, .comm = WORLD, .period = 0, .parts = 1, .n_steps = 1, .duration_ns = 1 } },
        { .kind = TELEMETRY_STEP,
          .step = { .rank = 1, .comm = WORLD, .period = 9, .parts = 9, .n_steps = 1, .duration_ns = 1 } },
        { .kind = TELEMETRY_STEP,
          .step = { .rank = 1,
                    .comm = WORLD,
                    .period = 1,
                    .parts = 1,
                    .n_steps = 1,
                    .duration_ns = 1,
                    .p2p_ns = 2 } },
        { .kind = TELEMETRY_LIVE, .live = { .rank = 1, .op = 200 } },
        { .kind = TELEMETRY_COMM, .comm = { .rank = 1, .name = 5, .size = 1u << 31, .last = 3 } },
        { .kind = TELEMETRY_COMM, .comm = { .rank = 1, .name = 5, .size = 4, .first = 9, .last = 3 } },
        { .kind = TELEMETRY_COUNTS, .counts = { .rank = 1, .app = 9 } },
    };

    start(100);
    steps(4);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        view_item(job.view, 1, &bad[i]);
    view_figures_get(job.view, 1, &f);
    is_int((long long)f.refused, ARRAY_SIZE(bad), "each item out of bounds is rejected and counted");
    is_int(view_rank_add(job.view, VIEW_RANKS_MAX, 0, "n", ""), -1, "a rank out of bounds is rejected");
    is_int(view_rank_add(job.view, 0, 1, "node9", ""), 0, "a rank of another program of the step is added");
    view_figures_get(job.view, 1, &f);
    ok(f.ranks == 1 && !f.period && isnan(f.step_mean_s),
       "a new program starts without period and step time");
    finish();
}

static void freed(uint64_t name)
{
    for (uint32_t r = 0; r < RANKS; r++)
        view_item(
            job.view, job.now_s[0],
            &(struct telemetry_item){ .kind = TELEMETRY_COMM_END, .comm_end = { .rank = r, .name = name } });
}

/* A program that makes a communicator for each step, and frees it. */
static void comm_each_step(void)
{
    enum { STEPS = 3 * VIEW_COMMS_MAX };
    struct view_comm rows[4];
    size_t n;

    start(100);
    for (uint32_t i = 0; i < STEPS; i++) {
        job.comm = WORLD + 1 + i;
        job.seq = 0;
        announce(job.comm, i + 1);
        collective(1 << 20, COMPUTE);
        freed(job.comm);
        view_tick(job.view, job.now_s[0]);
    }
    is_int((long long)view_rejected_get(job.view).memory, 0,
           "of however many communicators none finds no room");
    is_int(view_comm_size(job.view, job.comm), RANKS, "the newest is known");
    is_int(view_comm_size(job.view, WORLD + STEPS / 2), 0, "and one that was freed long ago is not any more");
    n = view_comms_get(job.view, job.now_s[0], rows, ARRAY_SIZE(rows));
    ok(n == 1 && rows[0].size == RANKS && rows[0].instances == 1,
       "they are shown as one\n%zu rows, %u instances", n, rows[0].instances);
    ok(rows[0].collectives_per_s > 0.8 / COMPUTE && rows[0].collectives_per_s < 1.05 / COMPUTE,
       "which makes all their collectives\n%.1f a second", rows[0].collectives_per_s);
    finish();
}

/* Warm-up, checkpoints and evaluations are told as what they are, and accuse nobody. */
static void phases(void)
{
    struct view_phases p;

    start(100);
    for (uint32_t i = 0; i < 200; i++) {
        for (uint32_t r = 0; r < RANKS; r++)
            job.factor[r] = i < 10 ? 1.5 : 1;
        if (i == 60 || i == 120)
            for (uint32_t r = 0; r < RANKS; r++)
                job.now_s[r] += 3;
        if (i == 90 || i == 150)
            for (int e = 0; e < 3; e++)
                collective(16, COMPUTE);
        steps(1);
    }
    view_phases_get(job.view, &p);
    ok(p.warm_up_steps > 0 && p.warm_up_steps <= 10, "up to 10 steps of warm-up are found\n%d",
       p.warm_up_steps);
    ok(p.pauses == 2 && near(p.pause_s, 6, 0.05), "2 pauses of 6 s in all are found\n%llu, %.2f s",
       (unsigned long long)p.pauses, p.pause_s);
    ok(p.evaluations == 2 && p.foreign_collectives == 6,
       "2 evaluations of 6 collectives are found\n%llu of %llu", (unsigned long long)p.evaluations,
       (unsigned long long)p.foreign_collectives);
    ok(!verdict(), "warm-up raises no verdict");
    finish();
}

/* A step's second program is smaller than its first: nothing of the first one's size is waited for. */
static void next_program(void)
{
    struct view_figures f;

    start(100);
    steps(30);
    for (uint32_t r = 0; r < 2; r++)
        view_rank_add(job.view, r, 1, "node0", "leaf0");
    for (uint32_t r = 0; r < 2; r++)
        view_item(job.view, 3,
                  &(struct telemetry_item){
                      .kind = TELEMETRY_COMM,
                      .comm = { .rank = r, .app = 1, .name = 5, .size = 2, .comm_rank = r, .last = 1 } });
    view_item(job.view, 3,
              &(struct telemetry_item){ .kind = TELEMETRY_STEP,
                                        .step = { .rank = 0,
                                                  .app = 1,
                                                  .comm = 5,
                                                  .seq = 6,
                                                  .period = 2,
                                                  .parts = 2,
                                                  .n_steps = 1,
                                                  .duration_ns = 1000,
                                                  .gap_ns = 10 } });
    view_figures_get(job.view, 3, &f);
    is_int(f.period, 2, "the steps of a smaller second program are counted at once");
    finish();
}

/* How long a job lasts whose work is as uneven as that from step 60 on. */
static double lasts(double noise)
{
    start(1000);
    steps(60);
    job.noise = noise;
    steps(200);
    return job.now_s[0];
}

/* All ranks meet several times a step, each time for another one. */
static void uneven_buckets(void)
{
    double even_s = lasts(NOISE), uneven_s;
    const struct view_verdict *d;

    finish();
    uneven_s = lasts(0.25);
    d = verdict();
    ok(d && d->finding.class == FINDING_IMBALANCE, "work that is uneven from bucket to bucket is imbalance");
    if (d)
        is_near(d->finding.saved_s, uneven_s - even_s, 0.15,
                "its price is what is waited for in each bucket");
    finish();
}

int main(void)
{
    healthy();
    one_window();
    minor();
    minor_at_the_end();
    unseen();
    without_ranks();
    stragglers();
    slow_transfer();
    thinned();
    hang();
    stalled_with_a_straggler();
    uneven();
    certain();
    again();
    come_late();
    few_report();
    bounds();
    comm_each_step();
    phases();
    next_program();
    uneven_buckets();
    return done_testing();
}
