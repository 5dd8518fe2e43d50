/* engine.c - what judging costs, without rings, files or network: events that are in memory already go
 * through one flow a rank into a view, as in agents and controller together, on one core. A step of 50 ms has
 * four all-reduces; the ranks' own work differs by up to 5 % from time to time, and nobody is slow.
 *
 * For comparison, in turns with it: the C library's qsort puts the same events, rank after rank as rings
 * hold them, into the order of time.
 *
 * Of jobs that pass messages, whose calls come one by one: a pipeline of STAGES stages and their replicas,
 * healthy and with one slow rank.
 *
 * Prints one JSON object: events a second of both, medians of rounds, their ratio, and what flows and view
 * hold in memory, a rank, with 1,024 ranks; calls a second of the pipelines, and what the view alone holds of
 * them. */
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/xalloc.h"
#include "model/statistics.h"
#include "ring/ring.h"
#include "sampling/flow.h"
#include "view/view.h"

enum {
    RANKS = 64,
    MANY_RANKS = 1024,
    MOST_RANKS = 16384,
    ROUNDS = 9,
    STEPS = 500,
    PARTS = 4,
    PER_NODE = 8,
    NODES_A_SWITCH = 4
};

#define STEP_S  0.05
#define TICK_S  0.25
#define RATE_HZ 50.0 /* as agents send, unless a policy says otherwise */
#define WORLD   1

/* One guarded step and its clock. */
struct job {
    uint32_t n;
    struct view *view;
    struct flow **flow; /* n */
    double *left_s;     /* n: when the rank left its last collective */
    double now_s, ticked_s;
    uint32_t seq;
};

static double clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void take(const struct telemetry_item *item, void *arg)
{
    struct job *j = arg;

    view_item(j->view, j->now_s, item);
}

static void add_rank(struct job *j, uint32_t r)
{
    struct telemetry_item world = { .kind = TELEMETRY_COMM,
                                    .comm = { .rank = r,
                                              .name = WORLD,
                                              .membership = WORLD,
                                              .size = j->n,
                                              .comm_rank = r,
                                              .last = j->n - 1 } };
    char node[16], switch_name[16];

    snprintf(node, sizeof(node), "n%u", r / PER_NODE);
    snprintf(switch_name, sizeof(switch_name), "s%u", r / PER_NODE / NODES_A_SWITCH);
    view_rank_add(j->view, r, 0, node, switch_name);
    j->flow[r] = flow_new(r, 0, RATE_HZ);
    view_item(j->view, 0, &world);
}

static void job_start(struct job *j, uint32_t n)
{
    struct view_params p = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

    *j = (struct job){ .n = n, .view = view_new(&p, 0), .flow = xcalloc(n, sizeof(struct flow *)) };
    j->left_s = xcalloc(n, sizeof(*j->left_s));
    for (uint32_t r = 0; r < n; r++)
        add_rank(j, r);
}

static void job_end(struct job *j)
{
    for (uint32_t r = 0; r < j->n; r++)
        flow_free(j->flow[r]);
    view_free(j->view);
    free(j->flow);
    free(j->left_s);
}

/* A node's clock is past zero when its ranks start. */
static uint64_t ns(double s)
{
    return 1000000000 + (uint64_t)(s * 1e9);
}

/* The next collective of all ranks; e: n. */
static void meet(struct job *j, struct call *e)
{
    uint32_t part = j->seq % PARTS;
    double share = part ? 0.15 : 0.55, last_s = 0;

    for (uint32_t r = 0; r < j->n; r++) {
        double enter_s = j->left_s[r] + STEP_S * share * (1 + 0.05 * (drand48() - 0.5));

        last_s = enter_s > last_s ? enter_s : last_s;
        e[r] = (struct call){ .enter_ns = ns(enter_s),
                              .comm = WORLD,
                              .bytes = part == PARTS - 1 ? 1000 : 1 << 20,
                              .seq = j->seq,
                              .root = -1,
                              .op = RING_OP_ALLREDUCE };
    }
    for (uint32_t r = 0; r < j->n; r++) {
        j->left_s[r] = last_s + STEP_S * 0.01;
        e[r].leave_ns = ns(j->left_s[r]);
    }
    j->seq++;
}

/* Events of as many collectives, in their order. */
static void judge(struct job *j, const struct call *e, uint32_t collectives)
{
    for (uint32_t i = 0; i < collectives; i++) {
        j->now_s = (double)e->leave_ns * 1e-9;
        for (uint32_t r = 0; r < j->n; r++)
            flow_call(j->flow[r], e++, j->n, 0, take, j);
        if (j->now_s < j->ticked_s + TICK_S)
            continue;
        j->ticked_s = j->now_s;
        view_tick(j->view, j->now_s);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    return x->leave_ns < y->leave_ns ? -1 : x->leave_ns > y->leave_ns;
}

static void speeds(double *judged_s, double *sorted_s)
{
    enum { COLLECTIVES = STEPS * PARTS, EVENTS = COLLECTIVES * RANKS };
    struct call *e = xcalloc(EVENTS, sizeof(*e)), *of_rank = xcalloc(EVENTS, sizeof(*e));
    struct job j;

    job_start(&j, RANKS);
    for (int round = 0; round < ROUNDS; round++) {
        double began_s;

        for (size_t i = 0; i < COLLECTIVES; i++)
            meet(&j, e + i * RANKS);
        for (size_t i = 0; i < EVENTS; i++)
            of_rank[i % RANKS * COLLECTIVES + i / RANKS] = e[i];
        began_s = clock_s();
        judge(&j, e, COLLECTIVES);
        judged_s[round] = (clock_s() - began_s) / EVENTS;
        began_s = clock_s();
        qsort(of_rank, EVENTS, sizeof(*of_rank), by_time);
        sorted_s[round] = (clock_s() - began_s) / EVENTS;
    }
    job_end(&j);
    free(e);
    free(of_rank);
}

static size_t allocated_bytes(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static double bytes_per_rank(void)
{
    struct call e[MANY_RANKS];
    size_t before = allocated_bytes(), after;
    struct job j;

    job_start(&j, MANY_RANKS);
    for (int i = 0; i < STEPS * PARTS; i++) {
        meet(&j, e);
        judge(&j, e, 1);
    }
    after = allocated_bytes();
    job_end(&j);
    return (double)(after - before) / MANY_RANKS;
}

/* ---- jobs that pass messages ---- */

/* A pipeline of STAGES stages with replicas: each microbatch goes forward and back, then the replicas of a
 * stage reduce their gradients, then all ranks their loss. */
enum { STAGES = 8, MICROBATCHES = 4, CALLS_MAX = 4 * MICROBATCHES + 2, PIPE_STEPS = 40 };

struct pipe {
    struct job j;
    struct call *call;     /* CALLS_MAX of each rank, of the step at hand */
    uint32_t *calls, step; /* calls: how many of each rank */
    double *sent_s;        /* by rank: when its microbatch was sent on */
};

static struct call *pipe_call(struct pipe *p, uint32_t rank, uint8_t op, double enter_s, double leave_s)
{
    struct call *c = &p->call[(size_t)rank * CALLS_MAX + p->calls[rank]++];

    *c = (struct call){ .rank = rank,
                        .op = op,
                        .comm = WORLD,
                        .begin_ns = ns(enter_s),
                        .enter_ns = ns(enter_s),
                        .leave_ns = ns(leave_s) };
    p->j.left_s[rank] = leave_s;
    return c;
}

/* One microbatch, forward or back; of a slow rank the work takes as many times as long. */
static void pipe_pass(struct pipe *p, uint32_t microbatch, bool back, uint32_t slow, double factor)
{
    for (uint32_t i = 0; i < p->j.n; i++) {
        uint32_t r = back ? p->j.n - 1 - i : i, stage = r % STAGES, from = back ? r + 1 : r - 1,
                 to = back ? r - 1 : r + 1, seq = p->step * MICROBATCHES + microbatch;
        double enter_s = p->j.left_s[r];
        struct call *c;

        if (stage != (back ? STAGES - 1 : 0)) {
            c = pipe_call(p, r, RING_OP_RECV, enter_s, fmax(enter_s, p->sent_s[from]) + 2e-5);
            c->peer = from;
            c->seq = seq;
            c->tag = back;
            c->bytes = 1 << 20;
        }
        p->sent_s[r] =
            p->j.left_s[r] + STEP_S * 0.08 * (1 + 0.05 * (drand48() - 0.5)) * (r == slow ? factor : 1);
        p->j.left_s[r] = p->sent_s[r];
        if (stage == (back ? 0 : STAGES - 1))
            continue;
        c = pipe_call(p, r, RING_OP_SEND, p->sent_s[r], p->sent_s[r] + 2e-6);
        c->peer = to;
        c->seq = seq;
        c->tag = back;
        c->bytes = 1 << 20;
    }
}

static void pipe_reduce(struct pipe *p, uint64_t comm, uint64_t bytes, uint32_t first, uint32_t every)
{
    double last_s = 0;

    for (uint32_t r = first; r < p->j.n; r += every)
        last_s = fmax(last_s, p->j.left_s[r]);
    for (uint32_t r = first; r < p->j.n; r += every) {
        struct call *c =
            pipe_call(p, r, RING_OP_ALLREDUCE, p->j.left_s[r], last_s + STEP_S * 0.01 + 1e-6 * drand48());

        c->comm = comm;
        c->seq = p->step;
        c->bytes = bytes;
    }
}

static void pipe_step(struct pipe *p, uint32_t slow, double factor)
{
    memset(p->calls, 0, p->j.n * sizeof(*p->calls));
    for (uint32_t m = 0; m < MICROBATCHES; m++)
        pipe_pass(p, m, false, slow, factor);
    for (uint32_t m = 0; m < MICROBATCHES; m++)
        pipe_pass(p, m, true, slow, factor);
    for (uint32_t s = 0; s < STAGES; s++)
        pipe_reduce(p, WORLD + 1 + s, 25 << 20, s, STAGES);
    pipe_reduce(p, WORLD, 8, 0, 1);
    p->step++;
}

static void pipe_start(struct pipe *p, uint32_t n)
{
    *p = (struct pipe){ .call = xcalloc((size_t)n * CALLS_MAX, sizeof(*p->call)) };
    p->calls = xcalloc(n, sizeof(*p->calls));
    p->sent_s = xcalloc(n, sizeof(*p->sent_s));
    job_start(&p->j, n);
    for (uint32_t r = 0; r < n; r++) {
        struct telemetry_item stage = { .kind = TELEMETRY_COMM,
                                        .comm = { .rank = r,
                                                  .name = WORLD + 1 + r % STAGES,
                                                  .membership = WORLD + 1 + r % STAGES,
                                                  .size = n / STAGES,
                                                  .comm_rank = r / STAGES,
                                                  .last = n - STAGES + r % STAGES } },
                              passes = { .kind = TELEMETRY_COUNTS, .counts = { .rank = r, .p2p_calls = 1 } };

        view_item(p->j.view, 0, &stage);
        view_item(p->j.view, 0, &passes);
    }
}

static void pipe_end(struct pipe *p)
{
    job_end(&p->j);
    free(p->call);
    free(p->calls);
    free(p->sent_s);
}

/* The calls of the step, rank by rank, as agents send them; collectives are in the rank's flow, too. */
static uint64_t pipe_judge(struct pipe *p)
{
    uint64_t n = 0;

    for (uint32_t r = 0; r < p->j.n; r++)
        for (uint32_t i = 0; i < p->calls[r]; i++, n++) {
            struct telemetry_item item = { .kind = TELEMETRY_CALL,
                                           .call = p->call[(size_t)r * CALLS_MAX + i] };
            const struct call *c = &item.call;

            p->j.now_s = (double)c->leave_ns * 1e-9;
            view_item(p->j.view, p->j.now_s, &item);
            if (ring_op_is_message(c->op))
                continue;
            flow_call(p->j.flow[r], c, c->comm == WORLD ? p->j.n : p->j.n / STAGES, 0, take, &p->j);
        }
    if (p->j.now_s >= p->j.ticked_s + TICK_S) {
        p->j.ticked_s = p->j.now_s;
        view_tick(p->j.view, p->j.now_s);
    }
    return n;
}

/* Seconds a call. */
static double pipe_run(struct pipe *p, uint32_t steps, uint32_t slow, double factor)
{
    double spent_s = 0;
    uint64_t calls = 0;

    for (uint32_t i = 0; i < steps; i++) {
        double began_s;

        pipe_step(p, slow, factor);
        began_s = clock_s();
        calls += pipe_judge(p);
        spent_s += clock_s() - began_s;
    }
    return spent_s / (double)calls;
}

/* Calls a second; with a factor one rank is slower by that from the second round on. */
static double pipe_speed(double factor)
{
    double each_s[ROUNDS];
    struct pipe p;

    pipe_start(&p, RANKS);
    for (int round = 0; round < ROUNDS; round++)
        each_s[round] = pipe_run(&p, STEPS, round ? RANKS / 3 : GRAPH_NONE, factor);
    pipe_end(&p);
    return 1 / statistics_median(each_s, ROUNDS);
}

/* What the controller holds: the view, without the flows, which are in the agents. */
static double pipe_bytes_per_rank(uint32_t n)
{
    size_t others, all;
    struct pipe p;

    pipe_start(&p, n);
    pipe_run(&p, PIPE_STEPS, GRAPH_NONE, 1);
    all = allocated_bytes();
    view_free(p.j.view);
    others = allocated_bytes();
    p.j.view = NULL;
    pipe_end(&p);
    return (double)(all - others) / n;
}

int main(void)
{
    double judged_s[ROUNDS], sorted_s[ROUNDS], ours_s, theirs_s;

    speeds(judged_s, sorted_s);
    ours_s = statistics_median(judged_s, ROUNDS);
    theirs_s = statistics_median(sorted_s, ROUNDS);
    printf("{\"ranks\": %d, \"events_per_s\": %.0f, \"qsort_events_per_s\": %.0f, \"ratio\": %.3f, "
           "\"bytes_per_rank_1024\": %.0f, ",
           RANKS, 1 / ours_s, 1 / theirs_s, theirs_s / ours_s, bytes_per_rank());
    printf(
        "\"messages\": {\"calls_per_s\": %.0f, \"slow_rank_calls_per_s\": %.0f, \"bytes_per_rank_64\": %.0f, "
        "\"bytes_per_rank_1024\": %.0f, \"bytes_per_rank_16384\": %.0f}}\n",
        pipe_speed(1), pipe_speed(1.3), pipe_bytes_per_rank(RANKS), pipe_bytes_per_rank(MANY_RANKS),
        pipe_bytes_per_rank(MOST_RANKS));
    return 0;
}
