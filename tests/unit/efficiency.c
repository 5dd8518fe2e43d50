/* The POP factors of made-up jobs whose times are known exactly, through the formulas and through the view.
 */
#include "detect/efficiency.h"

#include "ring/ring.h"
#include "tests/tap.h"
#include "view/comms.h"
#include "view/figures.h"
#include "view/view.h"

#define RANKS    4u
#define WORLD    1u
#define INNER    10u /* and 11: ranks 0 and 1, ranks 2 and 3 */
#define TRANSFER 0.010

/* ---- formulas ---- */

static const struct {
    const char *what;
    double useful_s[3], stay_s[3], wait_s, transfer_s; /* each of 10 s */
    struct efficiency want;
} cases[] = {
    { "all useful", { 10, 10, 10 }, { 0, 0, 0 }, 0, 0, { 1, 1, 1, 1, 1 } },
    { "one has more work", { 9, 6, 6 }, { 1, 4, 4 }, 6, 3, { 0.7, 0.7 / 0.9, 0.9, 1, 0.9 } },
    { "all wait by turns", { 7, 7, 7 }, { 3, 3, 3 }, 6, 3, { 0.7, 1, 0.7, 0.7 / 0.9, 0.9 } },
    { "only transfers", { 6, 6, 6 }, { 4, 4, 4 }, 0, 12, { 0.6, 1, 0.6, 1, 0.6 } },
    { "nothing joined", { 6, 6, 6 }, { 4, 4, 4 }, 0, 0, { 0.6, 1, 0.6, NAN, NAN } },
};

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : near(a, b, 1e-9);
}

static void formulas(void)
{
    struct efficiency_sums none = { 0 };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct efficiency_sums s = { .wait_s = cases[i].wait_s, .transfer_s = cases[i].transfer_s };
        const struct efficiency *w = &cases[i].want;
        struct efficiency e;

        for (size_t r = 0; r < 3; r++)
            efficiency_rank(&s, cases[i].useful_s[r], cases[i].stay_s[r], 10);
        efficiency_group(&s);
        e = efficiency_of(&s);
        ok(same(e.parallel, w->parallel) && same(e.load_balance, w->load_balance) &&
               same(e.communication, w->communication) && same(e.serialisation, w->serialisation) &&
               same(e.transfer, w->transfer),
           "%s: the efficiencies are those computed by hand\n%.3f = %.3f x %.3f x %.3f", cases[i].what,
           e.parallel, e.load_balance, e.serialisation, e.transfer);
    }
    efficiency_rank(&none, 1, 0, 0);
    efficiency_group(&none);
    ok(isnan(efficiency_of(&none).parallel), "efficiencies without any time are NaN");
}

/* A third of a run, and the rest of it. */
static void parts(void)
{
    struct efficiency_sums a = { 0 }, b = { 0 }, whole = { 0 }, none = { 0 }, joined;
    struct efficiency e, want;

    for (size_t r = 0; r < 3; r++) {
        double useful_s = r == 1 ? 9 : 6, more_s = r == 1 ? 14 : 10;

        efficiency_rank(&a, useful_s, 10 - useful_s, 10);
        efficiency_rank(&b, more_s, 20 - more_s, 20);
        efficiency_rank(&whole, useful_s + more_s, 30 - useful_s - more_s, 30);
    }
    efficiency_group(&a);
    efficiency_group(&b);
    efficiency_group(&whole);
    a.wait_s = 3, b.wait_s = 10, whole.wait_s = 13;
    a.transfer_s = 6, b.transfer_s = 15, whole.transfer_s = 21;
    joined = efficiency_joined(&a, &b);
    e = efficiency_of(&joined);
    want = efficiency_of(&whole);
    ok(same(e.parallel, want.parallel) && same(e.load_balance, want.load_balance) &&
           same(e.serialisation, want.serialisation) && same(e.transfer, want.transfer),
       "two parts together are as the whole run\n%.3f = %.3f x %.3f x %.3f", e.parallel, e.load_balance,
       e.serialisation, e.transfer);
    joined = efficiency_joined(&none, &b);
    ok(same(efficiency_of(&joined).parallel, efficiency_of(&b).parallel),
       "a part without any time changes nothing");
    joined = efficiency_joined(&a, &none);
    ok(same(efficiency_of(&joined).parallel, efficiency_of(&a).parallel), "... before or after");
}

/* ---- the view ---- */

static struct view *view;
static double now_s;
static uint32_t seq;

static void member(uint64_t comm, uint32_t rank, uint32_t first, uint32_t size)
{
    struct telemetry_item item = { .kind = TELEMETRY_COMM,
                                   .comm = { .rank = rank,
                                             .name = comm,
                                             .membership = comm,
                                             .size = size,
                                             .comm_rank = rank - first,
                                             .first = first,
                                             .last = first + size - 1 } };

    view_item(view, 0, &item);
}

static void start(void)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };

    view = view_new(&params, 0);
    now_s = 0;
    seq = 0;
    for (uint32_t r = 0; r < RANKS; r++) {
        view_rank_add(view, r, 0, r < 2 ? "a" : "b", "");
        member(WORLD, r, 0, RANKS);
        member(INNER + r / 2, r, r / 2 * 2, 2);
    }
}

/* Ranks first.. do their work and meet; a block of n of that. */
static void meet(uint64_t comm, uint32_t first, uint32_t size, const double *work_s, uint32_t n)
{
    double last = 0;

    for (uint32_t i = 0; i < size; i++)
        last = fmax(last, work_s[first + i]);
    for (uint32_t r = first; r < first + size; r++) {
        double stay_s = last - work_s[r] + TRANSFER;
        struct telemetry_item item = { .kind = TELEMETRY_SAMPLE,
                                       .sample = { .rank = r,
                                                   .op = RING_OP_ALLREDUCE,
                                                   .comm = comm,
                                                   .seq = seq,
                                                   .n = n,
                                                   .root = -1,
                                                   .stay_ns = (uint64_t)(1e9 * stay_s),
                                                   .stay_sum_ns = (uint64_t)(1e9 * stay_s * n),
                                                   .gap_sum_ns = (uint64_t)(1e9 * work_s[r] * n) } };

        view_item(view, now_s, &item);
    }
    seq += n;
}

/* The n collectives before now were a step each. */
static void tell_steps(uint32_t n, double step_s)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        struct telemetry_item item = { .kind = TELEMETRY_STEP,
                                       .step = { .rank = r,
                                                 .comm = WORLD,
                                                 .seq = seq - n,
                                                 .period = 1,
                                                 .parts = 1,
                                                 .n_steps = n,
                                                 .duration_ns = (uint64_t)(1e9 * step_s * n),
                                                 .gap_ns = (uint64_t)(0.9e9 * step_s * n) } };

        view_item(view, now_s, &item);
    }
}

static void steps(int count, const double *work_s, uint32_t n)
{
    for (int i = 0; i < count; i++) {
        meet(WORLD, 0, RANKS, work_s, n);
        tell_steps(n, 0.2);
        now_s += 0.2;
        view_tick(view, now_s);
    }
}

static void world(uint32_t n)
{
    static const double work_s[RANKS] = { 0.100, 0.080, 0.190, 0.100 };
    /* Until 0.02 s after the first one it waits for three, then they for the last. */
    static const double delay_s[RANKS] = { 0.02 / 3, 0, 0.02 / 3 + 0.27, 0.02 / 3 };
    double waited_s = 0, caused_s = 0;
    struct view_rank_figures f;
    struct view_efficiency e;
    struct view_critical_path c;

    start();
    view_efficiency_get(view, &e);
    view_critical_path_get(view, &c);
    ok(isnan(e.recent.parallel) && isnan(e.run.transfer) && isnan(c.concentration) && !c.n,
       "efficiencies of a view without records are NaN");
    steps(200, work_s, n);
    view_efficiency_get(view, &e);
    ok(near(e.run.parallel, 0.1175 / 0.2, 1e-4) && near(e.run.load_balance, 0.1175 / 0.19, 1e-4) &&
           near(e.run.serialisation, 1, 1e-4) && near(e.run.transfer, 0.95, 1e-4),
       "blocks of %u: the efficiencies are those computed by hand\nparallel %.3f, load balance %.3f, serialisation %.3f, transfer %.3f",
       n, e.run.parallel, e.run.load_balance, e.run.serialisation, e.run.transfer);
    ok(near(e.recent.parallel, e.run.parallel, 1e-6) && near(e.recent.transfer, e.run.transfer, 1e-6),
       "recent efficiencies of a steady job equal those of the run");
    view_rank_get(view, now_s, 1, &f);
    ok(near(f.wait_s, 0.110, 1e-4), "the first to arrive waits 0.11 s per collective\n%.3f s", f.wait_s);
    ok(f.lateness_p50_s <= f.lateness_p95_s && f.lateness_p95_s <= f.lateness_p99_s &&
           f.lateness_p99_s < 1e-5,
       "the first to arrive is never late");
    view_rank_get(view, now_s, 2, &f);
    ok(f.lateness_p50_s > 0.11 / 1.05 && f.lateness_p99_s < 0.11 * 1.05,
       "the last to arrive is 0.11 s late, within 5 %%\n%.4f to %.4f", f.lateness_p50_s, f.lateness_p99_s);
    ok(f.wait_s == 0, "the last to arrive does not wait\n%g s", f.wait_s);
    for (uint32_t r = 0; r < RANKS; r++) {
        view_rank_get(view, now_s, r, &f);
        waited_s += f.wait_s;
        caused_s += f.delay_s;
        ok(near(f.delay_s, delay_s[r], 1e-3),
           "rank %u makes the others wait as long as computed by hand\n%.4f s per step", r, f.delay_s);
    }
    ok(near(waited_s, 0.29, 1e-3) && near(caused_s, 0.29, 1e-3),
       "delays caused by all ranks sum to the time that all wait\n%.3f s", caused_s);
    view_critical_path_get(view, &c);
    ok(c.n == 1 && c.rank[0].rank == 2 && !strcmp(c.rank[0].node, "b") && c.rank[0].last_ratio == 1 &&
           c.concentration == 1,
       "every collective waits for rank 2");
    view_free(view);
}

/* What has changed shows in the last columns, and only in part in the whole run. */
static void change(void)
{
    static const double even[RANKS] = { 0.190, 0.190, 0.190, 0.190 },
                        odd[RANKS] = { 0.090, 0.090, 0.190, 0.090 };
    struct view_efficiency e;

    start();
    steps(600, even, 1);
    view_efficiency_get(view, &e);
    ok(near(e.recent.load_balance, 1, 1e-6), "the load balance of equal work is 1");
    steps(600, odd, 1);
    view_efficiency_get(view, &e);
    ok(near(e.recent.load_balance, 0.115 / 0.19, 1e-2),
       "the recent load balance of unequal work is below 1\n%.3f", e.recent.load_balance);
    ok(near(e.run.load_balance, 0.1525 / 0.19, 1e-2),
       "the load balance of the run averages both phases\n%.3f", e.run.load_balance);
    double before = e.recent.load_balance;
    view_tick(view, now_s + 36000);
    view_efficiency_get(view, &e);
    ok(near(e.recent.load_balance, before, 1e-6), "ten hours without records do not change the load balance");
    for (uint32_t r = 0; r < RANKS; r++)
        view_rank_end(view, r, 0, false);
    struct view_comm comm[4];
    size_t n = view_comms_get(view, now_s, comm, 4);
    ok(n == 1 && near(comm[0].run.load_balance, e.run.load_balance, 1e-6),
       "the load balance stays when all ranks have ended");
    view_rank_add(view, 0, 1, "a", "");
    view_efficiency_get(view, &e);
    ok(isnan(e.run.parallel) && isnan(e.recent.transfer), "another program starts without efficiencies");
    view_free(view);
}

/* The groups are unbalanced inside, and equal to each other: what is lost is lost on the inner communicators.
 */
static void nested(void)
{
    static const double inner_s[RANKS] = { 0.10, 0.20, 0.20, 0.10 },
                        outer_s[RANKS] = { 0.05, 0.05, 0.05, 0.05 };
    struct view_comm comm[4];
    struct view_critical_path c;
    size_t n;

    start();
    for (int i = 0; i < 200; i++) {
        meet(INNER, 0, 2, inner_s, 1);
        meet(INNER + 1, 2, 2, inner_s, 1);
        steps(1, outer_s, 1);
    }
    n = view_comms_get(view, now_s, comm, 4);
    is_int((long long)n, 2, "inner groups are one row");
    ok(comm[0].size == RANKS && near(comm[0].run.parallel, 0.26 / 0.27, 1e-4) &&
           near(comm[0].run.load_balance, 1, 1e-4) && near(comm[0].run.transfer, 0.26 / 0.27, 1e-4),
       "the outer communicator costs its transfers: %.4f", comm[0].run.parallel);
    ok(comm[1].instances == 2 && near(comm[1].run.parallel, 0.21 / 0.27, 1e-4) &&
           near(comm[1].run.load_balance, 0.21 / 0.26, 1e-4) && near(comm[1].run.transfer, 0.26 / 0.27, 1e-4),
       "the inner communicators cost transfers and imbalance: %.4f", comm[1].run.parallel);
    view_critical_path_get(view, &c);
    ok(c.n >= 2 && c.rank[0].last_ratio >= 0.5 && c.concentration > 0.33 && c.concentration <= 0.67,
       "late ranks of inner groups arrive last in at least half of the collectives");
    view_free(view);
}

int main(void)
{
    formulas();
    parts();
    world(1);
    world(4);
    change();
    nested();
    return done_testing();
}
