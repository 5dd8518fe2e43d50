/* sgplan compare: ways to run one job on the ranks it has, described or measured, ranked by the time to the
 * target. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "model/order.h"
#include "model/strategy.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"
#include "plan/running.h"
#include "plan/work_sampler.h"
#include "report/report_strategies.h"
#include "view/scaling.h"
#include "wire/json.h"

#define RANKS_MAX   1e6
#define SAMPLES     4e6 /* simulated steps times ranks, within the limits of steps below */
#define STEPS_LEAST 24
#define STEPS_MOST  2000

enum {
    RANKS,
    SHARDS,
    EVERY,
    STALENESS_PENALTY,
    LOCAL_PENALTY,
    ASYNC_GROWTH,
    ITERATIONS,
    SLOW_RATIO,
    ALGORITHM
};

static const struct option_spec own[] = {
    [RANKS] = { "ranks", "N", VALUE_RANGE(VALUE_COUNT, 1, RANKS_MAX), "ranks that take part" },
    [SHARDS] = { "shards", "S", VALUE_RANGE(VALUE_COUNT, 1, 1e6),
                 "parameter servers that share the gradients (default: 1; for a measured job one per node)" },
    [EVERY] = { "every", "K", VALUE_RANGE(VALUE_COUNT, 1, 1000),
                "local steps between exchanges; with --local-penalty the best number is computed instead" },
    [STALENESS_PENALTY] = { "staleness-penalty", "C", VALUE_RANGE(VALUE_RATIO, 0, 1e6),
                            "iterations grow as 1 + C s with staleness s; must be measured" },
    [LOCAL_PENALTY] = { "local-penalty", "C", VALUE_RANGE(VALUE_RATIO, 0, 1e6),
                        "iterations grow as 1 + C K with K local steps; must be measured" },
    [ASYNC_GROWTH] = { "async-growth", "I", VALUE_RANGE(VALUE_NUMBER, VALUE_POSITIVE, 1e6),
                       "factor by which asynchronous training needs more iterations; must be measured" },
    [ITERATIONS] = { "iterations", "N", VALUE_RANGE(VALUE_COUNT, 1, 1e15),
                     "synchronous steps to the target: print hours, too" },
    [SLOW_RATIO] = { "slow-ratio", "R", VALUE_RANGE(VALUE_NUMBER, 1, 1e6),
                     "factor by which one rank always takes longer" },
    [ALGORITHM] = { "algorithm", "NAME",
                    VALUE_ONE_OF(
                        VALUE_WORDS("ring", "halving-doubling", "two-level", "tree", "quickest", "unknown")),
                    "all-reduce algorithm that a measured job uses now" },
};

/* The options that describe a job are required unless --trace or --job names a measured one. */
static const struct option_use uses[] = {
    { &running_trace, NULL },
    { &running_job, NULL },
    { &own[ALGORITHM], "unknown" },
    { &option_conf, NULL },
    { &option_controller, NULL },
    { &option_munge_socket, NULL },
    { &own[RANKS], NULL },
    { &option_ranks_per_node, NULL },
    { &option_rails, "1" },
    { &option_latency, NULL },
    { &option_bandwidth, NULL },
    { &option_intra_latency, NULL },
    { &option_intra_bandwidth, NULL },
    { &option_compute, NULL },
    { &option_cv, NULL },
    { &option_dist, "lognormal" },
    { &option_gradient_bytes, NULL },
    { &option_backward, NULL },
    { &option_overlap, "0" },
    { &option_misc, "0s" },
    { &own[SLOW_RATIO], "1" },
    { &own[SHARDS], NULL },
    { &own[EVERY], "8" },
    { &own[STALENESS_PENALTY], NULL },
    { &own[LOCAL_PENALTY], NULL },
    { &own[ASYNC_GROWTH], NULL },
    { &own[ITERATIONS], NULL },
    { &option_seed, "1" },
    { NULL, NULL },
};

static const struct option_spec *const describing[] = { &own[RANKS],       &option_latency,
                                                        &option_bandwidth, &option_compute,
                                                        &option_cv,        &option_gradient_bytes };

/* ---- a job that is described ---- */

struct described {
    struct work_sampler sampler;
    uint64_t seed;
    double compute_s;
    uint32_t ranks;
};

static void sample_step(void *arg, size_t step, double *own_s)
{
    struct described *d = arg;

    work_sampler_begin(&d->sampler, d->seed, step);
    for (uint32_t i = 0; i < d->ranks; i++)
        own_s[i] = d->compute_s * work_sampler_next(&d->sampler, i, step);
}

/* The step in which every rank waits for all others is computed exactly; how much less the ranks wait with
 * other strategies is sampled. */
static void rank_described(const struct options *a, const struct collective *network, struct strategies *out)
{
    double n = network->ranks, cv = options_number(a, "cv"), slow = options_number(a, "slow-ratio"),
           compute_s = options_number(a, "compute"), shards = options_number(a, "shards");
    struct described d = { .sampler = { .dist = job_dist(a), .cv = cv, .slow_ratio = slow },
                           .seed = (uint64_t)options_number(a, "seed"),
                           .compute_s = compute_s,
                           .ranks = (uint32_t)n };
    struct traffic_link link = { .op = COLLECTIVE_ALLREDUCE,
                                 .ranks = n,
                                 .grows = true,
                                 .per_step = 1,
                                 .bytes = options_number(a, "gradient-bytes"),
                                 .time_s = NAN };
    struct strategy_input in = {
        .ranks = { .ranks = d.ranks,
                   .steps = (size_t)fmin(STEPS_MOST, fmax(STEPS_LEAST, SAMPLES / n)),
                   .other_s = options_number(a, "misc"),
                   .work = sample_step,
                   .arg = &d },
        .ranks_per_node = network->ranks_per_node,
        .step_s = NAN,
        .compute_s = compute_s,
        .waiting_s = compute_s * (order_amplification_slow(job_dist(a), n, cv, slow) - 1),
        .overlap = options_number(a, "overlap"),
        .backward_s = options_number(a, "backward"),
        .link = &link,
        .n_links = 1,
        .network = network,
        .shards = isnan(shards) ? 1 : shards,
        .every = options_number(a, "every"),
        .shards_assumed = isnan(shards),
        .every_assumed = !options_given(a, "every"),
        .staleness_penalty = options_number(a, "staleness-penalty"),
        .local_penalty = options_number(a, "local-penalty"),
        .async_growth = options_number(a, "async-growth"),
    };
    double *scratch = xcalloc(WAITING_SCRATCH * (size_t)d.ranks, sizeof(*scratch));

    d.sampler.steps = in.ranks.steps;
    strategy_rank(&in, scratch, out); /* cannot fail: a described job has every input */
    free(scratch);
}

/* ---- the answer ---- */

static const struct answer_column columns[] = {
    { "strategy", "STRATEGY", ANSWER_WORDS },
    { "step_s", "STEP", ANSWER_SECONDS },
    { "throughput_ratio", "SPEED", ANSWER_TIMES },
    { "throughput_low_ratio", "FROM", ANSWER_TIMES },
    { "throughput_high_ratio", "TO", ANSWER_TIMES },
    { "work_share", "WORK", ANSWER_SHARE },
    { "waiting_share", "WAIT", ANSWER_SHARE },
    { "exchange_share", "EXCHANGE", ANSWER_SHARE },
    { "iterations_ratio", "ITERATIONS", ANSWER_TIMES },
    { "time_s", "TIME", ANSWER_SECONDS },
    { "pays_below_ratio", NULL, ANSWER_TIMES },
    { "reason", NULL, ANSWER_WORDS },
    { "assumes", NULL, ANSWER_WORDS },
    { "hours", "TO THE TARGET", ANSWER_HOURS }, /* where iterations are given */
};

static void put_strategies(const struct options *a, struct answer *answer, const struct report_strategies *r)
{
    double same_s = NAN, iterations = options_number(a, "iterations"), slow = options_number(a, "slow-ratio");
    bool per_sample = false;

    for (size_t i = r->n; i--;)
        same_s = r->list[i].growth == 1 ? r->list[i].time_s : same_s; /* the first, so the fastest */
    answer_word(answer, "best", r->list[0].name, "fastest strategy whose iterations are known");
    answer_figure(answer, "best_time_s", r->list[0].time_s, ANSWER_SECONDS,
                  "for the progress of one synchronous step");
    answer_figure(answer, "synchronous_time_s", same_s, ANSWER_SECONDS, "with the best synchronous strategy");
    if (r->ranks >= 0)
        answer_figure(answer, "now_s", r->step_s, ANSWER_SECONDS, "measured step");
    answer_table(answer, "strategies",
                 "SPEED: samples per second over now (nominal range: 90 %); TIME: for the progress of one "
                 "synchronous step:",
                 columns, ARRAY_SIZE(columns) - (isnan(iterations) ? 1 : 0));
    for (const struct report_strategy *s = r->list; s < r->list + r->n; s++) {
        /* growth of iterations below which the strategy pays; NaN where the growth is known */
        double pays = s->per_sample ? same_s / s->step_s.p50 : NAN;
        char words[64] = "";

        answer_cell_words(answer, "%s", s->name);
        answer_cells(answer, s->step_s.p50, s->ratio.p50, s->ratio.p5, s->ratio.p95, s->shares.work,
                     s->shares.waiting, s->shares.exchange, s->growth, s->time_s, pays);
        answer_cell_words(answer, "%s", s->reason);
        answer_cell_words(answer, "%s", s->assumes[0] ? s->assumes : "-");
        if (!isnan(iterations))
            answer_cell(answer, s->time_s * iterations / 3600);
        if (!isnan(pays))
            snprintf(words, sizeof(words), "; pays if iterations grow by a factor below %.3g", pays);
        answer_note(answer, "%s: %s%s%s%s.", s->name, s->reason, words,
                    s->assumes[0] ? "; assuming that " : "", s->assumes);
        per_sample |= s->per_sample;
    }
    if (slow > 1 && options_given(a, "ranks"))
        answer_note(answer,
                    "A rank that is always slow holds back every strategy but asynchronous training, "
                    "whatever the staleness bound: dividing the work by speed makes steps %.3gx faster.",
                    slow / order_rebalanced(options_number(a, "ranks"), slow));
    answer_note(
        answer,
        "FROM to TO is computed to contain the result in 90 %% of cases. In simulated jobs it did so less "
        "often for asynchronous training, and least often for a slow rank that is replaced "
        "(doc/decisions/0022).");
    if (per_sample)
        answer_note(answer,
                    "A strategy whose growth of iterations is not given is not ranked, and its time is per "
                    "sample. Measure the growth and give it as --staleness-penalty, --local-penalty or "
                    "--async-growth.");
}

static int compare_measured(const struct options *a, struct report_strategies *r, struct answer *answer,
                            struct err *err)
{
    const struct view_strategy_options asked = {
        .algorithm = traffic_algorithm_find(options_text(a, "algorithm")),
        .shards = options_number(a, "shards"),
        .every = options_given(a, "every") ? options_number(a, "every") : NAN,
        .staleness_penalty = options_number(a, "staleness-penalty"),
        .local_penalty = options_number(a, "local-penalty"),
        .async_growth = options_number(a, "async-growth"),
    };
    const char *path = options_text(a, "trace");
    struct trace_reader *reader = NULL;
    json_t *o = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(describing); i++)
        if (options_given(a, describing[i]->name) || (path && options_text(a, "job")))
            return err_set(err, "--trace=FILE, --job=ID and a description of the job exclude one another");
    if (path)
        reader = running_read(path, err);
    else
        o = running_ask(a, report_strategy_question(&asked), "strategies", err);
    if (reader)
        report_strategies_get(r, trace_reader_view(reader), &asked);
    else if (o)
        report_strategies_read(r, o);
    else
        return QUESTION_FAILED;
    trace_reader_free(reader);
    json_decref(o);
    if (r->n == 0) {
        err_set(err, "cannot compare strategies: %s", r->missing[0] ? r->missing : "-");
        return QUESTION_FAILED;
    }
    answer_title(answer, "A job of %.0f ranks with a step of %s, and other ways to run it", (double)r->ranks,
                 text_s(r->step_s).s);
    put_strategies(a, answer, r);
    answer_source(
        answer,
        "the ranks' own work in the newest %.0f steps, replayed (lib/model/waiting.h); collectives at "
        "the fitted cost of their messages (lib/model/strategy.h)",
        (double)r->steps);
    running_put_assumes(answer, r->assumes, r->n_assumes);
    return 0;
}

static int compare_described(const struct options *a, struct report_strategies *r, struct answer *answer,
                             struct err *err)
{
    struct strategies *s;
    struct collective network;

    for (size_t i = 0; i < ARRAY_SIZE(describing); i++)
        if (!options_given(a, describing[i]->name))
            return err_set(
                err, "`sgplan compare` needs --%s=%s: %s; or --trace=FILE or --job=ID of a measured job",
                describing[i]->name, describing[i]->value, describing[i]->text);
    job_network(a, &network);
    if (network.ranks < 2)
        return err_set(err, "--ranks=1: a comparison needs at least 2 ranks");
    if (job_overlap_check(a, err) < 0)
        return -1;
    s = xcalloc(1, sizeof(*s));
    rank_described(a, &network, s);
    report_strategies_put(r, s);
    free(s);
    answer_title(answer, "Ways to train on %.0f ranks, ranked by the time to the target", network.ranks);
    put_strategies(a, answer, r);
    answer_source(
        answer,
        "collective, straggler; bounded staleness and local steps replayed (lib/model/waiting.h, seed %.0f); "
        "asynchronous: sum of the ranks' own rates, or the servers'",
        options_number(a, "seed"));
    answer_assumes(
        answer,
        "noise is independent between ranks and between steps; with bounded staleness the exchange overlaps "
        "the work; bounded staleness and local steps use the cheapest collective; iterations grow only as "
        "given");
    return 0;
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    struct report_strategies *r = xcalloc(1, sizeof(*r));
    int rc = options_text(a, "trace") || options_text(a, "job") ? compare_measured(a, r, answer, err)
                                                                : compare_described(a, r, answer, err);

    free(r);
    return rc;
}

const struct question question_compare = {
    .command.name = "compare",
    .command.operands = "",
    .command.text = "ways to run one job, described or measured, ranked by the time to the target",
    .command.more =
        "The strategies are synchronous training with each collective or with a parameter server, bounded "
        "staleness, local steps and asynchronous training; for a measured job (--trace, --job) also "
        "replacing the slowest rank or node, fewer barriers, and another order of ranks. A strategy with "
        "shorter steps may need more iterations. How many more is an input; without it, the strategy is "
        "listed after the others, with the growth below which it would pay. Without --trace and --job, "
        "--ranks, --latency, --bandwidth, --compute, --cv and --gradient-bytes are required.",
    .command.uses = uses,
    .run = run,
};
