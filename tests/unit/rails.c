/* One communicator of several between the same nodes becomes slow: the sentence names it, no node is to
 * blame, and the price is what it costs. */
#include <math.h>
#include <string.h>

#include "ring/ring.h"
#include "tests/calls.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "view/verdicts.h"
#include "view/view.h"

#define WORLD  1u
#define RAIL   2u /* of the first rank of each node; the next are those of the others */
#define NODES  3u
#define RAILS  4u
#define RANKS  (NODES * RAILS)
#define WORK_S 0.050
#define PASS_S 0.020 /* an all-reduce of a rail */
#define STEPS  100u
#define SLOW   50u
#define TIMES  2.5 /* as long as before */
#define HEALS  5u  /* slow steps, where it does */

static struct view *view;
static uint32_t until; /* number of the first step that is as fast as before again */

static uint64_t ns(double s)
{
    return (uint64_t)((5 + s) * 1e9);
}

static void collective(double now_s, uint32_t rank, uint64_t comm, uint32_t seq, double enter_s,
                       double leave_s)
{
    give_collective(view, now_s,
                    &(struct call){ .rank = rank,
                                    .op = RING_OP_ALLREDUCE,
                                    .comm = comm,
                                    .seq = seq,
                                    .bytes = 1 << 20,
                                    .enter_ns = ns(enter_s),
                                    .leave_ns = ns(leave_s) });
}

/* All work, each rail reduces its part, and all meet. */
static double step(uint32_t number, double begin_s)
{
    double ready_s[RANKS], over_s[RAILS] = { 0 }, met_s = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        ready_s[r] = begin_s + WORK_S * (1 + 0.01 * gauss());
        over_s[r % RAILS] = fmax(over_s[r % RAILS], ready_s[r]);
    }
    for (uint32_t k = 0; k < RAILS; k++) {
        over_s[k] += PASS_S * (1 + 0.03 * gauss()) * (k == 2 && number >= SLOW && number < until ? TIMES : 1);
        met_s = fmax(met_s, over_s[k]);
    }
    met_s += 1e-4;
    for (uint32_t r = 0; r < RANKS; r++)
        collective(met_s, r, RAIL + r % RAILS, number, ready_s[r], over_s[r % RAILS]);
    for (uint32_t r = 0; r < RANKS; r++)
        collective(met_s, r, WORLD, number, over_s[r % RAILS] + 1e-6, met_s);
    return met_s;
}

static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

static double begin(void)
{
    view = view_new(&params, 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        char node[16];

        snprintf(node, sizeof(node), "n%u", r / RAILS);
        view_rank_add(view, r, 0, node, "");
        give_member(view, r, WORLD, RANKS, r, 0, RANKS - 1);
        give_member(view, r, RAIL + r % RAILS, NODES, r / RAILS, r % RAILS, RANKS - RAILS + r % RAILS);
    }
    view_comm_call(view, RAIL + 2, "dp2");
    return 0;
}

static double run(double now_s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        now_s = step(i, now_s);
        view_tick(view, now_s);
    }
    return now_s;
}

static void stays_slow(void)
{
    const struct view_verdict *d;
    double now_s = run(begin(), 0, SLOW), slow_s = WORK_S + TIMES * PASS_S;
    size_t n;

    until = UINT32_MAX;
    is_int((long long)view_verdicts_get(view, &d), 0,
           "communicators that are as fast as before get no verdict");
    run(now_s, SLOW, STEPS);
    n = view_verdicts_get(view, &d);
    ok(n == 1 && d->finding.class == FINDING_COMMUNICATION && d->finding.scope == SCOPE_NONE &&
           !d->n_culprits,
       "one slow communicator: the verdict blames no node");
    if (n) {
        ok(strstr(d->text, "The collectives of communicator dp2 (3 ranks) take ") == d->text &&
               strstr(d->text, "while those of other communicators between the same nodes do not"),
           "it names the communicator: %s", d->text);
        is_near(d->finding.excess, TIMES - 1, 0.05, "it says how much longer they take");
        is_near(d->finding.slowdown, slow_s / (slow_s - (TIMES - 1) * PASS_S), 0.02,
                "its price is what it costs");
    }
    view_free(view);
}

/* Of a short time the newest steps are most, and many that are fast again come before it is over. */
static void heals_soon(void)
{
    const struct view_verdict *d;
    size_t n;

    until = SLOW + HEALS;
    run(begin(), 0, STEPS);
    n = view_verdicts_raised(view, &d);
    ok(n == 1 && !d->finding.standing, "one that was slow for %u steps only is over", HEALS);
    if (n)
        is_near(d->finding.saved_s, HEALS * (TIMES - 1) * PASS_S, 0.1,
                "it has cost what these steps took longer, and nothing since");
    view_free(view);
}

int main(void)
{
    stays_slow();
    heals_soon();
    return done_testing();
}
