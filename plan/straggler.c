/* sgplan straggler: what waiting for the slowest costs. */
#include <math.h>

#include "model/order.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/questions.h"

enum { P_SLOW, SLOW_RATIO, DROP, EVERY };

static const struct question_option own[] = {
    [P_SLOW] = { "p-slow", "P", QUESTION_RATIO, 0, 1, NULL,
                 "probability that a given rank is slow in a step" },
    [SLOW_RATIO] = { "slow-ratio", "R", QUESTION_NUMBER, 1, 1e6, NULL,
                     "one rank always takes so many times as long" },
    [DROP] = { "drop", "K", QUESTION_COUNT, 0, OPTIONS_RANKS_MAX, NULL,
               "slowest ranks that are not waited for" },
    [EVERY] = { "barrier-every", "K", QUESTION_COUNT, 1, 1e6, NULL, "steps between two barriers" },
};

static const struct question_use uses[] = {
    { &option_ranks, QUESTION_REQUIRED },
    { &option_cv, NULL },
    { &option_dist, "normal" },
    { &own[DROP], "0" },
    { &own[EVERY], "1" },
    { &own[P_SLOW], NULL },
    { &own[SLOW_RATIO], NULL },
    { NULL, NULL },
};

static void say_noise(const struct asked *a, double n, double dropped, struct answer *answer)
{
    double cv = asked_number(a, "cv"), k = asked_number(a, "barrier-every");
    double amplification = order_amplification(job_dist(a), n, dropped, cv);

    answer_figure(answer, "z", order_z(n, dropped), ANSWER_NUMBER,
                  dropped > 0 ? "standard deviations: the slowest that is waited for, normal ranks"
                              : "standard deviations: the slowest of %.0f normal ranks",
                  n);
    if (isnan(cv))
        return;
    answer_figure(answer, "amplification", amplification, ANSWER_TIMES, "a step over one rank's mean work");
    answer_figure(answer, "waiting_share", 1 - 1 / amplification, ANSWER_SHARE,
                  "of the ranks' time is waiting");
    if (k > 1)
        answer_figure(answer, "amplification_every", order_amplification_every(n, cv, k), ANSWER_TIMES,
                      "with a barrier every %.0f steps only, if the noise is independent", k);
}

static void say_slow(const struct asked *a, double n, double ratio, struct answer *answer)
{
    double balanced = order_rebalanced(n, ratio), cv = asked_number(a, "cv");

    answer_figure(answer, "persistent_slowdown", ratio, ANSWER_TIMES, "whatever the bound on staleness");
    if (!isnan(cv))
        answer_figure(answer, "slow_amplification", order_amplification_slow(job_dist(a), n, cv, ratio),
                      ANSWER_TIMES, "a step over one rank's mean work, with it and the noise");
    answer_figure(answer, "rebalanced_slowdown", balanced, ANSWER_TIMES, "if work is shared out by speed");
    answer_figure(answer, "rebalance_gain", ratio / balanced, ANSWER_TIMES, "faster by that");
}

static enum question_result run(const struct asked *a, struct answer *answer, struct err *err)
{
    double n = asked_number(a, "ranks"), dropped = asked_number(a, "drop"), p = asked_number(a, "p-slow");
    double ratio = asked_number(a, "slow-ratio");

    if (dropped >= n) {
        err_set(err, "--drop=%.0f leaves nobody of --ranks=%.0f", dropped, n);
        return QUESTION_WRONG;
    }
    answer_title(answer, "%.0f ranks that wait for the slowest%s", n, dropped > 0 ? " but a few" : "");
    say_noise(a, n, dropped, answer);
    if (!isnan(p))
        answer_figure(answer, "p_any_slow", order_any(n, p), ANSWER_SHARE,
                      "of the steps have at least one slow rank");
    if (!isnan(p) && !isnan(ratio))
        answer_figure(answer, "expected_slowdown", 1 + (ratio - 1) * order_any(n, p), ANSWER_TIMES,
                      "if a slow rank is slow by %g then", ratio);
    if (!isnan(ratio))
        say_slow(a, n, ratio, answer);
    answer_source(answer,
                  "order statistics by quadrature (David & Nagaraja 2003); 1 - (1-p)^N; lognormal: sigma^2 = "
                  "ln(1 + cv^2)");
    answer_assumes(answer,
                   "ranks are independent (what ranks of a node or switch have in common does not average "
                   "out), --cv is of one rank's own work, never of the step, which is already a maximum");
    return QUESTION_DONE;
}

const struct question question_straggler = {
    .name = "straggler",
    .operands = "",
    .text = "what waiting for the slowest rank costs, by noise or by a bad node",
    .more =
        "--cv is the noise of each rank from step to step. --p-slow is how likely a rank is slow in a step, "
        "--slow-ratio one rank that always is.",
    .uses = uses,
    .run = run,
};
