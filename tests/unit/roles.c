/* Stages of a pipeline that have different amounts of work: what is reported of the heavy one's ranks is the
 * same everywhere.  Ranks that have more work than one that serves them are not uneven. */
#include <math.h>
#include <string.h>

#include "ring/ring.h"
#include "tests/calls.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "view/figures.h"
#include "view/scaling.h"
#include "view/verdicts.h"
#include "view/view.h"
#include "view/view_private.h"

#define WORLD    1u
#define STAGE    2u /* of the first stage's replicas; the next is that of the other's */
#define REPLICAS 4u
/* rank r is stage r % 2 of replica r / 2, each on a node of its own */
#define RANKS   (2 * REPLICAS)
#define LIGHT_S 0.010
#define HEAVY_S 0.018
#define PASS_S  0.0001
#define STEPS   100u

/* of the experts' program: a seat holds the same part of the experts in each group, rank 4 g + t the t-th */
#define SEATS   4u
#define GROUPS  4u
#define EXPERTS (SEATS * GROUPS)
#define GROUP   16u /* the first one's communicator */
#define HOT     1.5
#define COOL    (1 - (HOT - 1) / (SEATS - 1)) /* all tokens of a group are somebody's */

static struct view *view;
static uint32_t numbers; /* messages of a stream so far */

static uint64_t ns(double s)
{
    return (uint64_t)((5 + s) * 1e9);
}

static void pass(double now_s, uint8_t op, uint32_t rank, uint32_t peer, int32_t tag, uint32_t seq,
                 double enter_s, double leave_s)
{
    view_call(view, now_s,
              &(struct call){ .rank = rank,
                              .op = op,
                              .comm = WORLD,
                              .seq = seq,
                              .peer = peer,
                              .tag = tag,
                              .bytes = 100000,
                              .flags = op == RING_OP_RECV ? RING_EVENT_NONBLOCKING : 0,
                              .begin_ns = ns(enter_s),
                              .enter_ns = ns(enter_s),
                              .leave_ns = ns(leave_s) });
}

static void message(double now_s, uint8_t op, uint32_t rank, uint32_t peer, double enter_s, double leave_s)
{
    pass(now_s, op, rank, peer, (op == RING_OP_SEND ? rank : peer) % 2 /* up, down */, numbers, enter_s,
         leave_s);
}

static void meet(double now_s, uint32_t rank, uint8_t op, uint64_t comm, uint32_t seq, double enter_s,
                 double leave_s)
{
    give_collective(view, now_s,
                    &(struct call){ .rank = rank,
                                    .op = op,
                                    .comm = comm,
                                    .seq = seq,
                                    .bytes = 1000,
                                    .enter_ns = ns(enter_s),
                                    .leave_ns = ns(leave_s) });
}

static void collective(double now_s, uint32_t rank, uint64_t comm, double enter_s, double leave_s)
{
    meet(now_s, rank, RING_OP_ALLREDUCE, comm, numbers, enter_s, leave_s);
}

/* Up, down, each stage's replicas meet, and all do.  Returns when it is over. */
static double step(double begin_s)
{
    double back_s[REPLICAS], meet_s = 0, met_s;

    for (uint32_t k = 0; k < REPLICAS; k++) {
        uint32_t light = 2 * k, heavy = light + 1;
        double sent_s = begin_s + LIGHT_S * (1 + 0.01 * gauss()), got_s = sent_s + PASS_S;
        double done_s = got_s + HEAVY_S * (1 + 0.01 * gauss());

        back_s[k] = done_s + PASS_S;
        meet_s = fmax(meet_s, back_s[k]);
        message(got_s, RING_OP_SEND, light, heavy, sent_s, sent_s + 1e-6);
        message(got_s, RING_OP_RECV, heavy, light, begin_s + 1e-6, got_s);
        message(done_s, RING_OP_SEND, heavy, light, done_s, done_s + 1e-6);
        message(back_s[k], RING_OP_RECV, light, heavy, sent_s + 2e-6, back_s[k]);
    }
    met_s = meet_s + PASS_S;
    for (uint32_t r = 0; r < RANKS; r++)
        collective(met_s, r, STAGE + r % 2, r % 2 ? back_s[r / 2] - PASS_S + 2e-6 : back_s[r / 2] + 1e-6,
                   met_s);
    for (uint32_t r = 0; r < RANKS; r++)
        collective(met_s, r, WORLD, met_s + 1e-6, met_s + PASS_S);
    numbers++;
    return met_s + PASS_S;
}

/* Of a pipeline of four stages, rank 4 d + s is stage s of replica d, each on a node of its own. */
#define PIPE_STAGES 4u
#define PIPE_RANKS  (2 * PIPE_STAGES)
#define MICRO       4u
#define ENDS        32u /* the first replica's communicator of its first and last stage */

static double meet_all(double now_s, uint8_t op, uint64_t comm, uint32_t seq, double *at_s,
                       const uint32_t *rank, uint32_t n)
{
    double over_s = 0;

    for (uint32_t i = 0; i < n; i++)
        over_s = fmax(over_s, at_s[rank[i]] + PASS_S);
    for (uint32_t i = 0; i < n; i++) {
        meet(fmax(now_s, over_s), rank[i], op, comm, seq, at_s[rank[i]], over_s);
        at_s[rank[i]] = over_s + 1e-6;
    }
    return fmax(now_s, over_s);
}

static double pipe_work(const double *stage_s, uint32_t s)
{
    return stage_s[s] / (2 * MICRO) * (1 + 0.01 * gauss());
}

static double pass_on(double now_s, double *at_s, uint32_t from, uint32_t to, uint32_t seq)
{
    double over_s = fmax(at_s[from], at_s[to]) + PASS_S;

    pass(fmax(now_s, over_s), RING_OP_SEND, from, to, 0, seq, at_s[from], at_s[from] + 1e-6);
    pass(fmax(now_s, over_s), RING_OP_RECV, to, from, 0, seq, at_s[to], over_s);
    at_s[from] += 2e-6;
    at_s[to] = over_s + 1e-6;
    return fmax(now_s, over_s);
}

/* Parameters are gathered; all pieces go up, then down, in messages that look alike; the pipeline is empty;
 * first and last stage reduce what they share; gradients are scattered; all meet.  extra_s: of the first
 * stage, before the rest. */
static double pipe_step(double begin_s, const double *stage_s, double extra_s)
{
    double at_s[PIPE_RANKS], now_s = begin_s;
    uint32_t all[PIPE_RANKS];

    for (uint32_t r = 0; r < PIPE_RANKS; r++) {
        all[r] = r;
        at_s[r] = begin_s;
    }
    for (uint32_t s = 0; s < PIPE_STAGES; s++)
        now_s = meet_all(now_s, RING_OP_ALLGATHER, STAGE + s, 2 * numbers, at_s,
                         (uint32_t[]){ s, PIPE_STAGES + s }, 2);
    for (uint32_t d = 0; d < PIPE_RANKS; d += PIPE_STAGES) {
        at_s[d] += extra_s;
        for (uint32_t i = 0; i < MICRO; i++)
            for (uint32_t s = 0; s < PIPE_STAGES; s++) {
                at_s[d + s] += pipe_work(stage_s, s);
                if (s + 1 < PIPE_STAGES)
                    now_s = pass_on(now_s, at_s, d + s, d + s + 1, MICRO * numbers + i);
            }
        for (uint32_t i = 0; i < MICRO; i++)
            for (uint32_t s = PIPE_STAGES; s-- > 0;) {
                at_s[d + s] += pipe_work(stage_s, s);
                if (s)
                    now_s = pass_on(now_s, at_s, d + s, d + s - 1, MICRO * numbers + i);
            }
    }
    now_s = meet_all(now_s, RING_OP_BARRIER, WORLD, 2 * numbers, at_s, all, PIPE_RANKS);
    for (uint32_t d = 0; d < 2; d++)
        now_s = meet_all(now_s, RING_OP_ALLREDUCE, ENDS + d, numbers, at_s,
                         (uint32_t[]){ PIPE_STAGES * d, PIPE_STAGES * d + PIPE_STAGES - 1 }, 2);
    for (uint32_t s = 0; s < PIPE_STAGES; s++)
        now_s = meet_all(now_s, RING_OP_REDUCE_SCATTER, STAGE + s, 2 * numbers + 1, at_s,
                         (uint32_t[]){ s, PIPE_STAGES + s }, 2);
    now_s = meet_all(now_s, RING_OP_ALLREDUCE, WORLD, 2 * numbers + 1, at_s, all, PIPE_RANKS);
    numbers++;
    return now_s;
}

/* Rank 0 serves the others, which work; all of them meet. */
static double served(double begin_s)
{
    double sent_s[RANKS], at_s = begin_s + 1e-6, met_s;

    for (uint32_t r = 1; r < RANKS; r++) {
        double came_s;

        sent_s[r] = begin_s + LIGHT_S * (1 + 0.01 * gauss());
        came_s = fmax(at_s, sent_s[r]) + PASS_S;
        message(came_s, RING_OP_SEND, r, 0, sent_s[r], sent_s[r] + 1e-6);
        message(came_s, RING_OP_RECV, 0, r, at_s, came_s);
        at_s = came_s + 1e-6;
    }
    at_s += LIGHT_S / 50;
    for (uint32_t r = 1; r < RANKS; r++) {
        message(at_s + PASS_S, RING_OP_SEND, 0, r, at_s, at_s + 1e-6);
        message(at_s + PASS_S, RING_OP_RECV, r, 0, sent_s[r] + 2e-6, at_s + PASS_S);
        at_s += 2e-6;
    }
    met_s = at_s + 2 * PASS_S;
    for (uint32_t r = 0; r < RANKS; r++)
        collective(met_s, r, WORLD, r ? at_s + PASS_S + 1e-6 : at_s, met_s);
    numbers++;
    return met_s;
}

/* Each group exchanges before and after the experts' work, twice; then all meet.  hot: by rank, times the
 * work of its experts. */
static double expert_step(double begin_s, const double *hot)
{
    double at_s[EXPERTS], met_s = 0;

    for (uint32_t r = 0; r < EXPERTS; r++)
        at_s[r] = begin_s;
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t g = 0; g < GROUPS; g++) {
            double over_s = 0, enter_s[SEATS];

            for (uint32_t t = 0; t < SEATS; t++) {
                uint32_t r = SEATS * g + t;

                enter_s[t] = at_s[r] + LIGHT_S * (i % 2 ? hot[r] : 1) * (1 + 0.01 * gauss());
                over_s = fmax(over_s, enter_s[t] + PASS_S);
            }
            for (uint32_t t = 0; t < SEATS; t++) {
                meet(over_s, SEATS * g + t, RING_OP_ALLTOALL, GROUP + g, 4 * numbers + i, enter_s[t], over_s);
                at_s[SEATS * g + t] = over_s + 1e-6;
            }
            met_s = fmax(met_s, over_s + PASS_S);
        }
    for (uint32_t r = 0; r < EXPERTS; r++)
        collective(met_s, r, WORLD, at_s[r], met_s);
    numbers++;
    return met_s;
}

static const struct strategy *replaced(const struct view_strategies *s)
{
    for (size_t i = 0; i < s->s.n; i++)
        if (s->s.list[i].kind == STRATEGY_REPLACE_NODE)
            return &s->s.list[i];
    return NULL;
}

static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

static void parameter_server(void)
{
    const struct view_verdict *d;
    double now_s = 0;

    view = view_new(&params, 0);
    numbers = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        view_rank_add(view, r, 0, "n0", "");
        give_member(view, r, WORLD, RANKS, r, 0, RANKS - 1);
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        now_s = served(now_s);
        view_tick(view, now_s);
    }
    is_int((long long)view_verdicts_get(view, &d), 0,
           "ranks that another one serves have no more work than they should");
    for (uint32_t r = 0; r < RANKS; r++) {
        struct view_rank_figures f;

        view_rank_get(view, now_s, r, &f);
        if (r)
            is_near(f.slowdown, 1, 0.05,
                    "the work of rank %u is compared with that of the others who are served", r);
        else
            ok(f.slowdown < 0.1, "the server has almost no work\n%g", f.slowdown);
    }
    view_free(view);
}

static void stages(void)
{
    static struct view_scaling scaling;
    static struct view_strategies ways;
    const struct view_verdict *d;
    double now_s = 0;
    size_t n;

    view = view_new(&params, 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        char node[16];

        snprintf(node, sizeof(node), "%s%u", r % 2 ? "heavy" : "light", r / 2);
        view_rank_add(view, r, 0, node, "");
        give_member(view, r, WORLD, RANKS, r, 0, RANKS - 1);
        give_member(view, r, STAGE + r % 2, REPLICAS, r / 2, r % 2, RANKS - 2 + r % 2);
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        now_s = step(now_s);
        view_tick(view, now_s);
    }
    n = view_verdicts_get(view, &d);
    ok(n == 1 && d->finding.class == FINDING_IMBALANCE && d->finding.scope == SCOPE_RANKS,
       "the stage that has more work than the other is named");
    if (!n)
        return;
    is_near(d->finding.excess, HEAVY_S / LIGHT_S - 1, 0.05, "how much more is said");
    for (uint32_t r = 0; r < 4; r++) {
        struct view_rank_figures f;

        view_rank_get(view, now_s, r, &f);
        is_near(f.slowdown, r % 2 ? 1 + d->finding.excess : 1, 0.05,
                "the work of rank %u over the others' is what the verdict says", r);
        is_near(f.compute_s, r % 2 ? HEAVY_S : LIGHT_S, 0.05, "its work in a step is its own");
    }
    ok(!view_scaling_get(view, false, &scaling), "there is a projection");
    is_near(scaling.noise.mean_s, (HEAVY_S + LIGHT_S) / 2, 0.05, "it stands on the mean work of all ranks");
    ok(!view_strategies_get(view, &VIEW_STRATEGY_OPTIONS, &ways) && replaced(&ways),
       "a node could be replaced");
    if (replaced(&ways))
        ok(strstr(replaced(&ways)->name, "heavy") != NULL, "it is one that has more work: %s",
           replaced(&ways)->name);
    view_free(view);
}

/* The job with that work, rank r on node r / 2, or on node r % SEATS.  Returns the verdicts. */
/* Of each of the first groups, one by chance has more to do in this step. */
static uint32_t turning;

static void take_turns(double *hot)
{
    for (uint32_t r = 0; r < EXPERTS; r++)
        hot[r] = 1;
    for (uint32_t g = 0; g < turning; g++) {
        uint32_t seat = (uint32_t)(uniform() * SEATS);

        for (uint32_t s = 0; s < SEATS; s++)
            hot[SEATS * g + s] = s == seat ? HOT : COOL;
    }
}

/* hot NULL: they take turns */
static size_t experts(const double *hot, bool cyclic, const struct view_verdict **d, double *lasted_s)
{
    double now_s = 0;

    view = view_new(&params, 0);
    numbers = 0;
    for (uint32_t r = 0; r < EXPERTS; r++) {
        char node[16];

        snprintf(node, sizeof(node), "n%u", cyclic ? r % SEATS : r / 2);
        view_rank_add(view, r, 0, node, "");
        give_member(view, r, WORLD, EXPERTS, r, 0, EXPERTS - 1);
        give_member(view, r, GROUP + r / SEATS, SEATS, r % SEATS, r - r % SEATS, r - r % SEATS + SEATS - 1);
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        double turn[EXPERTS];

        if (!hot)
            take_turns(turn);
        now_s = expert_step(now_s, hot ? hot : turn);
        view_tick(view, now_s);
    }
    *lasted_s = now_s;
    return view_verdicts_get(view, d);
}

static void hot_experts(void)
{
    double hot[EXPERTS], even_s, now_s;
    const struct view_verdict *d;
    char said[512];
    size_t n;
    int uneven = 0;

    for (uint32_t r = 0; r < EXPERTS; r++)
        hot[r] = 1;
    is_int((long long)experts(hot, false, &d, &even_s), 0, "experts that are even are healthy");
    view_free(view);
    for (uint32_t r = 0; r < EXPERTS; r++)
        hot[r] = r % SEATS == 2 ? HOT : COOL;
    n = experts(hot, false, &d, &now_s);
    ok(n == 1 && d->finding.class == FINDING_IMBALANCE && d->finding.scope == SCOPE_RANKS,
       "the same place of each group has more to do: the program is uneven\n%zu verdicts", n);
    is_int((long long)d->n_culprits, GROUPS, "one rank of each group is named");
    for (uint32_t g = 0; g < GROUPS && n; g++) {
        snprintf(said, sizeof(said), "r%u", SEATS * g + 2);
        is_str(d->culprit[g], said, "rank %u is", SEATS * g + 2);
    }
    is_near(d->finding.slowdown, now_s / even_s, 0.02, "its price is that of the experts alone");
    ok(strstr(d->text, "the 4 ranks at the place of rank 2 in their groups have 36 % more work"),
       "the sentence says it\n%s", d->text);
    view_free(view);
    n = experts(hot, true, &d, &now_s);
    ok(n == 1 && d->finding.class == FINDING_STRAGGLER && d->finding.scope == SCOPE_NODE,
       "where they are all ranks of a node, it is the node\n%zu verdicts", n);
    view_free(view);
    for (uint32_t r = 0; r < EXPERTS; r++)
        hot[r] = r == 6 ? HOT : 1;
    n = experts(hot, false, &d, &now_s);
    ok(n == 1 && d->finding.class == FINDING_STRAGGLER && d->finding.scope == SCOPE_RANK &&
           d->finding.place == 6,
       "one of them alone is a straggler\n%zu verdicts", n);
    view_free(view);
    turning = GROUPS;
    n = experts(NULL, false, &d, &now_s);
    ok(n == 1 && d->finding.class == FINDING_IMBALANCE && d->finding.scope == SCOPE_NONE && !d->n_culprits,
       "where others have more to do in each step, the work is uneven and nobody is named\n%zu verdicts", n);
    if (n) {
        is_near(d->finding.slowdown, now_s / even_s, 0.02, "its price is that of the experts alone");
        ok(strstr(d->text, "some ranks of a group have") &&
               strstr(d->text, "more work than its others, in turns"),
           "the sentence says it\n%s", d->text);
    }
    view_free(view);
    turning = 1;
    n = experts(NULL, false, &d, &now_s);
    for (size_t i = 0; i < n; i++)
        uneven += d[i].finding.class == FINDING_IMBALANCE;
    is_int(uneven, 0, "where one group's do, the program is not called uneven");
    view_free(view);
}

/* So many steps of it; extra_s: in the first of them, as many. */
static size_t pipeline(uint32_t steps, uint32_t first, const double *stage_s, double extra_s, bool ended,
                       const struct view_verdict **d)
{
    double now_s = 0;

    view = view_new(&params, 0);
    numbers = 0;
    for (uint32_t r = 0; r < PIPE_RANKS; r++) {
        uint32_t s = r % PIPE_STAGES, k = r / PIPE_STAGES;
        char node[16];

        snprintf(node, sizeof(node), "n%u", r);
        view_rank_add(view, r, 0, node, "");
        give_member(view, r, WORLD, PIPE_RANKS, r, 0, PIPE_RANKS - 1);
        give_member(view, r, STAGE + s, 2, k, s, PIPE_STAGES + s);
        if (s == 0 || s == PIPE_STAGES - 1)
            give_member(view, r, ENDS + k, 2, s > 0, PIPE_STAGES * k, PIPE_STAGES * k + PIPE_STAGES - 1);
    }
    for (uint32_t i = 0; i < steps; i++) {
        now_s = pipe_step(now_s, stage_s, i < first ? extra_s : 0);
        view_tick(view, now_s);
    }
    if (ended)
        view_finish(view, now_s);
    return view_verdicts_get(view, d);
}

/* First and last stage make the same calls, have a communicator that others have not, and differ in their
 * order. */
static void shared_ends(void)
{
    static const double even[] = { 0.08, 0.08, 0.08, 0.08 }, last[] = { 0.08, 0.08, 0.08, 0.128 };
    const struct view_verdict *d;
    size_t n = pipeline(STEPS, 0, last, 0, false, &d);

    ok(n == 1 && d->finding.class == FINDING_IMBALANCE && d->finding.scope == SCOPE_RANKS &&
           d->n_culprits == 2 && !strcmp(d->culprit[0], "r3") && !strcmp(d->culprit[1], "r7"),
       "the last stage has more work, though it shares a communicator with the first\n%zu verdicts", n);
    if (n)
        is_near(d->finding.excess, 0.6, 0.05, "how much more is said");
    view_free(view);
    is_int((long long)pipeline(STEPS, 0, even, 0, false, &d), 0, "stages that are even are healthy");
    view_free(view);
    is_int((long long)pipeline(STEPS, STEPS, even, 0.003, false, &d), 0,
           "so is a first stage that also embeds for a little");
    view_free(view);
}

/* A job, or what was recorded of it, ends before much is known. */
static void few_steps(void)
{
    static const double even[] = { 0.08, 0.08, 0.08, 0.08 }, last[] = { 0.08, 0.08, 0.08, 0.128 };
    const struct view_verdict *d;
    struct interval of;

    is_int((long long)pipeline(14, 0, last, 0, false, &d), 0,
           "of a stage nothing is said while few steps are known");
    view_finish(view, 100);
    ok(view_verdicts_get(view, &d) == 1 && d->finding.class == FINDING_IMBALANCE && d->n_culprits == 2 &&
           !strcmp(d->culprit[0], "r3"),
       "but where they are all there is, one that surely has more work is named");
    of = finding_slowdown_interval(&d->finding);
    ok(of.low > 1.1 && of.low < d->finding.slowdown && of.high > d->finding.slowdown,
       "with an interval of its price\n%g to %g", of.low, of.high);
    view_free(view);
    is_int((long long)pipeline(6, 0, last, 0, true, &d), 0, "of fewer than five known steps nothing is said");
    view_free(view);
    is_int((long long)pipeline(14, 0, even, 0, true, &d), 0, "stages that are even are healthy");
    view_free(view);
    is_int((long long)pipeline(14, 4, even, 0.2, true, &d), 0,
           "so are those of which one was slower in the first steps");
    view_free(view);
}

/* What a finding stands on was forgotten, or the ranks have ended, before it was put in words. */
static void no_ranks(void)
{
    struct finding f = {
        .class = FINDING_IMBALANCE, .scope = SCOPE_RANKS, .place = 5, .excess = 0.5, .rate = NAN
    };
    struct view *v = view_new(&params, 0);
    char text[512];

    view_rank_add(v, 0, 0, "node0", "");
    view_finding_text(v, &f, false, text, sizeof(text));
    is_str(text,
           "Uneven parts of the program, no single node: ranks that do the same have 50 % more work than the "
           "others",
           "of a role that no rank has any more no number of ranks is told");
    view_free(v);
}

int main(void)
{
    no_ranks();
    stages();
    shared_ends();
    few_steps();
    hot_experts();
    parameter_server();
    return done_testing();
}
