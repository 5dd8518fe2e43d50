/* Workers that read from servers and write to them without waiting for one another: seen by their calls
 * alone, with the staleness that they have, and who is slow. What waits is never taken for it. */
#include "calls/updates.h"

#include <stdlib.h>

#include "ctl/analyze.h"
#include "report/rule_figures.h"
#include "tests/calls.h"
#include "tests/served.h"
#include "tests/tap.h"
#include "tests/text.h"
#include "trace/reader.h"
#include "view/figures.h"
#include "view/updates.h"
#include "view/verdicts.h"
#include "view/view.h"

static struct updates *updates;
static struct updates_figures got;
static bool ever; /* it was found at some time */

static void give(const struct call *c, void *arg)
{
    updates_call(arg, c);
    ever = ever || updates_found(arg);
}

static struct served job(uint32_t workers, uint32_t servers)
{
    return (struct served){ .workers = workers,
                            .servers = servers,
                            .work_s = 0.02,
                            .service_s = 0.0002,
                            .latency_s = 2e-5,
                            .cv = 0.1,
                            .bound = SERVED_FREE,
                            .read_bytes = 400000,
                            .write_bytes = 400000,
                            .call = give };
}

/* So many iterations of each worker. */
static void run(struct served *s, uint32_t iterations)
{
    updates_free(updates);
    updates = updates_new();
    ever = false;
    random_state = 7 + s->workers * 100 + s->servers;
    s->arg = updates;
    served_begin(s);
    for (uint32_t i = 0; i < iterations * s->workers; i++)
        served_step(s);
    updates_get(updates, &got);
}

static const struct updates_rank *rank_got(uint32_t rank)
{
    for (size_t i = 0; i < got.n; i++)
        if (got.rank[i].rank == rank)
            return &got.rank[i];
    return NULL;
}

static uint32_t slow_ones(void)
{
    uint32_t n = 0;

    for (size_t i = 0; i < got.n; i++)
        n += got.rank[i].slow;
    return n;
}

static double stale_of(const struct served *s, uint32_t worker)
{
    double sum = 0;

    for (uint32_t i = 0; i < SERVED_STALE; i++)
        sum += s->stale[worker][i];
    return sum / SERVED_STALE;
}

static void test_healthy(void)
{
    static const struct {
        uint32_t workers, servers;
        bool asks;
    } cases[] = { { 4, 1, false }, { 8, 1, true },   { 8, 2, false },
                  { 16, 4, true }, { 32, 4, false }, { 32, 1, false } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t w = cases[i].workers, n = cases[i].servers, exact = 0;
        struct served s = job(w, n);
        char what[64];

        snprintf(what, sizeof(what), "%u workers at %u servers", w, n);
        s.asks = cases[i].asks;
        run(&s, 300);
        ok(got.found, "%s: it is seen that nobody waits", what);
        is_int(got.servers, n, "%s: the servers are told from the workers", what);
        is_int(got.workers, w, "%s: the workers are told from the servers", what);
        for (uint32_t k = 0; got.found && k < w; k++)
            exact += n > 1 || rank_got(n + k)->stale_mean == stale_of(&s, k);
        is_int(exact, w, "%s: the staleness of each worker's newest updates is what it was", what);
        is_near(got.stale_mean, w - 1.0, 0.03, "%s: updates are as stale as there are other workers", what);
        ok(got.stale_p95 >= got.stale_mean && got.stale_max >= got.stale_p95 &&
               got.stale_max <= s.stale_max + (n > 1 ? 2 : 0),
           "%s: 95 %% are staler than the mean, and none than any was", what);
        is_near(got.per_s, (double)s.updates / (s.now_s - 1), 0.05, "%s: the rate is that of all updates",
                what);
        is_int(slow_ones(), 0, "%s: nobody is slow", what);
    }
}

static void test_slow_worker(void)
{
    static const struct {
        uint32_t workers, servers;
        double times;
    } cases[] = { { 8, 1, 2 }, { 4, 2, 3 }, { 16, 4, 2 }, { 8, 2, 1.4 } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint32_t w = cases[i].workers, n = cases[i].servers, slow = n + w / 2;
        struct served s = job(w, n), healthy = job(w, n);
        const struct updates_rank *k;
        double rate;
        char what[64];

        snprintf(what, sizeof(what), "%u workers, one %.1f times as slow", w, cases[i].times);
        run(&healthy, 200);
        rate = (double)healthy.updates / (healthy.now_s - 1);
        s.slower[w / 2] = cases[i].times;
        run(&s, 200);
        k = rank_got(slow);
        if (!ok(got.found && k, "%s: it is seen that nobody waits", what))
            continue;
        ok(k->slow && slow_ones() == 1, "%s: that one is named, and no other", what);
        is_near(k->times, cases[i].times, 0.08, "%s: so much longer it works", what);
        is_near(k->slowdown, rate / ((double)s.updates / (s.now_s - 1)), 0.015,
                "%s: its price is the rate without the fault over the rate", what);
        ok(k->stale_mean > 1.2 * got.stale_mean * cases[i].times / 2,
           "%s: what it writes is staler than the others' updates", what);
    }
}

static void test_slow_server(void)
{
    struct served s = job(8, 4), healthy = job(8, 4);
    const struct updates_rank *k;

    healthy.service_s = s.service_s = 0.001;
    run(&healthy, 200);
    is_int(slow_ones(), 0, "servers: that are alike none is slow");
    s.slow_server[2] = 3;
    run(&s, 200);
    k = rank_got(2);
    if (!ok(got.found && k, "servers: one that is slow is one of them all the same"))
        return;
    ok(k->slow && slow_ones() == 1, "servers: the slow one is named, and nobody else");
    is_near(k->times, 3, 0.1, "servers: it takes three times as long for an update");
    is_near(k->slowdown, (double)healthy.updates / (healthy.now_s - 1) / ((double)s.updates / (s.now_s - 1)),
            0.06, "servers: its price is what all workers wait longer for it");
}

/* A single server, slower than before from an update on. */
static void test_slowed_server(void)
{
    static const struct {
        uint32_t workers;
        double service_s, times;
    } cases[] = { { 8, 0.001, 2 }, { 8, 0.002, 3 }, { 16, 0.001, 1.5 }, { 4, 0.001, 4 } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct served s = job(cases[i].workers, 1);
        const struct updates_rank *k;
        uint64_t before;
        double rate, since_s;
        char what[64];

        snprintf(what, sizeof(what), "a single server of %u workers", cases[i].workers);
        s.service_s = cases[i].service_s;
        run(&s, 150);
        is_int(slow_ones(), 0, "%s is not slow before it is slower", what);
        before = s.updates;
        rate = (double)before / (s.now_s - 1);
        since_s = s.now_s;
        s.slow_server[0] = cases[i].times;
        for (uint32_t n = 0; n < 150 * s.workers; n++)
            served_step(&s);
        updates_get(updates, &got);
        k = rank_got(0);
        if (!ok(got.found && k->slow && k->became_slow && slow_ones() == 1,
                "%s that became slower is named, and nobody else", what))
            continue;
        is_near(k->times, cases[i].times, 0.08, "%s takes so many times as long as before", what);
        is_near(k->slowdown, rate / ((double)(s.updates - before) / (s.now_s - since_s)), 0.06,
                "%s costs the rate before over the rate since", what);
        is_near(k->since_s, s.now_s - since_s, 0.1, "%s is slower since then", what);
        is_near((double)k->since_update, (double)before, 0.1, "%s is slower since that update", what);
    }
    for (int late = 0; late < 2; late++) {
        struct served s = job(8, 1);

        s.service_s = 0.001;
        s.slow_server[0] = late ? 1 : 4;
        run(&s, 200);
        s.slow_server[0] *= late ? 1.05 : 1;
        for (uint32_t n = 0; n < 1600; n++)
            served_step(&s);
        updates_get(updates, &got);
        ok(got.found && !slow_ones(), "a single server that takes %s is not slow",
           late ? "a little longer than before" : "as long as it did from the beginning");
    }
}

/* Servers that are busy, and those that are not. */
static void test_limit(void)
{
    static const struct {
        const char *name;
        uint32_t workers, servers;
        double service_s;
        bool polls, limit;
    } cases[] = {
        { "a server that all wait for", 8, 1, 0.005, false, true },
        { "a server that looks for messages, and that all wait for", 8, 1, 0.005, true, true },
        { "one of two servers that all wait for", 16, 2, 0.004, false, true },
        { "a server with time left", 8, 1, 0.001, false, false },
        { "a server that looks for messages, with time left", 8, 1, 0.001, true, false },
        { "a server that is busy for two thirds of its time", 8, 1, 0.002, true, false },
        { "a server with little to do for many workers", 32, 1, 0.0002, false, false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct served s = job(cases[i].workers, cases[i].servers);
        const struct updates_rank *k;
        double busy;

        s.service_s = cases[i].service_s;
        s.cv = 0.6; /* with less a queue that never ends keeps the workers in its order */
        s.polls = cases[i].polls;
        run(&s, 200);
        k = rank_got(0);
        if (!ok(got.found && k, "%s: it is seen that nobody waits for all", cases[i].name))
            continue;
        busy = (double)s.updates * s.service_s / (s.now_s - 1);
        is_int(k->limit, cases[i].limit, "%s is %sthe limit", cases[i].name, cases[i].limit ? "" : "not ");
        ok(!k->slow, "%s is not slow for that", cases[i].name);
        if (!s.polls)
            is_near(k->busy_ratio, busy, 0.2, "%s: this share of its time", cases[i].name);
        ok(k->busy.low <= k->busy_ratio && k->busy.high >= k->busy_ratio && k->busy.high <= 1,
           "%s: with an interval", cases[i].name);
    }
}

static void test_mixed_speeds(void)
{
    struct served s = job(8, 1);

    for (uint32_t w = 0; w < 8; w++)
        s.slower[w] = w % 2 ? 2 : 1;
    run(&s, 200);
    ok(got.found, "two kinds of machines: it is seen that nobody waits");
    is_int(slow_ones(), 0, "two kinds of machines: none of them is slow");
    s = job(16, 2);
    for (uint32_t w = 0; w < 16; w++)
        s.slower[w] = 1 + w / 15.0;
    run(&s, 200);
    ok(got.found, "machines of all speeds: it is seen that nobody waits");
    is_int(slow_ones(), 0, "machines of all speeds: none of them is slow");
    s = job(8, 1);
    s.cv = 0.5;
    run(&s, 400);
    ok(got.found && !slow_ones(), "work that varies widely: nobody is slow");
}

static void test_stopped(void)
{
    struct served s = job(8, 2);
    const struct updates_rank *k;

    run(&s, 100);
    s.next_s[3] = INFINITY;
    for (uint32_t i = 0; i < 400; i++)
        served_step(&s);
    updates_get(updates, &got);
    k = rank_got(5);
    if (!ok(got.found && k, "a worker that stopped is still one"))
        return;
    ok(k->silent && got.silent == 1 && !slow_ones(), "a worker that stopped is silent, and not slow");
    is_near(k->silent_s, 400 / 7.0 * 0.0205, 0.05,
            "a worker that stopped is silent for as long as others write");
    is_near(got.per_s, 7 / 0.0205, 0.05, "the rate is that of the workers that go on");
    is_near(got.stale_mean, 6, 0.05, "the staleness is that of the workers that go on");
    s = job(8, 1);
    run(&s, 100);
    for (uint32_t w = 2; w < 8; w++)
        s.next_s[w] = INFINITY;
    for (uint32_t i = 0; i < 100; i++) {
        served_step(&s);
        updates_get(updates, &got);
    }
    ok(!got.found && got.workers == 8, "when most workers have stopped it is over");
    ok(2 * got.silent <= got.workers && got.stale_mean > 2 && got.per_s > 3.5 / 0.0205,
       "the figures of before, when at least half of them wrote, are kept then");
}

static void test_bounded(void)
{
    struct served s = job(8, 1);

    s.bound = 4;
    s.cv = 0.3;
    run(&s, 400);
    ok(got.found && !slow_ones(), "bounded staleness: workers that are alike go by one another");
    ok(got.stale_max <= 7 * (2 * 4 + 1), "bounded staleness: no update is staler than the bound allows");
    s = job(8, 1);
    s.bound = 4;
    s.slower[3] = 2;
    run(&s, 200);
    is_int(
        slow_ones(), 0,
        "bounded staleness: a slow worker that the others wait for in the end does not cost its own share");
}

/* Programs in which somebody waits, or which do something else. */
static void test_others(void)
{
    struct served s;

    for (uint32_t n = 1; n <= 4; n *= 2)
        for (uint32_t slow = 0; slow < 2; slow++) {
            s = job(8, n);
            s.bound = 0;
            s.slower[3] = slow ? 2 : 1;
            run(&s, 200);
            ok(!ever, "%u servers that wait for all workers%s are never taken for others", n,
               slow ? ", one of them slow," : "");
        }
    s = job(8, 1);
    s.in_turns = true;
    s.slower[2] = 2;
    run(&s, 200);
    ok(!ever, "a server that takes its workers in turns is none that goes on without them");
    s = job(8, 1);
    s.read_bytes = 64;
    run(&s, 200);
    ok(!ever, "a farm of small tasks is none of updates");
    s = job(8, 1);
    s.read_bytes = 16384;
    run(&s, 200);
    ok(!ever, "a farm of tasks much smaller than their results is none of updates");
    s = job(8, 1);
    s.varies = true;
    run(&s, 200);
    ok(!ever, "a farm of results that differ in size is none of updates");
    s = job(8, 1);
    s.read_bytes = s.write_bytes = 512;
    run(&s, 200);
    ok(!ever, "small messages hold no parameters");
    s = job(8, 1);
    s.meet_every = 1;
    run(&s, 200);
    ok(!ever, "workers that meet in each iteration wait for one another");
}

/* Servers that wait for one worker after the other, some more often than others. */
static void test_fixed_orders(void)
{
    static const struct {
        const char *name;
        uint32_t workers, servers, n;
        uint8_t order[32];
        double slower; /* worker 1 */
    } cases[] = {
        { "1, 2, 1, 3, 1, 2, ...", 3, 1, 4, { 0, 1, 0, 2 }, 1 },
        { "one twice a round", 4, 1, 5, { 0, 1, 0, 2, 3 }, 1 },
        { "one twice in a row", 4, 2, 5, { 0, 0, 1, 2, 3 }, 1 },
        { "one four times a round", 4, 1, 7, { 0, 1, 0, 2, 0, 3, 0 }, 1 },
        { "to and fro", 4, 1, 8, { 0, 1, 2, 3, 3, 2, 1, 0 }, 1 },
        { "shares of 3, 2, 2 and 1", 4, 1, 8, { 0, 1, 2, 0, 3, 1, 0, 2 }, 1 },
        { "shares of 7 and 5", 2, 1, 12, { 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0 }, 1 },
        { "two rates", 5, 1, 13, { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 4 }, 1 },
        { "one with more work, less often", 8, 1, 15, { 0, 2, 3, 4, 5, 6, 7, 1, 0, 2, 3, 4, 5, 6, 7 }, 3 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct served s = job(cases[i].workers, cases[i].servers);

        s.order = cases[i].order;
        s.order_n = cases[i].n;
        s.slower[1] = cases[i].slower;
        run(&s, 400);
        ok(!ever, "a fixed order of turns (%s) is never taken for workers that do not wait", cases[i].name);
        served_begin(&s);
        s.order = NULL;
        for (uint32_t k = 0; k < 20; k++)
            served_step(&s);
        s.order = cases[i].order;
        for (uint32_t k = 0; k < 400 * s.workers; k++)
            served_step(&s);
        ok(!ever, "nor is it after it was broken once (%s)", cases[i].name);
    }
}

/* Of two kinds that differ by so much that the slow ones never go by a fast one. */
static void test_free_orders(void)
{
    static const struct {
        uint32_t workers, servers;
        double slower, cv;
    } cases[] = {
        { 4, 1, 2, 0.05 }, { 4, 1, 5, 0.1 }, { 8, 2, 3, 0.1 }, { 3, 1, 2.5, 0.1 }, { 2, 1, 3, 0.1 }
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct served s = job(cases[i].workers, cases[i].servers);

        s.slower[1] = cases[i].slower;
        s.cv = cases[i].cv;
        run(&s, 400);
        ok(got.found,
           "%u workers, one %.1f times as slow, which goes by nobody: it is seen that they do not wait",
           cases[i].workers, cases[i].slower);
    }
}

static void exchange(uint32_t a, uint32_t b, uint64_t *ns)
{
    struct call c = { .comm = 1, .bytes = 100000 };

    for (uint32_t way = 0; way < 2; way++) {
        uint32_t from = way ? b : a, to = way ? a : b;

        for (uint32_t end = 0; end < 2; end++) {
            c.op = end ? RING_OP_RECV : RING_OP_SEND;
            c.rank = end ? to : from;
            c.peer = end ? from : to;
            c.enter_ns = *ns;
            c.leave_ns = *ns += 1000;
            updates_call(updates, &c);
            ever = ever || updates_found(updates);
        }
    }
}

/* Neighbours that exchange as it comes: all of them go by somebody, and none works for another. */
static void test_neighbours(void)
{
    uint64_t ns = 1000;

    updates_free(updates);
    updates = updates_new();
    ever = false;
    random_state = 3;
    for (uint32_t i = 0; i < 4000; i++) {
        uint32_t a = (uint32_t)(6 * uniform());

        exchange(a, (a + 1) % 6, &ns);
    }
    ok(!ever, "neighbours in a ring that exchange as it comes are neither servers nor workers");
}

static uint32_t missing; /* the rank whose calls do not come */

static void give_some(const struct call *c, void *arg)
{
    if (c->rank != missing)
        give(c, arg);
}

static void test_missing(void)
{
    struct served s = job(8, 1);

    run(&s, 100);
    updates_gap(updates, 0);
    s.call = give_some;
    for (uint32_t i = 0; i < 1600; i++) {
        missing = i % 200 < 60 ? i / 200 % 9 : UINT32_MAX;
        served_step(&s);
        if (i % 200 == 60)
            updates_gap(updates, i / 200 % 9);
    }
    updates_get(updates, &got);
    ok(got.found, "calls that are missing now and then do not hide what is known");
    is_near(got.stale_mean, 7, 0.05, "an update whose read may be missing has no staleness");
    is_int(slow_ones(), 0, "times with something missing are no times");
    updates_end_rank(updates, 5);
    updates_get(updates, &got);
    ok(got.found && got.workers == 7, "a worker that has ended is none of them any more");
    for (uint32_t r = 0; r < 9; r++)
        updates_call(updates, &(struct call){ .comm = 3, .op = RING_OP_BARRIER, .rank = r, .leave_ns = 1 });
    updates_get(updates, &got);
    ok(!got.found && got.workers == 7, "after a barrier of all, what was before is known, and is over");
}

static void give_with_gaps(const struct call *c, void *arg)
{
    give(c, arg);
    if (c->rank && c->rank != missing)
        updates_gap(arg, c->rank);
}

/* All that is known of most workers' own calls is that they write. */
static void test_unknown(void)
{
    struct served s = job(8, 1);

    missing = UINT32_MAX;
    s.call = give_with_gaps;
    run(&s, 200);
    ok(got.found && rank_got(1)->turns == 0,
       "workers of whose iterations none is whole are known all the same");
    ok(isnan(got.per_s) && isnan(got.wait_ratio), "what no iteration is known of is not zero");
    ok(got.busy_ratio > 0 && got.busy_ratio < 1, "the server's share is known without them");
    missing = 1;
    run(&s, 200);
    ok(got.found && rank_got(1)->turns > 0 && isnan(got.per_s), "the rate of one worker is not that of all");
}

/* ---- in a view ---- */

static struct view *view;
static bool gaps; /* after each call of a worker some are missing */

static void give_view(const struct call *c, void *arg)
{
    const struct served *s = arg;

    view_call(view, s->now_s, c);
}

static void give_view_with_gaps(const struct call *c, void *arg)
{
    give_view(c, arg);
    if (c->rank)
        view_call_lost(view, c->rank);
}

static void show(struct served *s, uint32_t iterations)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    char node[16];

    view_free(view);
    view = view_new(&params, 0);
    for (uint32_t r = 0; r < s->servers + s->workers; r++) {
        snprintf(node, sizeof(node), "node%u", r);
        view_rank_add(view, r, 0, node, "");
    }
    random_state = 11;
    s->call = gaps ? give_view_with_gaps : give_view;
    s->arg = s;
    served_begin(s);
    for (uint32_t i = 0; i < iterations * s->workers; i++) {
        served_step(s);
        if (i % s->workers == 0)
            view_tick(view, s->now_s);
    }
    view_tick(view, s->now_s);
}

static void test_words(void)
{
    struct served s = job(8, 1);
    const struct view_verdict *d;
    struct view_critical_path path;
    struct view_updates f;
    struct figures figures;
    char text[512];

    show(&s, 200);
    is_int((long long)view_verdicts_get(view, &d), 0, "view: of workers that are alike there is no verdict");
    ok(view_judged_get(view, s.now_s) == VIEW_JUDGED, "view: they are judged");
    view_sentence(view, s.now_s, text, sizeof(text));
    ok(!strncmp(
           text,
           "Healthy: 8 workers read parameters from 1 server and write updates without waiting for "
           "one another, ",
           strlen("Healthy: 8 workers read parameters from 1 server and write updates without waiting for "
                  "one another, ")),
       "view: its sentence says who does not wait\n%s", text);
    view_critical_path_get(view, &path);
    ok(!path.n && !path.moves && isnan(path.concentration),
       "view: no critical path goes through workers that "
       "do not wait");
    ok(view_updates_get(view, &f), "view: it has their figures");
    rule_figures(view, s.now_s, 1, &figures);
    ok(figures.value[FIGURE_STALENESS] == f.u.stale_mean &&
           figures.value[FIGURE_STALENESS_P95] == f.u.stale_p95,
       "view: rules see the staleness");
    is_near(f.limit, 2 * sin(M_PI / (2 * (2 * f.u.stale_mean + 1))), 1e-9,
            "view: the limit of the learning rate is that of their mean staleness");
    is_near(f.limit_fresh, 2, 1e-9, "view: that of fresh gradients is 2");
    s = job(8, 1);
    s.slower[4] = 2;
    show(&s, 1500); /* more calls than a repeating step is looked for in */
    if (is_int((long long)view_verdicts_get(view, &d), 1, "view: of one slow worker there is one verdict")) {
        is_int(d->finding.duty, DUTY_WORKER, "view: its verdict is that of a worker");
        is_str(d->culprit[0], "r5", "view: it is named");
        is_near(d->finding.excess, 1, 0.1, "view: it works twice as long");
        ok(strstr(d->text, "rank 5 on node5 works ") &&
               strstr(d->text,
                      " times as long an iteration as the other workers, which do not wait for it; it "
                      "costs its own share: 1.0"),
           "view: the verdict says that it costs its own share\n%s", d->text);
    }
    view_finish(view, s.now_s);
    is_int((long long)view_verdicts_reported(view, &d), 1, "view: the run's report has this verdict alone");
    ok(strstr(d->text, "rank 5 on node5 worked ") && strstr(d->text, "which did not wait for it"),
       "view: in the past tense it says the same\n%s", d->text);
    s = job(8, 1);
    s.bound = 0;
    s.slower[4] = 2;
    show(&s, 100);
    rule_figures(view, s.now_s, 1, &figures);
    ok(isnan(figures.value[FIGURE_STALENESS]), "view: rules see no staleness where servers wait for all");
    ok(!view_updates_get(view, &f), "view: of servers that wait for all there are no such figures");
}

/* Its only server becomes slower. */
static void test_slowed_words(void)
{
    struct served s = job(8, 1);
    const struct view_verdict *d;
    double since_s;

    s.service_s = 0.002;
    show(&s, 150);
    since_s = s.now_s;
    s.slow_server[0] = 2;
    for (uint32_t i = 0; i < 150 * s.workers; i++) {
        served_step(&s);
        if (i % s.workers == 0)
            view_tick(view, s.now_s);
    }
    view_tick(view, s.now_s);
    if (!is_int((long long)view_verdicts_get(view, &d), 1,
                "view: of a server that slows there is one verdict"))
        return;
    is_str(d->culprit[0], "r0", "view: that server is named");
    ok(strstr(d->text, "rank 0 on node0 takes ") &&
           strstr(d->text, " times as long for an update as before, and all workers wait for it; this costs "
                           "all of them: "),
       "view: the verdict says what it did before\n%s", d->text);
    is_near(s.now_s - d->since_s, s.now_s - since_s, 0.15, "view: the verdict begins when the server slowed");
}

static void test_limit_words(void)
{
    struct served s = job(8, 1);
    const struct view_verdict *d;
    char text[512];

    s.service_s = 0.005;
    s.cv = 0.6;
    show(&s, 200);
    view_sentence(view, s.now_s, text, sizeof(text));
    ok(strstr(text, "; rank 0 serves ") &&
           strstr(text, " of the time while workers wait in its queue: more workers do not add updates; "),
       "view: a server that is the limit is in its sentence\n%s", text);
    is_int((long long)view_verdicts_get(view, &d), 0, "view: that is no verdict");
}

static void test_unknown_words(void)
{
    struct served s = job(8, 1);
    struct view_updates f;
    char text[512];

    gaps = true;
    show(&s, 200);
    gaps = false;
    ok(view_updates_get(view, &f) && f.u.found && isnan(f.u.per_s), "view: rates may be unknown");
    view_sentence(view, s.now_s, text, sizeof(text));
    ok(strstr(text,
              "8 workers read parameters from 1 server and write updates without waiting for one another; "),
       "view: what is not known is left out of the sentence\n%s", text);
    ok(view_regime_get(view) == VIEW_STARTING, "view: the regime is not known then");
}

/* After 200 iterations of each worker all meet, so many times. */
static void finish(struct served *s, uint32_t steps)
{
    double now_s;

    show(s, 200);
    for (uint32_t r = 0; r < 9; r++)
        give_member(view, r, 7, 9, r, 0, 8);
    now_s = s->now_s + 1;
    for (uint32_t i = 0; i < steps; i++) {
        double met_s = now_s + 0.1;

        for (uint32_t r = 0; r < 9; r++) {
            double enter_s = now_s + 0.08 + 0.005 * uniform();
            struct call c = { .comm = 7,
                              .op = RING_OP_ALLREDUCE,
                              .rank = r,
                              .seq = i,
                              .bytes = 1000,
                              .enter_ns = (uint64_t)(enter_s * 1e9),
                              .leave_ns = (uint64_t)(met_s * 1e9) };

            give_collective(view, met_s, &c);
        }
        now_s = met_s;
        if (i % 10 == 0)
            view_tick(view, now_s);
    }
    s->now_s = now_s;
    view_finish(view, now_s);
}

static void test_finished(void)
{
    struct served s = job(8, 1);
    struct view_figures f;
    char text[512];

    finish(&s, 1);
    view_figures_get(view, s.now_s, &f);
    view_sentence(view, s.now_s, text, sizeof(text));
    ok(isnan(f.step_mean_s) &&
           strstr(text, "Healthy: 8 workers read parameters from 1 server and wrote updates "),
       "view: a job that met once, at its end, is one of workers that did not wait\n%s", text);
    ok(view_judged_get(view, s.now_s) == VIEW_JUDGED, "view: it was judged");
    finish(&s, 600);
    view_figures_get(view, s.now_s, &f);
    view_sentence(view, s.now_s, text, sizeof(text));
    ok(!isnan(f.step_mean_s) && !strstr(text, "worker") && strstr(text, " A step "),
       "view: one that had steps after that is summed up by its steps\n%s", text);
}

/* ---- one-sided ---- */

/* Workers that read the memory of rank 0, work, and add to it what they found. */
struct memory {
    uint32_t workers;
    double work_s, access_s; /* an access lasts up to that long, evenly */
    double slower[SERVED_WORKERS];
    bool wait; /* each for all before it reads, for what has taken effect: not until they have left */
    uint32_t read_bytes;
    served_call *call;
    void *arg;
    double left_s[SERVED_WORKERS];
    uint64_t updates;
};

static void access_memory(struct memory *m, uint32_t w, uint32_t read, uint32_t written, double enter_s)
{
    m->left_s[w] = enter_s + m->access_s * (0.1 + 0.9 * uniform());
    m->call(&(struct call){ .comm = 1,
                            .op = RING_OP_ACCESS,
                            .rank = 1 + w,
                            .peer = 0,
                            .read_bytes = read,
                            .bytes = written,
                            .enter_ns = (uint64_t)(enter_s * 1e9),
                            .leave_ns = (uint64_t)(m->left_s[w] * 1e9) },
            m->arg);
}

/* Returns when its update took effect. */
static double iterate(struct memory *m, uint32_t w, double from_s)
{
    double enter_s, work_s = m->work_s * (0.7 + 0.6 * uniform()) * (m->slower[w] > 0 ? m->slower[w] : 1);

    access_memory(m, w, m->read_bytes, 0, fmax(from_s, m->left_s[w]));
    enter_s = m->left_s[w] + work_s;
    access_memory(m, w, 0, 400000, enter_s);
    m->updates++;
    return enter_s + uniform() * (m->left_s[w] - enter_s);
}

static void iterate_all(struct memory *m, uint32_t iterations)
{
    double all_s = 0;

    for (uint32_t i = 0; i < iterations; i++) {
        double done_s = 0;

        for (uint32_t k = 0; k < m->workers; k++) {
            uint32_t w = k;

            for (uint32_t j = 0; !m->wait && j < m->workers; j++)
                w = m->left_s[j] < m->left_s[w] ? j : w;
            done_s = fmax(done_s, iterate(m, w, m->wait ? all_s : 0));
        }
        all_s = done_s;
    }
}

static struct memory memory_of(uint32_t workers)
{
    struct memory m = {
        .workers = workers, .work_s = 0.02, .access_s = 1e-4, .read_bytes = 400000, .call = give
    };

    for (uint32_t w = 0; w < workers; w++)
        m.left_s[w] = 1 + 0.02 * w / workers;
    random_state = 11 + workers;
    return m;
}

static void run_memory(struct memory *m, uint32_t iterations, uint32_t clocks)
{
    updates_free(updates);
    updates = updates_new();
    ever = false;
    m->arg = updates;
    for (uint32_t w = 0; w < m->workers; w++)
        updates_clock(updates, 1 + w, w % clocks);
    iterate_all(m, iterations);
    updates_get(updates, &got);
}

static void test_memory(void)
{
    struct memory m;

    for (uint32_t workers = 4; workers <= 32; workers *= 2) {
        m = memory_of(workers);
        m.access_s = 4e-4 / workers;
        run_memory(&m, 300, 1);
        ok(got.found && got.servers == 1 && got.workers == workers && rank_got(0) && rank_got(0)->serves,
           "memory of %u workers: it is seen whose it is, and that nobody waits", workers);
        is_near(got.stale_mean, workers - 1.0, 0.05,
                "memory of %u workers: updates are as stale as there are others", workers);
        is_near(got.per_s, (double)m.updates / (m.left_s[0] - 1), 0.1,
                "memory of %u workers: the rate is that of all updates", workers);
        is_int(slow_ones(), 0, "memory of %u workers: nobody is slow", workers);
    }
    m = memory_of(8);
    m.slower[3] = 2;
    run_memory(&m, 300, 1);
    ok(got.found && slow_ones() == 1 && rank_got(4)->slow,
       "memory: the slow worker is named, and nobody else");
    is_near(rank_got(4)->times, 2, 0.1, "memory: it works twice as long as the others");
    is_near(rank_got(4)->slowdown, 8 / 7.5, 0.02, "memory: it costs its own share");
}

static void test_memory_others(void)
{
    static const double access_s[] = { 1e-4, 5e-3, 5e-2 };
    struct memory m;

    for (size_t i = 0; i < ARRAY_SIZE(access_s); i++)
        for (uint32_t workers = 2; workers <= 8; workers *= 2) {
            m = memory_of(workers);
            m.wait = true;
            m.access_s = access_s[i];
            run_memory(&m, 400, 1);
            ok(!ever,
               "memory: %u workers that wait for one another, for what took effect in accesses of up to %g s,"
               " are never taken for others",
               workers, access_s[i]);
        }
    m = memory_of(8);
    run_memory(&m, 300, 2);
    ok(!ever, "memory: nothing is said of accesses by two clocks, whose order is not known");
    m = memory_of(8);
    m.read_bytes = 16384;
    run_memory(&m, 300, 1);
    ok(!ever, "memory: what is read and much smaller than what is written is no parameters");
}

/* ---- from a trace to the report ---- */

static void write_access(const struct call *c, void *arg)
{
    put(arg,
        "{\"r\":%u,\"c\":\"world\",\"s\":%u,\"o\":\"access\",\"b\":%llu,\"rb\":%llu,\"p\":%u,\"t0\":%llu,"
        "\"t1\":%llu}\n",
        c->rank, c->seq, (unsigned long long)c->bytes, (unsigned long long)c->read_bytes, c->peer,
        (unsigned long long)c->enter_ns, (unsigned long long)c->leave_ns);
}

static void test_memory_trace(void)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct trace_reader *reader = trace_reader_new(&params);
    struct memory m = memory_of(8);
    struct report *report;
    struct text t = { 0 };
    struct err err = { "" };

    put(&t, "{\"format\":\"syncguard-trace\",\"version\":2,\"ranks\":[");
    for (uint32_t r = 0; r < 9; r++)
        put(&t, "%s{\"rank\":%u,\"node\":\"n\"}", r ? "," : "", r);
    put(&t, "]}\n");
    m.slower[3] = 2;
    m.call = write_access;
    m.arg = &t;
    iterate_all(&m, 200);
    ok(!trace_reader_feed(reader, t.s, t.n, &err) && !trace_reader_finish(reader, &err),
       "trace of accesses: it is read\n%s", err.text);
    report = analyze_report(reader, false);
    ok(report->updates.known && report->updates.servers == 1 && report->updates.workers == 8,
       "trace of accesses: its report says whose memory it is, and who works");
    ok(report->job.verdicts.n == 1 && strstr(report->job.verdicts.list[0].text, "rank 4 on n worked "),
       "trace of accesses: the verdict names the slow worker as it does where workers send messages");
    report_free(report);
    trace_reader_free(reader);
    free(t.s);
}

static void write_call(const struct call *c, void *arg)
{
    put(arg,
        "{\"r\":%u,\"c\":\"world\",\"s\":%u,\"o\":\"%s\",\"b\":%llu,\"p\":%u,\"g\":1,\"t0\":%llu,\"t1\":%llu}\n",
        c->rank, c->seq, c->op == RING_OP_SEND ? "send" : "recv", (unsigned long long)c->bytes, c->peer,
        (unsigned long long)c->enter_ns, (unsigned long long)c->leave_ns);
}

static void test_trace(void)
{
    static const struct view_params params = { .min_slowdown = 1.02, .hang_timeout_s = 30 };
    struct trace_reader *reader = trace_reader_new(&params);
    struct served s = job(8, 2);
    struct report *report, *again;
    const struct report_updates *u;
    struct text t = { 0 };
    struct err err = { "" };
    json_t *o;

    put(&t, "{\"format\":\"syncguard-trace\",\"version\":2,\"ranks\":[");
    for (uint32_t r = 0; r < 10; r++)
        put(&t, "%s{\"rank\":%u,\"node\":\"n%u\"}", r ? "," : "", r, r);
    put(&t, "]}\n");
    s.slower[3] = 2;
    s.call = write_call;
    s.arg = &t;
    random_state = 5;
    served_begin(&s);
    for (uint32_t i = 0; i < 800; i++)
        served_step(&s);
    ok(!trace_reader_feed(reader, t.s, t.n, &err) && !trace_reader_finish(reader, &err),
       "trace: it is read\n%s", err.text);
    report = analyze_report(reader, false);
    o = report_json(report);
    again = report_read(o, &err);
    u = &again->updates;
    ok(u->known && u->standing && u->servers == 2 && u->workers == 8 && u->n == 10,
       "trace: its report says who serves and who works");
    is_near(u->stale_mean, report->updates.stale_mean, 1e-9,
            "trace: the staleness is read as it was written");
    is_near(u->limit, 2 * sin(M_PI / (2 * (2 * u->stale_mean + 1))), 1e-9,
            "trace: beside it is the limit of the learning rate");
    is_int(u->rank[0].rank, 5, "trace: the slow worker is the first of the ranks");
    is_str(u->rank[0].part, "worker", "trace: it is a worker");
    is_str(u->rank[0].node, "n5", "trace: it has its node");
    is_near(u->rank[0].times, 2, 0.1, "trace: it works twice as long");
    ok(u->rank[0].slowdown > 1.05 && u->rank[0].slowdown < 1.08 && u->rank[1].slowdown == 1,
       "trace: it alone costs something");
    ok(again->job.verdicts.n == 1 && strstr(again->job.verdicts.list[0].text, "rank 5 on n5 worked "),
       "trace: the verdict names it");
    report_free(again);
    report_free(report);
    json_decref(o);
    trace_reader_free(reader);
    free(t.s);
}

int main(void)
{
    test_healthy();
    test_slow_worker();
    test_slow_server();
    test_slowed_server();
    test_limit();
    test_mixed_speeds();
    test_stopped();
    test_bounded();
    test_others();
    test_fixed_orders();
    test_free_orders();
    test_neighbours();
    test_missing();
    test_unknown();
    test_words();
    test_slowed_words();
    test_limit_words();
    test_unknown_words();
    test_finished();
    test_trace();
    test_memory();
    test_memory_others();
    test_memory_trace();
    updates_free(updates);
    view_free(view);
    return done_testing();
}
