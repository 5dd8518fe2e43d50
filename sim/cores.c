#include "sim/cores.h"

#include <math.h>

#include "policies/pace.h"

enum state { BEFORE, WORKING, SLEEPING, SPINNING };

struct node {
    uint32_t n, cores, arrived;
    enum cores_waiting waiting;
    const double *start_s, *work_s, *sleep_s;
    double *done_s;
    enum state state[CORES_RANKS_MAX];
    double left_s[CORES_RANKS_MAX];  /* of work */
    double until_s[CORES_RANKS_MAX]; /* of sleep */
};

/* Does somebody who waits use a core? */
static bool spins(const struct node *nd)
{
    return nd->waiting != CORES_GATE || !pace_gives_core(nd->n, nd->cores, nd->arrived);
}

static uint32_t runnable(const struct node *nd)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < nd->n; i++)
        n += nd->state[i] == WORKING || ((nd->state[i] == SPINNING || nd->state[i] == BEFORE) && spins(nd));
    return n;
}

/* How long nothing changes, if work advances at rate. */
static double next_change_s(const struct node *nd, double now_s, double rate)
{
    double next = INFINITY;

    for (uint32_t i = 0; i < nd->n; i++) {
        if (nd->state[i] == BEFORE)
            next = fmin(next, nd->start_s[i] - now_s);
        else if (nd->state[i] == WORKING)
            next = fmin(next, nd->left_s[i] / rate);
        else if (nd->state[i] == SLEEPING)
            next = fmin(next, nd->until_s[i] - now_s);
    }
    return fmax(next, 0);
}

static void rank_done(struct node *nd, uint32_t i, double now_s)
{
    nd->done_s[i] = now_s;
    nd->arrived++;
    nd->state[i] = SPINNING;
    if (nd->waiting == CORES_SLEEP && nd->sleep_s[i] > 0) {
        nd->state[i] = SLEEPING;
        nd->until_s[i] = now_s + nd->sleep_s[i];
    }
}

/* Time has come to now_s, elapsed_s after the last change, with work at rate; what changes, changes.  Work
 * within rounding of its end is at its end, or the loop would not. */
static void advance(struct node *nd, double now_s, double elapsed_s, double rate)
{
    for (uint32_t i = 0; i < nd->n; i++) {
        if (nd->state[i] == WORKING) {
            nd->left_s[i] -= elapsed_s * rate;
            if (nd->left_s[i] <= 1e-12 * nd->work_s[i])
                rank_done(nd, i, now_s);
        } else if (nd->state[i] == BEFORE && nd->start_s[i] <= now_s) {
            nd->state[i] = WORKING;
            if (nd->left_s[i] <= 0)
                rank_done(nd, i, now_s);
        } else if (nd->state[i] == SLEEPING && nd->until_s[i] <= now_s) {
            nd->state[i] = SPINNING;
        }
    }
}

void cores_run(uint32_t n, uint32_t cores, enum cores_waiting waiting, const double *start_s,
               const double *work_s, const double *sleep_s, double *done_s)
{
    struct node nd = { .n = n,
                       .cores = cores,
                       .waiting = waiting,
                       .start_s = start_s,
                       .work_s = work_s,
                       .sleep_s = sleep_s,
                       .done_s = done_s };
    double now_s = INFINITY;

    for (uint32_t i = 0; i < n; i++) {
        nd.left_s[i] = work_s[i];
        now_s = fmin(now_s, start_s[i]);
    }
    advance(&nd, now_s, 0, 1);
    while (nd.arrived < n) {
        uint32_t running = runnable(&nd);
        double rate = running > cores ? (double)cores / running : 1;
        double step_s = next_change_s(&nd, now_s, rate);

        /* The clock's own resolution bounds a step from below, or rounding could stop it. */
        step_s = fmax(step_s, fabs(now_s) * 1e-15);
        now_s += step_s;
        advance(&nd, now_s, step_s, rate);
    }
}
