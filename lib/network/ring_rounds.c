#include "network/ring_rounds.h"

#include <math.h>
#include <string.h>

#define SAME      1e-13 /* costs that differ by less are equal up to rounding */
#define COSTS_MAX 24

/* ---- round by round ---- */

static double fmax2(double a, double b)
{
    return a > b ? a : b;
}

void ring_rounds_walk(uint32_t places, uint64_t rounds, const double *cost_s, double *time_s, double *scratch)
{
    uint32_t n = places;
    double *end = scratch; /* end of the message that each place sends */

    for (uint64_t k = 0; k < rounds && n > 1; k++) {
        for (uint32_t i = 0; i + 1 < n; i++)
            end[i] = fmax2(time_s[i], time_s[i + 1]) + cost_s[i];
        end[n - 1] = fmax2(time_s[n - 1], time_s[0]) + cost_s[n - 1];
        time_s[0] = fmax2(fmax2(time_s[0], end[0]), end[n - 1]);
        for (uint32_t i = 1; i < n; i++)
            time_s[i] = fmax2(fmax2(time_s[i], end[i]), end[i - 1]);
    }
}

/* ---- closed form ---- */

/* Heaviest ways over hops of at most cost v, with v subtracted for each hop, and their numbers of steps. */
struct ways {
    uint32_t n;
    const double *cost;
    double v;
    double *worth, *steps;
};

static bool cross_hop(struct ways *w, uint32_t from, uint32_t to, uint32_t hop)
{
    double lost = w->v - w->cost[hop], worth;

    if (lost < -SAME * w->v)
        return false;
    worth = w->worth[from] - fmax2(0, lost);
    if (!(worth > w->worth[to]))
        return false;
    w->worth[to] = worth;
    w->steps[to] = w->steps[from] + 1;
    return true;
}

/* Two rounds of the ring suffice: no heaviest way is longer than one. */
static void go_on(struct ways *w)
{
    bool moved = true;

    for (int turn = 0; turn < 2 && moved; turn++) {
        moved = cross_hop(w, w->n - 1, 0, w->n - 1);
        for (uint32_t i = 1; i < w->n; i++)
            moved |= cross_hop(w, i - 1, i, i - 1);
    }
}

static void go_back(struct ways *w)
{
    bool moved = true;

    for (int turn = 0; turn < 2 && moved; turn++) {
        moved = cross_hop(w, 0, w->n - 1, w->n - 1);
        for (uint32_t i = w->n - 1; i--;)
            moved |= cross_hop(w, i + 1, i, i);
    }
}

/* Walks of this many steps whose slowest hop costs w->v. */
static bool answer(struct ways *w, uint64_t rounds, const double *arrive_s, double *best)
{
    double slow = w->v * (1 - SAME);

    memcpy(w->worth, arrive_s, w->n * sizeof(*w->worth));
    memset(w->steps, 0, w->n * sizeof(*w->steps));
    go_on(w);
    go_back(w);
    for (uint32_t i = 0; i < w->n; i++)
        if (w->cost[i] < slow && w->cost[i ? i - 1 : w->n - 1] < slow)
            w->worth[i] = -INFINITY;
    /* A place next to a slowest hop may also follow a slower one, where waiting counts more; that case is
     * handled with the slower hop. */
    go_on(w);
    go_back(w);
    for (uint32_t i = 0; i < w->n; i++) {
        double end = w->worth[i] + (double)rounds * w->v;

        if (!(end > best[i]))
            continue;
        if (w->steps[i] > (double)rounds)
            return false;
        best[i] = end;
    }
    return true;
}

static double largest_below(const double *cost, uint32_t n, double limit)
{
    double found = -INFINITY;

    for (uint32_t i = 0; i < n; i++)
        if (cost[i] < limit)
            found = fmax2(found, cost[i]);
    return found;
}

bool ring_rounds_closed(uint32_t places, uint64_t rounds, const double *cost_s, const double *arrive_s,
                        double *leave_s, double *scratch)
{
    struct ways w = { .n = places,
                      .cost = cost_s,
                      .v = largest_below(cost_s, places, INFINITY),
                      .worth = scratch,
                      .steps = scratch + places };
    double *best = scratch + 2 * (size_t)places, last = -INFINITY, first = INFINITY;

    for (uint32_t i = 0; i < places; i++) {
        last = fmax2(last, arrive_s[i]);
        best[i] = -INFINITY;
    }
    for (int costs = 0; last + (double)rounds * w.v > first || !costs; costs++) {
        if (costs == COSTS_MAX || !answer(&w, rounds, arrive_s, best))
            return false;
        first = INFINITY;
        for (uint32_t i = 0; i < places; i++)
            first = best[i] < first ? best[i] : first;
        w.v = largest_below(cost_s, places, w.v * (1 - SAME));
        if (w.v < 0)
            break;
    }
    memcpy(leave_s, best, places * sizeof(*leave_s));
    return true;
}
