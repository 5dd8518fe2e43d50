/* sgplan localsgd: the best number of local steps between two exchanges. */
#include <math.h>

#include "model/trade.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/question.h"

enum { PENALTY, LOCAL };

static const struct option_spec own[] = {
    [PENALTY] = { "penalty", "C", VALUE_RANGE(VALUE_RATIO, 0, 1e6),
                  "iterations grow as 1 + C K; must be measured" },
    [LOCAL] = { "local-steps", "K", VALUE_RANGE(VALUE_COUNT, 1, 1e9),
                "evaluate this number of local steps, too" },
};

static const struct option_use uses[] = {
    { &option_compute, OPTION_REQUIRED },
    { &option_comm, OPTION_REQUIRED },
    { &own[PENALTY], OPTION_REQUIRED },
    { &own[LOCAL], NULL },
    { NULL, NULL },
};

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double compute_s = options_number(a, "compute"), comm_s = options_number(a, "comm"),
           c = options_number(a, "penalty");
    double given = options_number(a, "local-steps"), best = trade_local_best_whole(compute_s, comm_s, c);
    double synchronous_s = compute_s + comm_s;
    double time_s = isinf(best) ? compute_s : trade_local_s(compute_s, comm_s, c, best);

    (void)err;
    answer_title(answer, "Local steps between two exchanges");
    answer_figure(answer, "k_continuous", trade_local_best(compute_s, comm_s, c), ANSWER_NUMBER,
                  "best number of steps between two exchanges, as a real number");
    answer_figure(answer, "k", best, ANSWER_COUNT, "best whole number of steps");
    answer_figure(answer, "time_s", time_s, ANSWER_SECONDS, "for the progress of one synchronous step");
    answer_figure(answer, "speedup", synchronous_s / time_s, ANSWER_TIMES,
                  "faster than an exchange in every step");
    answer_figure(answer, "pays", time_s < synchronous_s, ANSWER_FLAG,
                  "whether it is faster than an exchange in every step");
    if (!isnan(given)) {
        answer_figure(answer, "given_time_s", trade_local_s(compute_s, comm_s, c, given), ANSWER_SECONDS,
                      "with %.0f local steps", given);
        answer_figure(answer, "given_speedup", synchronous_s / trade_local_s(compute_s, comm_s, c, given),
                      ANSWER_TIMES, "faster than an exchange in every step");
    }
    answer_source(answer, "(1 + C K) (Tc + Tm/K) is least at K = sqrt(Tm / (C Tc))");
    answer_assumes(answer,
                   "iterations grow as 1 + C K with the given --penalty; all ranks take equally long");
    return 0;
}

const struct question question_localsgd = {
    .command.name = "localsgd",
    .command.operands = "",
    .command.text = "best number of local steps between two exchanges",
    .command.more =
        "--penalty is the growth of iterations with each local step. It must be measured with the same model "
        "and data.",
    .command.uses = uses,
    .run = run,
};
