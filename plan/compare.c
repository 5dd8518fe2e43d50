/* sgplan compare: ways to run one job on one cluster, ranked by the time to the target. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/order.h"
#include "model/step.h"
#include "model/trade.h"
#include "plan/answer.h"
#include "plan/draw.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/questions.h"

#define STRATEGIES_MAX 16
#define RANKS_MAX      1e6 /* some of them are simulated */
#define LOCAL_MAX      1000
#define EXAMPLE_LOCAL  8

enum { RANKS, SHARDS, STALENESS_PENALTY, LOCAL_PENALTY, ASYNC_GROWTH, ITERATIONS, SLOW_RATIO };

static const struct question_option own[] = {
    [RANKS] = { "ranks", "N", QUESTION_COUNT, 1, RANKS_MAX, NULL, "ranks that take part" },
    [SHARDS] = { "shards", "S", QUESTION_COUNT, 1, 1e6, NULL, "parameter servers that share the gradients" },
    [STALENESS_PENALTY] = { "staleness-penalty", "C", QUESTION_RATIO, 0, 1e6, NULL,
                            "iterations grow as 1 + C s with staleness s; measured" },
    [LOCAL_PENALTY] = { "local-penalty", "C", QUESTION_RATIO, 0, 1e6, NULL,
                        "iterations grow as 1 + C K with K local steps; measured" },
    [ASYNC_GROWTH] = { "async-growth", "I", QUESTION_NUMBER, QUESTION_POSITIVE, 1e6, NULL,
                       "times as many iterations that asynchronous training needs; measured" },
    [ITERATIONS] = { "iterations", "N", QUESTION_COUNT, 1, 1e15, NULL,
                     "synchronous steps to the target: say hours, too" },
    [SLOW_RATIO] = { "slow-ratio", "R", QUESTION_NUMBER, 1, 1e6, NULL,
                     "one rank always takes so many times as long" },
};

static const struct question_use uses[] = {
    { &own[RANKS], QUESTION_REQUIRED },
    { &option_ranks_per_node, NULL },
    { &option_rails, "1" },
    { &option_latency, QUESTION_REQUIRED },
    { &option_bandwidth, QUESTION_REQUIRED },
    { &option_intra_latency, NULL },
    { &option_intra_bandwidth, NULL },
    { &option_compute, QUESTION_REQUIRED },
    { &option_cv, QUESTION_REQUIRED },
    { &option_dist, "lognormal" },
    { &option_gradient_bytes, QUESTION_REQUIRED },
    { &option_backward, NULL },
    { &option_overlap, "0" },
    { &option_misc, "0s" },
    { &own[SLOW_RATIO], "1" },
    { &own[SHARDS], "1" },
    { &own[STALENESS_PENALTY], NULL },
    { &own[LOCAL_PENALTY], NULL },
    { &own[ASYNC_GROWTH], NULL },
    { &own[ITERATIONS], NULL },
    { &option_seed, "1" },
    { NULL, NULL },
};

/* A step is own work, waiting for others, exchange that nothing hides, and what is left. */
struct strategy {
    char name[48];
    double work_s, waiting_s, exchange_s, misc_s;
    double growth; /* of the iterations; NaN: not given */
};

struct comparison {
    const struct asked *a;
    struct collective network;
    double compute_s, cv, slow, misc_s, gradient_bytes,
        exchange_s; /* exchange_s: of the best collective, exposed */
    enum order_dist dist;
    struct strategy list[STRATEGIES_MAX];
    size_t n;
};

static double step_s(const struct strategy *s)
{
    return s->work_s + s->waiting_s + s->exchange_s + s->misc_s;
}

static double time_s(const struct strategy *s)
{
    return step_s(s) * s->growth;
}

static void add(struct comparison *c, double ratio, double exchange_s, double growth, const char *name)
{
    struct strategy *s = &c->list[c->n++];

    *s = (struct strategy){ "", c->compute_s, c->compute_s * (ratio - 1), exchange_s, c->misc_s, growth };
    snprintf(s->name, sizeof(s->name), "%s", name);
}

/* Of a step in which all wait for all. */
static double synchronous_ratio(const struct comparison *c, double cv)
{
    return order_amplification_slow(c->dist, c->network.ranks, cv, c->slow);
}

static void add_synchronous(struct comparison *c)
{
    double ratio = synchronous_ratio(c, c->cv), overlap = asked_number(c->a, "overlap");

    c->exchange_s = INFINITY;
    for (int i = 0; i < COLLECTIVE_ALGOS; i++) {
        struct collective exchange = c->network;
        double comm_s, exposed_s;
        char name[48];

        exchange.algo = (enum collective_algo)i;
        if (i == COLLECTIVE_HIERARCHICAL && !job_network_has_nodes(&exchange))
            continue;
        comm_s = collective_time_s(&exchange, c->gradient_bytes);
        exposed_s = overlap > 0 ? step_exposed_s(comm_s, overlap, asked_number(c->a, "backward")) : comm_s;
        c->exchange_s = fmin(c->exchange_s, exposed_s);
        snprintf(name, sizeof(name), "synchronous, %s", collective_algo_name(exchange.algo));
        add(c, ratio, exposed_s, 1, name);
    }
}

static double server_s(const struct comparison *c)
{
    struct collective servers = c->network;

    servers.op = COLLECTIVE_PARAMETER_SERVER;
    servers.shards = asked_number(c->a, "shards");
    return collective_time_s(&servers, c->gradient_bytes);
}

static void add_bounded(struct comparison *c)
{
    static const size_t bounds[] = { 1, 2, 4 };
    size_t n = (size_t)c->network.ranks, steps = (size_t)fmin(2000, fmax(50, 2e7 / c->network.ranks));

    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        struct draw d = { (uint64_t)asked_number(c->a, "seed"), c->dist, c->cv, c->slow, 0 };
        double ratio = fmax(1, draw_step_ratio(&d, n, bounds[i], steps));
        char name[48];

        snprintf(name, sizeof(name), "bounded staleness %zu", bounds[i]);
        add(c, ratio, c->exchange_s, 1 + asked_number(c->a, "staleness-penalty") * (double)bounds[i], name);
    }
}

/* Independent noise averages out over the local steps, a slow rank does not. */
static double local_ratio(const struct comparison *c, double k)
{
    return synchronous_ratio(c, c->cv / sqrt(k));
}

static void add_local(struct comparison *c)
{
    double penalty = asked_number(c->a, "local-penalty"), best = EXAMPLE_LOCAL, least = INFINITY;
    char name[48];

    for (double k = 1; !isnan(penalty) && k <= LOCAL_MAX; k = fmax(k + 1, floor(k * 1.1))) {
        double t = (1 + penalty * k) * (c->compute_s * local_ratio(c, k) + c->exchange_s / k + c->misc_s);

        if (t < least) {
            least = t;
            best = k;
        }
    }
    snprintf(name, sizeof(name), "local SGD, K = %.0f%s", best, isnan(penalty) ? " (example)" : "");
    add(c, local_ratio(c, best), c->exchange_s / best, 1 + penalty * best, name);
}

/* Time for as many gradients as there are ranks, each at its own pace: the rates add up, noise does not
 * matter.  Or as fast as the servers take them. */
static void add_asynchronous(struct comparison *c)
{
    double n = c->network.ranks, own_s = 2 * c->gradient_bytes / c->network.link.bytes_per_s;
    double each_s = c->compute_s + own_s + c->misc_s, slow_s = each_s + (c->slow - 1) * c->compute_s;
    double round_s = n / ((n - 1) / each_s + 1 / slow_s), held_up_s = fmax(0, server_s(c) - round_s);

    add(c, 1 + (round_s - each_s) / c->compute_s, own_s + held_up_s, asked_number(c->a, "async-growth"),
        "asynchronous");
}

/* Known ones by time, the others behind them by step. */
static int by_time(const void *left, const void *right)
{
    const struct strategy *a = left, *b = right;
    bool known_a = !isnan(a->growth), known_b = !isnan(b->growth);
    double x = known_a ? time_s(a) : step_s(a), y = known_b ? time_s(b) : step_s(b);

    return known_a != known_b ? known_b - known_a : (x > y) - (x < y);
}

static const struct strategy *best_synchronous(const struct comparison *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].growth == 1)
            return &c->list[i];
    return &c->list[0];
}

static void say_reason(const struct strategy *s, double reference_s, struct answer *answer)
{
    double all = step_s(s);
    char parts[96];

    snprintf(parts, sizeof(parts), "work %.0f %%, waiting %.0f %%, exchange %.0f %%", 100 * s->work_s / all,
             100 * s->waiting_s / all, 100 * s->exchange_s / all);
    if (isnan(s->growth))
        answer_cell_words(answer, "iterations growth not given; pays below %.3gx; %s", reference_s / all,
                          parts);
    else if (s->growth > 1)
        answer_cell_words(answer, "%s; for %.3gx the iterations", parts, s->growth);
    else
        answer_cell_words(answer, "%s", parts);
}

static void say_table(const struct comparison *c, struct answer *answer)
{
    static const struct answer_column columns[] = {
        { "strategy", "STRATEGY", ANSWER_WORDS },
        { "step_s", "STEP", ANSWER_SECONDS },
        { "iterations_ratio", "ITERATIONS", ANSWER_TIMES },
        { "time_s", "TIME", ANSWER_SECONDS },
        { "reason", "WHY", ANSWER_WORDS },
        { "hours", "TO THE TARGET", ANSWER_HOURS },
    };
    double total = asked_number(c->a, "iterations"), reference_s = time_s(best_synchronous(c));

    answer_table(answer, "strategies", "TIME is what replaces one synchronous step:", columns,
                 isnan(total) ? 5 : 6);
    for (size_t i = 0; i < c->n; i++) {
        const struct strategy *s = &c->list[i];

        answer_cell_words(answer, "%s", s->name);
        answer_cell(answer, step_s(s));
        answer_cell(answer, s->growth);
        answer_cell(answer, time_s(s));
        say_reason(s, reference_s, answer);
        if (!isnan(total))
            answer_cell(answer, time_s(s) * total / 3600);
    }
}

/* What the first has over the second, in one sentence. */
static void say_why(const struct comparison *c, struct answer *answer)
{
    const struct strategy *one = &c->list[0], *two = &c->list[1];
    double waiting_s = two->waiting_s * two->growth - one->waiting_s * one->growth;
    double exchange_s = two->exchange_s * two->growth - one->exchange_s * one->growth;
    double work_s = (two->work_s + two->misc_s) * two->growth - (one->work_s + one->misc_s) * one->growth;
    const char *what = work_s >= exchange_s && work_s >= waiting_s ? "needs fewer iterations"
                       : exchange_s >= waiting_s                   ? "spends less on the exchange"
                                                                   : "waits less for the slowest";
    bool unknown = false;

    for (size_t i = 0; i < c->n; i++)
        unknown |= isnan(c->list[i].growth);
    if (c->n > 1 && !isnan(two->growth))
        answer_note(answer, "%s is %.3gx faster than %s, the next: mostly it %s.", one->name,
                    time_s(two) / time_s(one), two->name, what);
    if (c->slow > 1)
        answer_note(answer,
                    "A rank that is always slow holds back all but asynchronous training, and no staleness "
                    "bound helps: replacing it gains %.3gx first.",
                    c->slow / order_rebalanced(c->network.ranks, c->slow));
    if (unknown)
        answer_note(answer, "Where the growth of iterations is not given, nothing is ranked: measure it "
                            "(--staleness-penalty, --local-penalty, --async-growth).");
}

static int check(const struct comparison *c, struct err *err)
{
    if (c->network.ranks < 2)
        return err_set(err,
                       "--ranks=1: one rank has nobody to wait for; from 2 on there is something to compare");
    return job_overlap_check(c->a, err);
}

static enum question_result run(const struct asked *a, struct answer *answer, struct err *err)
{
    struct comparison c = { .a = a,
                            .compute_s = asked_number(a, "compute"),
                            .cv = asked_number(a, "cv"),
                            .slow = asked_number(a, "slow-ratio"),
                            .misc_s = asked_number(a, "misc"),
                            .gradient_bytes = asked_number(a, "gradient-bytes"),
                            .dist = job_dist(a) };

    job_network(a, &c.network);
    if (check(&c, err) < 0)
        return QUESTION_WRONG;
    add_synchronous(&c);
    add(&c, synchronous_ratio(&c, c.cv), server_s(&c), 1, "synchronous, parameter server");
    add_bounded(&c);
    add_local(&c);
    add_asynchronous(&c);
    qsort(c.list, c.n, sizeof(*c.list), by_time);
    answer_title(answer, "%.0f ranks, ways to train ranked by the time to the target", c.network.ranks);
    answer_word(answer, "best", c.list[0].name, "of those whose iterations are known");
    answer_figure(answer, "best_time_s", time_s(&c.list[0]), ANSWER_SECONDS,
                  "for what one synchronous step achieves");
    answer_figure(answer, "synchronous_time_s", time_s(best_synchronous(&c)), ANSWER_SECONDS,
                  "by the best synchronous way");
    say_table(&c, answer);
    say_why(&c, answer);
    answer_source(
        answer,
        "collective, straggler, localsgd; bounded staleness simulated (seed %.0f); asynchronous: sum of "
        "the ranks' own rates, or the servers'",
        asked_number(a, "seed"));
    answer_assumes(
        answer, "noise is independent from rank to rank and step to step, bounded staleness and local steps "
                "use the cheapest collective, iterations grow only as given");
    return QUESTION_DONE;
}

const struct question question_compare = {
    .name = "compare",
    .operands = "",
    .text = "ways to run one job on one cluster, ranked by the time to the target",
    .more = "Synchronous by each collective, by a parameter server, with bounded staleness, local steps, "
            "asynchronous. "
            "What saves time in a step may need more iterations: how many is an input, and without it a "
            "strategy is "
            "listed behind the others with the growth below which it would pay.",
    .uses = uses,
    .run = run,
};
