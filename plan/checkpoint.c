/* sgplan checkpoint: how often to write checkpoints. */
#include <math.h>

#include "model/cadence.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/question.h"

enum { WRITE_TIME, MTBF, INTERVAL, TIME_LIMIT, GRACE, STEP };

static const struct option_spec own[] = {
    [WRITE_TIME] = { "write", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                     "how long writing a checkpoint stops the job" },
    [MTBF] = { "mtbf", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
               "mean time between failures of the whole job (see mtbf)" },
    [INTERVAL] = { "interval", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                   "work between two checkpoints: evaluate this interval, too" },
    [TIME_LIMIT] = { "time-limit", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                     "the job's time limit: the last checkpoint must be complete by then" },
    [GRACE] = { "grace", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
                "time from the notice of a preemption to the end of the job" },
    [STEP] = { "step", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
               "duration of a training step: checkpoints are written between steps" },
};

static const struct option_use uses[] = {
    { &own[WRITE_TIME], OPTION_REQUIRED },
    { &own[MTBF], OPTION_REQUIRED },
    { &option_restart, "0s" },
    { &own[INTERVAL], NULL },
    { &own[TIME_LIMIT], NULL },
    { &own[GRACE], NULL },
    { &own[STEP], NULL },
    { NULL, NULL },
};

struct bounds {
    double write_s, limit_s, grace_s, step_s; /* NaN: none */
};

/* The best interval within the bounds, and what limits it. */
static double bound(double best_s, const struct bounds *b, const char **by)
{
    double most_s = isnan(b->limit_s) ? INFINITY : b->limit_s - b->write_s, interval_s = best_s;

    *by = "the optimum";
    if (!isnan(b->step_s)) {
        if (interval_s < b->step_s)
            *by = "the step";
        interval_s = fmax(b->step_s, b->step_s * round(interval_s / b->step_s));
    }
    if (interval_s > most_s) {
        *by = "the time limit";
        interval_s = isnan(b->step_s) ? most_s : fmax(b->step_s, b->step_s * floor(most_s / b->step_s));
    }
    return interval_s;
}

static int put_bounds(const struct bounds *b, double best_s, struct answer *answer, struct err *err)
{
    double wait_s = isnan(b->step_s) ? 0 : b->step_s;
    const char *by;
    double interval_s = bound(best_s, b, &by);

    if (b->limit_s <= b->write_s + wait_s)
        return err_set(err, "--time-limit leaves no time for one checkpoint of --write%s",
                       wait_s > 0 ? " after one --step" : "");
    answer_figure(answer, "interval_s", interval_s, ANSWER_SECONDS,
                  "recommended work between two checkpoints, set by %s", by);
    answer_word(answer, "bound_by", by, "determines the interval");
    if (!isnan(b->step_s))
        answer_figure(answer, "interval_steps", round(interval_s / b->step_s), ANSWER_COUNT,
                      "steps between two checkpoints");
    if (!isnan(b->limit_s))
        answer_figure(answer, "last_start_s", b->limit_s - b->write_s - wait_s, ANSWER_SECONDS,
                      "latest time after the job's start to request the last checkpoint");
    if (isnan(b->grace_s))
        return 0;
    answer_figure(answer, "fits_grace", b->write_s + wait_s <= b->grace_s, ANSWER_FLAG,
                  "whether a checkpoint requested at the notice completes within --grace");
    if (b->write_s + wait_s > b->grace_s)
        answer_note(
            answer,
            "The notice of a preemption is too short for a checkpoint, so a preemption costs as much as a "
            "failure: include preemptions in --mtbf.");
    return 0;
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double c = options_number(a, "write"), m = options_number(a, "mtbf"), r = options_number(a, "restart");
    double best = cadence_optimal_s(c, m), given = options_number(a, "interval");
    struct bounds b = { c, options_number(a, "time-limit"), options_number(a, "grace"),
                        options_number(a, "step") };

    answer_title(answer, "Work between two checkpoints");
    answer_figure(answer, "optimal_s", best, ANSWER_SECONDS, "exact optimum for exponential failures");
    answer_figure(answer, "daly_s", cadence_daly_s(c, m), ANSWER_SECONDS, "Daly's approximation");
    answer_figure(answer, "young_s", cadence_young_s(c, m), ANSWER_SECONDS, "Young's approximation");
    answer_figure(answer, "overhead", cadence_overhead(best, c, r, m), ANSWER_SHARE,
                  "additional time at the optimum, including lost work and restarts");
    answer_figure(answer, "goodput", cadence_goodput(best, c, r, m), ANSWER_SHARE,
                  "share of the time spent on work that is kept");
    if (!isnan(given)) {
        answer_figure(answer, "interval_overhead", cadence_overhead(given, c, r, m), ANSWER_SHARE,
                      "additional time with --interval");
        answer_figure(answer, "interval_goodput", cadence_goodput(given, c, r, m), ANSWER_SHARE,
                      "goodput with --interval");
    }
    if (put_bounds(&b, best, answer, err) < 0)
        return -1;
    if (c >= m)
        answer_note(
            answer,
            "Writing a checkpoint takes longer than the mean time between failures: the job makes hardly any "
            "progress.");
    answer_source(
        answer,
        "Young 1974; Daly 2006; exact: M (1 + W0(-e^(-1-C/M))), E[T] = M e^(R/M) (e^((tau+C)/M) - 1)");
    answer_assumes(answer,
                   "failures are exponential with a known mean and may occur during checkpoints but not "
                   "during restarts; the job stands still while a checkpoint is written");
    return 0;
}

const struct question question_checkpoint = {
    .command.name = "checkpoint",
    .command.operands = "",
    .command.text = "how often to write a checkpoint, and what failures cost",
    .command.more =
        "--time-limit and --step limit the interval; with --grace the answer states whether a checkpoint "
        "fits into the notice of a preemption.",
    .command.uses = uses,
    .run = run,
};
