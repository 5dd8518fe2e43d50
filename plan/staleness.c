/* sgplan staleness: what old gradients allow, and what they give. */
#include "model/staleness.h"

#include <math.h>

#include "model/order.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/questions.h"
#include "plan/work_sampler.h"

#define SAMPLES_MAX 4e8 /* some ten seconds */

enum { TAU, MOMENTUM, BOUND, SLOW_RATIO };

static const struct option_spec own[] = {
    [TAU] = { "tau", "STEPS", VALUE_RANGE(VALUE_COUNT, 0, 1e6), "gradients are so many steps old" },
    [MOMENTUM] = { "momentum", "BETA", VALUE_RANGE(VALUE_RATIO, 0, 0.999999),
                   "of the optimiser (heavy ball)" },
    [BOUND] = { "bound", "S", VALUE_RANGE(VALUE_COUNT, 0, 10000),
                "a rank may be so many steps ahead of the slowest: simulate the gain" },
    [SLOW_RATIO] = { "slow-ratio", "R", VALUE_RANGE(VALUE_NUMBER, 1, 1e6),
                     "with --bound: one rank always takes so many times as long" },
};

static const struct option_use uses[] = {
    { &own[TAU], NULL },       { &own[MOMENTUM], "0" },
    { &own[BOUND], NULL },     { &option_ranks, NULL },
    { &option_cv, NULL },      { &option_dist, "lognormal" },
    { &own[SLOW_RATIO], "1" }, { &option_steps, "2000" },
    { &option_seed, "1" },     { NULL, NULL },
};

static void say_limit(double age, double beta, struct answer *answer)
{
    double limit = staleness_limit(age, beta);

    answer_figure(answer, "lr_lambda_limit", limit, ANSWER_NUMBER,
                  "learning rate times curvature must stay below");
    answer_figure(answer, "limit_ratio", limit / staleness_limit(0, beta), ANSWER_SHARE,
                  "of what fresh gradients allow");
    if (beta > 0)
        answer_figure(answer, "limit_without_momentum", staleness_limit(age, 0), ANSWER_NUMBER,
                      "for comparison");
}

static int say_gain(const struct options *a, struct answer *answer, struct err *err)
{
    double n = options_number(a, "ranks"), cv = options_number(a, "cv"), steps = options_number(a, "steps");
    size_t s = (size_t)options_number(a, "bound");
    struct work_sampler d = { .dist = job_dist(a), .cv = cv, .slow_ratio = options_number(a, "slow-ratio") };
    double with, without;

    if (isnan(n) || isnan(cv))
        return err_set(err, "--bound needs --ranks=N and --cv=RATIO: whose noise is it to smooth?");
    if (10 * (double)s > steps)
        return err_set(err, "--steps=%.0f is too short to see a bound of %zu: at least ten times as many",
                       steps, s);
    if (n * steps > SAMPLES_MAX)
        return err_set(err, "--ranks times --steps is more than %g: fewer of --steps are accepted",
                       SAMPLES_MAX);
    d.state = (uint64_t)options_number(a, "seed");
    with = work_sampler_step_ratio(&d, (size_t)n, s, (size_t)steps);
    d.state = (uint64_t)options_number(a, "seed");
    without = work_sampler_step_ratio(&d, (size_t)n, 0, (size_t)steps);
    answer_figure(answer, "step_ratio", with, ANSWER_TIMES, "a step over one rank's mean work");
    answer_figure(answer, "synchronous_ratio", without, ANSWER_TIMES,
                  "the same where every step waits for all");
    answer_figure(answer, "gain", without / with, ANSWER_TIMES, "steps are faster by that");
    if (d.slow_ratio > 1)
        answer_note(
            answer,
            "A rank that is always slow sets the pace whatever the bound: replace it or give it less.");
    answer_note(answer,
                "Faster steps pay only if iterations grow by less than that. How much they grow is to be "
                "measured.");
    return 0;
}

static enum question_result run(const struct options *a, struct answer *answer, struct err *err)
{
    double age = options_number(a, "tau"), s = options_number(a, "bound");

    if (isnan(age) && isnan(s)) {
        err_set(err, "staleness needs a bound: --tau=STEPS for the limit of the learning rate, --bound=S for "
                     "the gain");
        return QUESTION_WRONG;
    }
    if (isnan(s))
        answer_title(answer, "Gradients that are %g steps old", age);
    else
        answer_title(answer, "Ranks that may be %g steps ahead of the slowest", s);
    if (!isnan(age))
        say_limit(age, options_number(a, "momentum"), answer);
    if (!isnan(s) && say_gain(a, answer, err) < 0)
        return QUESTION_WRONG;
    answer_source(
        answer,
        "limit: 2 sin(pi / (2 (2 tau + 1))), with momentum where a root of r^(tau+1) - (1+b) r^tau + b "
        "r^(tau-1) + al reaches the unit circle; gain: simulated, stale synchronous parallel (Ho et al. "
        "2013)");
    answer_assumes(
        answer, "a quadratic objective and the same delay for all gradients; independent noise of the ranks");
    return QUESTION_DONE;
}

const struct question question_staleness = {
    .command.name = "staleness",
    .command.operands = "",
    .command.text = "what old gradients allow (learning rate) and give (shorter steps)",
    .command.more =
        "--tau asks for the largest stable learning rate, --bound for the time that a bounded staleness "
        "saves. Both may be asked at once.",
    .command.uses = uses,
    .run = run,
};
