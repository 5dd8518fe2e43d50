/* engine.c - what judging costs, without rings, files or network: events that are in memory already go
 * through one flow a rank into a view, as in agents and controller together, on one core. A step of 50 ms has
 * four all-reduces; the ranks' own work differs by up to 5 % from time to time, and nobody is slow.
 *
 * For comparison, in turns with it: the C library's qsort puts the same events, rank after rank as rings
 * hold them, into the order of time.
 *
 * Prints one JSON object: events a second of both, medians of rounds, their ratio, and what flows and view
 * hold in memory, a rank, with 1,024 ranks. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/flow.h"
#include "analysis/view.h"
#include "common/xalloc.h"
#include "model/statistics.h"
#include "ring/ring.h"

enum { RANKS = 64, MANY_RANKS = 1024, ROUNDS = 9, STEPS = 500, PARTS = 4, PER_NODE = 8, NODES_A_SWITCH = 4 };

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
static void meet(struct job *j, struct flow_event *e)
{
    uint32_t part = j->seq % PARTS;
    double share = part ? 0.15 : 0.55, last_s = 0;

    for (uint32_t r = 0; r < j->n; r++) {
        double enter_s = j->left_s[r] + STEP_S * share * (1 + 0.05 * (drand48() - 0.5));

        last_s = enter_s > last_s ? enter_s : last_s;
        e[r] = (struct flow_event){ .enter_ns = ns(enter_s),
                                    .comm = WORLD,
                                    .bytes = part == PARTS - 1 ? 1000 : 1 << 20,
                                    .seq = j->seq,
                                    .comm_size = j->n,
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
static void judge(struct job *j, const struct flow_event *e, uint32_t collectives)
{
    for (uint32_t i = 0; i < collectives; i++) {
        j->now_s = (double)e->leave_ns * 1e-9;
        for (uint32_t r = 0; r < j->n; r++)
            flow_event(j->flow[r], e++, take, j);
        if (j->now_s < j->ticked_s + TICK_S)
            continue;
        j->ticked_s = j->now_s;
        view_tick(j->view, j->now_s);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct flow_event *x = a, *y = b;

    return x->leave_ns < y->leave_ns ? -1 : x->leave_ns > y->leave_ns;
}

static void speeds(double *judged_s, double *sorted_s)
{
    enum { COLLECTIVES = STEPS * PARTS, EVENTS = COLLECTIVES * RANKS };
    struct flow_event *e = xcalloc(EVENTS, sizeof(*e)), *of_rank = xcalloc(EVENTS, sizeof(*e));
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
    struct flow_event e[MANY_RANKS];
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

int main(void)
{
    double judged_s[ROUNDS], sorted_s[ROUNDS], ours_s, theirs_s;

    speeds(judged_s, sorted_s);
    ours_s = statistics_median(judged_s, ROUNDS);
    theirs_s = statistics_median(sorted_s, ROUNDS);
    printf("{\"ranks\": %d, \"events_per_s\": %.0f, \"qsort_events_per_s\": %.0f, \"ratio\": %.3f, "
           "\"bytes_per_rank_1024\": %.0f}\n",
           RANKS, 1 / ours_s, 1 / theirs_s, theirs_s / ours_s, bytes_per_rank());
    return 0;
}
