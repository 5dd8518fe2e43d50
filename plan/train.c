/* sgplan train: a training run end to end. */
#include "model/train.h"

#include <math.h>

#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/questions.h"

static const struct option_use uses[] = { JOB_NETWORK_USES, JOB_TRAIN_USES, { NULL, NULL } };

static void say_terms(const struct train_result *r, struct answer *answer)
{
    static const struct answer_column columns[] = { { "term", "TERM", ANSWER_WORDS },
                                                    { "share", "OF THE TIME", ANSWER_SHARE } };

    answer_table(answer, "terms", "Where the time goes:", columns, 2);
    for (int i = 0; i < TRAIN_TERMS; i++) {
        answer_cell_words(answer, "%s", train_term_name((enum train_term)i));
        answer_cell(answer, r->share[i]);
    }
}

static void say_wall(const struct train *t, const struct train_result *r, struct answer *answer)
{
    enum train_term next;
    double wall = train_next_wall(t, OPTIONS_RANKS_MAX / 10, &next);

    answer_word(answer, "regime", train_term_name(r->regime), "takes most of the time");
    if (wall == 0) {
        answer_word(answer, "next_regime", NULL, "no other term overtakes it up to %g ranks",
                    OPTIONS_RANKS_MAX / 10);
        return;
    }
    answer_word(answer, "next_regime", train_term_name(next), "overtakes it");
    answer_figure(answer, "next_regime_ranks", wall, ANSWER_COUNT, "ranks, from where on");
}

static enum question_result run(const struct options *a, struct answer *answer, struct err *err)
{
    struct train_result r;
    struct train t;

    if (job_train(a, &t, err) < 0)
        return QUESTION_WRONG;
    train_predict(&t, &r);
    answer_title(answer, "Training on %.0f ranks", t.ranks);
    answer_figure(answer, "hours", r.hours, ANSWER_HOURS, "to the target%s",
                  isnan(r.hours) ? ": needs --batch-per-rank, --min-steps, --critical-batch" : "");
    answer_figure(answer, "iteration_s", r.iteration_s, ANSWER_SECONDS, "a step");
    answer_figure(answer, "steps", r.steps, ANSWER_COUNT, "to the target");
    answer_figure(answer, "goodput", r.goodput, ANSWER_SHARE, "of the time there is work that stays");
    answer_figure(answer, "amplification", r.amplification, ANSWER_TIMES,
                  "the slowest rank's work over the mean");
    answer_figure(answer, "comm_s", r.comm_s, ANSWER_SECONDS, "the exchange of a step");
    answer_figure(answer, "exposed_comm_s", r.exposed_s, ANSWER_SECONDS, "of it that nothing hides");
    answer_figure(answer, "samples_per_s", t.ranks * t.batch_per_rank / r.iteration_s * r.goodput,
                  ANSWER_NUMBER, "failures included");
    answer_figure(answer, "mtbf_s", r.mtbf_s, ANSWER_SECONDS, "between two failures of the job");
    answer_figure(answer, "interval_s", r.interval_s, ANSWER_SECONDS, "between two checkpoints, by Young");
    say_wall(&t, &r, answer);
    say_terms(&r, answer);
    answer_source(
        answer, "S_min (1 + B_c/B) steps (McCandlish et al. 2018) of Tc A(N) + exposed exchange + misc, over "
                "the goodput at Young's interval (exact)");
    answer_assumes(
        answer, "each rank keeps its batch as ranks are added; noise is independent from rank to rank; the "
                "exchange is one, not shared with other jobs");
    return QUESTION_DONE;
}

const struct question question_train = {
    .command.name = "train",
    .command.operands = "",
    .command.text = "hours to the target, the regime, and the next wall",
    .command.more = "The critical batch and the fewest steps are measured for a model and its data; without them the "
            "answer is about iterations alone.",
    .command.uses = uses,
    .run = run,
};
