/* sgplan straggler: the cost of waiting for the slowest rank. */
#include <math.h>

#include "model/last.h"
#include "model/order.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"

enum { P_SLOW, SLOW_RATIO, DROP, EVERY, NODE_CV, SWITCH_CV, PER_SWITCH };

static const struct option_spec own[] = {
    [P_SLOW] = { "p-slow", "P", VALUE_RANGE(VALUE_RATIO, 0, 1),
                 "probability that a given rank is slow in a step" },
    [SLOW_RATIO] = { "slow-ratio", "R", VALUE_RANGE(VALUE_NUMBER, 1, 1e6),
                     "factor by which one rank always takes longer" },
    [DROP] = { "drop", "K", VALUE_RANGE(VALUE_COUNT, 0, OPTIONS_RANKS_MAX),
               "number of the slowest ranks that the others do not wait for" },
    [EVERY] = { "barrier-every", "K", VALUE_RANGE(VALUE_COUNT, 1, 1e6), "steps between two barriers" },
    [NODE_CV] = { "node-cv", "RATIO", VALUE_RANGE(VALUE_RATIO, 0, 10),
                  "noise that all ranks of a node have in common" },
    [SWITCH_CV] = { "switch-cv", "RATIO", VALUE_RANGE(VALUE_RATIO, 0, 10),
                    "noise that all ranks below a switch have in common" },
    [PER_SWITCH] = { "nodes-per-switch", "N", VALUE_RANGE(VALUE_COUNT, 1, 65536), "nodes below one switch" },
};

static const struct option_use uses[] = {
    { &option_ranks, OPTION_REQUIRED },
    { &option_cv, NULL },
    { &option_dist, "normal" },
    { &own[DROP], "0" },
    { &own[EVERY], "1" },
    { &own[P_SLOW], NULL },
    { &own[SLOW_RATIO], NULL },
    { &own[NODE_CV], NULL },
    { &option_ranks_per_node, NULL },
    { &own[SWITCH_CV], NULL },
    { &own[PER_SWITCH], NULL },
    { NULL, NULL },
};

/* Ranks of a node or switch share one sample of its noise, so they are grouped before the maximum is
 * taken. */
static int put_common(const struct options *a, struct answer *answer, struct err *err)
{
    double cv = options_number(a, "cv"), node_cv = options_number(a, "node-cv"),
           switch_cv = options_number(a, "switch-cv");
    struct last l = { .ranks = options_number(a, "ranks"),
                      .ranks_per_node = options_number(a, "ranks-per-node"),
                      .nodes_per_switch = options_number(a, "nodes-per-switch"),
                      .rank_sd = cv,
                      .node_sd = isnan(node_cv) ? 0 : node_cv,
                      .switch_sd = isnan(switch_cv) ? 0 : switch_cv,
                      .lognormal = job_dist(a) == ORDER_LOGNORMAL };
    double all_cv = sqrt(cv * cv + l.node_sd * l.node_sd + l.switch_sd * l.switch_sd);

    if (isnan(node_cv) && isnan(switch_cv))
        return 0;
    if (isnan(cv) || isnan(l.ranks_per_node))
        return err_set(err, "--node-cv and --switch-cv need --cv and --ranks-per-node");
    if (!isnan(switch_cv) && isnan(l.nodes_per_switch))
        return err_set(err, "--switch-cv needs --nodes-per-switch=N");
    if (options_number(a, "drop") > 0)
        return err_set(err, "--drop cannot be combined with --node-cv or --switch-cv");
    answer_figure(answer, "grouped_amplification", 1 + last_mean(&l, NULL), ANSWER_TIMES,
                  "with the common noise of nodes and switches");
    answer_figure(answer, "ungrouped_amplification", order_amplification(job_dist(a), l.ranks, 0, all_cv),
                  ANSWER_TIMES, "if all of that noise were independent between ranks");
    return 0;
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double n = options_number(a, "ranks"), dropped = options_number(a, "drop"),
           p = options_number(a, "p-slow"), ratio = options_number(a, "slow-ratio"),
           cv = options_number(a, "cv"), every = options_number(a, "barrier-every");

    if (dropped > 0 && (every > 1 || !isnan(p) || !isnan(ratio)))
        return err_set(err, "--drop cannot be combined with --barrier-every, --p-slow or --slow-ratio");
    if (dropped >= n)
        return err_set(err, "--drop=%.0f leaves no rank of --ranks=%.0f", dropped, n);
    if (dropped > 0)
        answer_title(answer, "%.0f ranks that wait for all but the slowest %.0f", n, dropped);
    else
        answer_title(answer, "%.0f ranks that wait for the slowest", n);
    answer_figure(answer, "z", order_z(n, dropped), ANSWER_NUMBER,
                  dropped > 0 ? "standard deviations of the slowest rank that the others wait for, if normal"
                              : "standard deviations of the slowest of %.0f ranks, if normal",
                  n);
    if (!isnan(cv)) {
        double amplification = order_amplification(job_dist(a), n, dropped, cv);

        answer_figure(answer, "amplification", amplification, ANSWER_TIMES,
                      "a step over one rank's mean work");
        if (!(dropped > 0)) /* else some do not wait, and others come after the step */
            answer_figure(answer, "waiting_share", 1 - 1 / amplification, ANSWER_SHARE,
                          "share of the ranks' time spent waiting");
        if (every > 1)
            answer_figure(answer, "amplification_every", order_amplification_every(n, cv, every),
                          ANSWER_TIMES, "with a barrier only every %.0f steps, if the noise is independent",
                          every);
    }
    if (put_common(a, answer, err) < 0)
        return -1;
    if (!isnan(p))
        answer_figure(answer, "p_any_slow", order_any(n, p), ANSWER_SHARE,
                      "share of steps with at least one slow rank");
    if (!isnan(p) && !isnan(ratio))
        answer_figure(answer, "expected_slowdown", 1 + (ratio - 1) * order_any(n, p), ANSWER_TIMES,
                      "expected slowdown if a slow rank takes %g times as long", ratio);
    if (!isnan(ratio)) {
        double balanced = order_rebalanced(n, ratio);

        answer_figure(answer, "persistent_slowdown", ratio, ANSWER_TIMES,
                      "slowdown by the slow rank, whatever the bound on staleness");
        if (!isnan(cv))
            answer_figure(answer, "slow_amplification", order_amplification_slow(job_dist(a), n, cv, ratio),
                          ANSWER_TIMES, "the slow rank and the noise together");
        answer_figure(answer, "rebalanced_slowdown", balanced, ANSWER_TIMES,
                      "slowdown if the work is divided by speed");
        answer_figure(answer, "rebalance_gain", ratio / balanced, ANSWER_TIMES,
                      "faster if the work is divided by speed");
    }
    answer_source(answer,
                  "order statistics by quadrature (David & Nagaraja 2003); 1 - (1-p)^N; lognormal: sigma^2 = "
                  "ln(1 + cv^2)");
    answer_assumes(answer,
                   "ranks are independent except for --node-cv and --switch-cv; --cv is the variation of one "
                   "rank's own work, not of the step, which is already a maximum");
    return 0;
}

const struct question question_straggler = {
    .command.name = "straggler",
    .command.operands = "",
    .command.text = "cost of waiting for the slowest rank, because of noise or a slow node",
    .command.more =
        "--cv is the noise of each rank from step to step. --slow-ratio alone is for one rank that is always "
        "slow; with --p-slow, each rank is slow in a step with that probability.",
    .command.uses = uses,
    .run = run,
};
