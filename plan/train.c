/* sgplan train: duration of a training run and where its time goes. */
#include "model/train.h"

#include <math.h>

#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"

static const struct option_use uses[] = { JOB_NETWORK_USES, JOB_TRAIN_USES, { NULL, NULL } };

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    static const struct answer_column columns[] = { { "term", "TERM", ANSWER_WORDS },
                                                    { "share", "OF THE TIME", ANSWER_SHARE } };
    struct train_result r;
    enum train_term next;
    struct train t;
    double wall;

    if (job_train(a, &t, err) < 0)
        return -1;
    train_predict(&t, &r);
    answer_title(answer, "Training on %.0f ranks", t.ranks);
    answer_figure(answer, "hours", r.hours, ANSWER_HOURS, "time to the target%s",
                  isnan(r.hours) ? ": unknown without --batch-per-rank, --min-steps, --critical-batch" : "");
    answer_figure(answer, "iteration_s", r.iteration_s, ANSWER_SECONDS, "time of a step");
    answer_figure(answer, "steps", r.steps, ANSWER_COUNT, "steps to the target");
    answer_figure(answer, "goodput", r.goodput, ANSWER_SHARE, "share of the time spent on work that is kept");
    answer_figure(answer, "amplification", r.amplification, ANSWER_TIMES,
                  "work of the slowest rank over the mean");
    answer_figure(answer, "comm_s", r.comm_s, ANSWER_SECONDS, "exchange of gradients in a step");
    answer_figure(answer, "exposed_comm_s", r.exposed_s, ANSWER_SECONDS,
                  "part of the exchange that does not overlap work");
    answer_figure(answer, "samples_per_s", t.ranks * t.batch_per_rank / r.iteration_s * r.goodput,
                  ANSWER_NUMBER, "samples per second, including lost time");
    answer_figure(answer, "mtbf_s", r.mtbf_s, ANSWER_SECONDS, "mean time between failures of the job");
    answer_figure(answer, "interval_s", r.interval_s, ANSWER_SECONDS,
                  "work between two checkpoints, by Young");
    wall = train_next_wall(&t, OPTIONS_RANKS_MAX / 10, &next);
    answer_word(answer, "regime", train_terms[r.regime], "term that takes most of the time");
    if (wall == 0) {
        answer_word(answer, "next_regime", NULL, "no other term becomes the largest up to %g ranks",
                    OPTIONS_RANKS_MAX / 10);
    } else {
        answer_word(answer, "next_regime", train_terms[next], "term that becomes the largest on more ranks");
        answer_figure(answer, "next_regime_ranks", wall, ANSWER_COUNT,
                      "smallest number of ranks with that regime");
    }
    answer_table(answer, "terms", "Where the time goes:", columns, 2);
    for (int i = 0; i < TRAIN_TERMS; i++) {
        answer_cell_words(answer, "%s", train_terms[i]);
        answer_cell(answer, r.share[i]);
    }
    answer_source(
        answer, "S_min (1 + B_c/B) steps (McCandlish et al. 2018) of Tc A(N) + exposed exchange + misc, over "
                "the goodput at Young's interval (exact)");
    answer_assumes(
        answer,
        "the batch per rank stays the same on more ranks; noise is independent between ranks; there is one "
        "exchange per step, on links that other jobs do not use");
    return 0;
}

const struct question question_train = {
    .command.name = "train",
    .command.operands = "",
    .command.text = "hours to a training target, the regime, and the next regime on more ranks",
    .command.more =
        "--critical-batch and --min-steps must be measured for the model and its data; without them the "
        "answer has no time to the target.",
    .command.uses = uses,
    .run = run,
};
