/* sgplan staleness: the learning rate that old gradients allow, and the time that bounded staleness saves. */
#include "model/staleness.h"

#include <math.h>

#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"
#include "plan/work_sampler.h"

#define SAMPLES_MAX 4e8 /* takes about ten seconds */

enum { TAU, MOMENTUM, BOUND, SLOW_RATIO };

static const struct option_spec own[] = {
    [TAU] = { "tau", "STEPS", VALUE_RANGE(VALUE_COUNT, 0, 1e6), "age of the gradients" },
    [MOMENTUM] = { "momentum", "BETA", VALUE_RANGE(VALUE_RATIO, 0, 0.999999),
                   "momentum of the optimiser (heavy ball)" },
    [BOUND] = { "bound", "S", VALUE_RANGE(VALUE_COUNT, 0, 10000),
                "steps that a rank may be ahead of the slowest: simulate the gain" },
    [SLOW_RATIO] = { "slow-ratio", "R", VALUE_RANGE(VALUE_NUMBER, 1, 1e6),
                     "with --bound: factor by which one rank always takes longer" },
};

static const struct option_use uses[] = {
    { &own[TAU], NULL },       { &own[MOMENTUM], "0" },
    { &own[BOUND], NULL },     { &option_ranks, NULL },
    { &option_cv, NULL },      { &option_dist, "lognormal" },
    { &own[SLOW_RATIO], "1" }, { &option_steps, "2000" },
    { &option_seed, "1" },     { NULL, NULL },
};

static int put_gain(const struct options *a, struct answer *answer, struct err *err)
{
    double n = options_number(a, "ranks"), cv = options_number(a, "cv"), steps = options_number(a, "steps");
    size_t s = (size_t)options_number(a, "bound");
    struct work_sampler d = { .dist = job_dist(a), .cv = cv, .slow_ratio = options_number(a, "slow-ratio") };
    double with, without;

    if (isnan(n) || isnan(cv))
        return err_set(err, "--bound needs --ranks=N and --cv=RATIO");
    if (10 * (double)s > steps)
        return err_set(err,
                       "--steps=%.0f is too small for --bound=%zu: at least ten times the bound is needed",
                       steps, s);
    if (n * steps > SAMPLES_MAX)
        return err_set(err, "--ranks times --steps is more than %g: use fewer --steps", SAMPLES_MAX);
    d.state = (uint64_t)options_number(a, "seed");
    with = work_sampler_step_ratio(&d, (size_t)n, s, (size_t)steps);
    d.state = (uint64_t)options_number(a, "seed");
    without = work_sampler_step_ratio(&d, (size_t)n, 0, (size_t)steps);
    answer_figure(answer, "step_ratio", with, ANSWER_TIMES, "a step over one rank's mean work");
    answer_figure(answer, "synchronous_ratio", without, ANSWER_TIMES, "the same with a bound of 0");
    answer_figure(answer, "gain", without / with, ANSWER_TIMES, "steps are this much faster with the bound");
    if (d.slow_ratio > 1)
        answer_note(
            answer,
            "A rank that is always slow determines the step whatever the bound: replace it or give it less "
            "work.");
    answer_note(answer, "Faster steps pay only if iterations grow by less than the gain; that growth must be "
                        "measured.");
    return 0;
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double age = options_number(a, "tau"), s = options_number(a, "bound"),
           beta = options_number(a, "momentum");

    if (isnan(age) && isnan(s))
        return err_set(err,
                       "missing --tau=STEPS, for the limit of the learning rate, or --bound=S, for the gain");
    if (isnan(s))
        answer_title(answer, "Gradients that are %g steps old", age);
    else
        answer_title(answer, "Ranks that may be up to %g steps ahead of the slowest", s);
    if (!isnan(age)) {
        double limit = staleness_limit(age, beta);

        answer_figure(answer, "lr_lambda_limit", limit, ANSWER_NUMBER,
                      "upper limit of learning rate times curvature");
        answer_figure(answer, "limit_ratio", limit / staleness_limit(0, beta), ANSWER_SHARE,
                      "of the limit with fresh gradients");
        if (beta > 0)
            answer_figure(answer, "limit_without_momentum", staleness_limit(age, 0), ANSWER_NUMBER,
                          "the limit without momentum");
    }
    if (!isnan(s) && put_gain(a, answer, err) < 0)
        return -1;
    answer_source(
        answer,
        "limit: 2 sin(pi / (2 (2 tau + 1))), with momentum where a root of r^(tau+1) - (1+b) r^tau + b "
        "r^(tau-1) + al reaches the unit circle; gain: simulated, stale synchronous parallel (Ho et al. "
        "2013)");
    answer_assumes(
        answer,
        "a quadratic objective, the same delay for all gradients, and independent noise of the ranks");
    return 0;
}

const struct question question_staleness = {
    .command.name = "staleness",
    .command.operands = "",
    .command.text = "learning rate that stale gradients allow, and time that they save",
    .command.more =
        "--tau computes the largest stable learning rate, --bound simulates the time that bounded staleness "
        "saves. Both may be given.",
    .command.uses = uses,
    .run = run,
};
