/* sgplan checkpoint: how often to write one. */
#include <math.h>

#include "model/cadence.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/questions.h"

enum { WRITE_TIME, MTBF, INTERVAL, TIME_LIMIT, GRACE, STEP };

static const struct option_spec own[] = {
    [WRITE_TIME] = { "write", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                     "that a checkpoint holds the job up" },
    [MTBF] = { "mtbf", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
               "mean time between failures of the whole job (see mtbf)" },
    [INTERVAL] = { "interval", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                   "of work between two: say what this one costs, too" },
    [TIME_LIMIT] = { "time-limit", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
                     "of the job: the last checkpoint must be finished then" },
    [GRACE] = { "grace", "TIME", VALUE_RANGE(VALUE_SECONDS, 0, INFINITY),
                "between a preemption's notice and its end" },
    [STEP] = { "step", "TIME", VALUE_RANGE(VALUE_SECONDS, VALUE_POSITIVE, INFINITY),
               "of training: checkpoints come between two of them" },
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

/* The best interval inside the bounds, and what binds it. */
struct bounds {
    double write_s, limit_s, grace_s, step_s; /* NaN: none */
};

static double bound(double best_s, const struct bounds *b, const char **by)
{
    double interval_s = best_s;

    *by = "the optimum";
    if (interval_s > b->limit_s - b->write_s) {
        interval_s = b->limit_s - b->write_s;
        *by = "the time limit";
    }
    if (isnan(b->step_s))
        return interval_s;
    if (interval_s < b->step_s)
        *by = "the step";
    /* whole steps; never one more than the time limit allows */
    return fmax(b->step_s, b->step_s * (interval_s < best_s ? floor(interval_s / b->step_s)
                                                            : round(interval_s / b->step_s)));
}

static int say_bounds(const struct bounds *b, double best_s, struct answer *answer, struct err *err)
{
    double wait_s = isnan(b->step_s) ? 0 : b->step_s;
    const char *by;
    double interval_s = bound(best_s, b, &by);

    if (b->limit_s <= b->write_s + wait_s)
        return err_set(err, "--time-limit leaves no room for one checkpoint of --write%s",
                       wait_s > 0 ? " after one --step" : "");
    answer_figure(answer, "interval_s", interval_s, ANSWER_SECONDS,
                  "of work between two checkpoints, set by %s", by);
    answer_word(answer, "bound_by", by, "decides that");
    if (!isnan(b->step_s))
        answer_figure(answer, "interval_steps", round(interval_s / b->step_s), ANSWER_COUNT,
                      "steps are that");
    if (!isnan(b->limit_s))
        answer_figure(answer, "last_start_s", b->limit_s - b->write_s - wait_s, ANSWER_SECONDS,
                      "after the job's start the last one must be asked for");
    if (isnan(b->grace_s))
        return 0;
    answer_flag(answer, "fits_grace", b->write_s + wait_s <= b->grace_s,
                "is a checkpoint that is asked for at the notice finished in time?");
    if (b->write_s + wait_s > b->grace_s)
        answer_note(
            answer,
            "A preemption's notice is too short for a checkpoint: preemptions cost like failures, count "
            "them in --mtbf.");
    return 0;
}

static enum question_result run(const struct options *a, struct answer *answer, struct err *err)
{
    double c = options_number(a, "write"), m = options_number(a, "mtbf"), r = options_number(a, "restart");
    double best = cadence_optimal_s(c, m), given = options_number(a, "interval");
    struct bounds b = { c, options_number(a, "time-limit"), options_number(a, "grace"),
                        options_number(a, "step") };

    answer_title(answer, "Work between two checkpoints");
    answer_figure(answer, "optimal_s", best, ANSWER_SECONDS, "exactly, for exponential failures");
    answer_figure(answer, "daly_s", cadence_daly_s(c, m), ANSWER_SECONDS, "by Daly");
    answer_figure(answer, "young_s", cadence_young_s(c, m), ANSWER_SECONDS, "by Young");
    answer_figure(answer, "overhead", cadence_overhead(best, c, r, m), ANSWER_SHARE,
                  "more time at the optimum, lost work and restarts included");
    answer_figure(answer, "goodput", cadence_goodput(best, c, r, m), ANSWER_SHARE,
                  "of the time there is work that stays");
    if (!isnan(given)) {
        answer_figure(answer, "interval_overhead", cadence_overhead(given, c, r, m), ANSWER_SHARE,
                      "more time with the given interval");
        answer_figure(answer, "interval_goodput", cadence_goodput(given, c, r, m), ANSWER_SHARE,
                      "of the time then");
    }
    if (say_bounds(&b, best, answer, err) < 0)
        return QUESTION_WRONG;
    if (c >= m)
        answer_note(
            answer,
            "A checkpoint takes longer than the job runs between two failures: hardly anything gets done.");
    answer_source(
        answer,
        "Young 1974; Daly 2006; exact: M (1 + W0(-e^(-1-C/M))), E[T] = M e^(R/M) (e^((tau+C)/M) - 1)");
    answer_assumes(answer,
                   "failures are exponential with a known mean, may strike during checkpoints but not during "
                   "restarts, and nothing runs while a checkpoint is written");
    return QUESTION_DONE;
}

const struct question question_checkpoint = {
    .command.name = "checkpoint",
    .command.operands = "",
    .command.text = "how often to write a checkpoint, and what failures cost",
    .command.more =
        "--time-limit, --grace and --step bound the interval: a checkpoint must be finished before the "
        "job is.",
    .command.uses = uses,
    .run = run,
};
