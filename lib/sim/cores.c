#include "sim/cores.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "pacing/pace.h"

enum state { BEFORE, WORKING, SLEEPING, SPINNING };

struct cores {
    uint32_t n, cores, begun, arrived;
    enum cores_waiting waiting;
    double now_s;
    struct one {
        enum state state;
        double left_s, work_s; /* work left, work in all */
        double until_s;        /* end of sleep */
    } rank[];
};

/* Whether a waiting rank occupies its core. */
static bool spins(const struct cores *c)
{
    return c->waiting != CORES_GATE || !pace_gives_core(c->n, c->cores, c->arrived);
}

/* Speed at which work advances. */
static double rate(const struct cores *c)
{
    bool spin = spins(c);
    uint32_t running = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        enum state s = c->rank[i].state;

        running += s == WORKING || ((s == SPINNING || s == BEFORE) && spin);
    }
    return running > c->cores ? (double)c->cores / running : 1;
}

static void pass_time(struct cores *c, double now_s)
{
    double done_s = (now_s - c->now_s) * rate(c);

    for (uint32_t i = 0; i < c->n; i++)
        c->rank[i].left_s -= c->rank[i].state == WORKING ? fmin(done_s, c->rank[i].left_s) : 0;
    c->now_s = now_s;
}

struct cores *cores_new(uint32_t n, uint32_t cores)
{
    struct cores *c = xcalloc(1, sizeof(*c) + n * sizeof(c->rank[0]));

    c->n = n;
    c->cores = cores;
    return c;
}

void cores_wait(struct cores *c, enum cores_waiting waiting)
{
    c->waiting = waiting;
}

void cores_free(struct cores *c)
{
    free(c);
}

void cores_reset(struct cores *c)
{
    for (uint32_t i = 0; i < c->n; i++)
        c->rank[i].state = BEFORE;
    c->begun = c->arrived = 0;
}

void cores_begin(struct cores *c, uint32_t i, double now_s, double work_s)
{
    if (c->arrived == c->n)
        cores_reset(c);
    if (!c->begun++)
        c->now_s = now_s;
    pass_time(c, now_s);
    c->rank[i] = (struct one){ .state = WORKING, .left_s = work_s, .work_s = work_s };
}

void cores_done(struct cores *c, uint32_t i, double now_s, double sleep_s)
{
    pass_time(c, now_s);
    c->arrived++;
    c->rank[i].state = c->waiting == CORES_SLEEP && sleep_s > 0 ? SLEEPING : SPINNING;
    c->rank[i].until_s = now_s + sleep_s;
}

void cores_slept(struct cores *c, uint32_t i, double now_s)
{
    pass_time(c, now_s);
    if (c->rank[i].state == SLEEPING)
        c->rank[i].state = SPINNING;
}

double cores_end_s(const struct cores *c, uint32_t i)
{
    return c->rank[i].state == WORKING ? c->now_s + c->rank[i].left_s / rate(c) : INFINITY;
}

bool cores_all_done(const struct cores *c)
{
    return c->arrived == c->n;
}

/* ---- all at once ---- */

/* Time until the next change, if work advances at this rate. */
static double next_change_s(const struct cores *c, const double *start_s, double rate)
{
    double next = INFINITY;

    for (uint32_t i = 0; i < c->n; i++) {
        const struct one *r = &c->rank[i];

        if (r->state == BEFORE)
            next = fmin(next, start_s[i] - c->now_s);
        else if (r->state == WORKING)
            next = fmin(next, r->left_s / rate);
        else if (r->state == SLEEPING)
            next = fmin(next, r->until_s - c->now_s);
    }
    return fmax(next, 0);
}

/* Apply all changes that are due.  Work within rounding of its end has ended, or the loop would never end. */
static void apply_changes(struct cores *c, const double *start_s, const double *work_s, const double *sleep_s,
                          double *done_s)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct one *r = &c->rank[i];

        if (r->state == BEFORE && start_s[i] <= c->now_s)
            cores_begin(c, i, c->now_s, work_s[i]);
        if (r->state == WORKING && r->left_s <= 1e-12 * r->work_s) {
            cores_done(c, i, c->now_s, sleep_s ? sleep_s[i] : 0);
            done_s[i] = c->now_s;
        } else if (r->state == SLEEPING && r->until_s <= c->now_s) {
            cores_slept(c, i, c->now_s);
        }
    }
}

void cores_run(uint32_t n, uint32_t cores, enum cores_waiting waiting, const double *start_s,
               const double *work_s, const double *sleep_s, double *done_s)
{
    struct cores *c = cores_new(n, cores);

    c->waiting = waiting;
    c->now_s = INFINITY;
    for (uint32_t i = 0; i < n; i++)
        c->now_s = fmin(c->now_s, start_s[i]);
    apply_changes(c, start_s, work_s, sleep_s, done_s);
    while (c->arrived < n) {
        double step_s = next_change_s(c, start_s, rate(c));

        /* A step is at least the clock's resolution, or rounding could stop the clock. */
        pass_time(c, c->now_s + fmax(step_s, fabs(c->now_s) * 1e-15));
        apply_changes(c, start_s, work_s, sleep_s, done_s);
    }
    cores_free(c);
}
