/* sgplan speedup: strong scaling, where it stops paying and where it ends. */
#include <math.h>

#include "model/step.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/questions.h"

static const struct question_use uses[] = {
    { &option_compute, QUESTION_REQUIRED },
    { &option_comm, QUESTION_REQUIRED },
    { &option_ranks, NULL },
    { NULL, NULL },
};

static enum question_result run(const struct asked *a, struct answer *answer, struct err *err)
{
    double compute_s = asked_number(a, "compute"), comm_s = asked_number(a, "comm"),
           n = asked_number(a, "ranks");
    double balance = step_ranks_at_balance(compute_s, comm_s);

    (void)err;
    answer_title(answer, "The same problem on more ranks: work is divided, communication is not");
    if (!isnan(n)) {
        answer_figure(answer, "speedup", step_speedup(compute_s, comm_s, n), ANSWER_TIMES, "on %.0f ranks",
                      n);
        answer_figure(answer, "efficiency", step_speedup(compute_s, comm_s, n) / n, ANSWER_SHARE,
                      "of %.0f ranks is used", n);
        answer_figure(answer, "step_s", compute_s / n + comm_s, ANSWER_SECONDS, "a step then");
    }
    answer_figure(answer, "ranks_at_balance", balance, ANSWER_NUMBER,
                  "ranks: work and communication equally long");
    answer_figure(answer, "speedup_at_balance",
                  isinf(balance) ? INFINITY : step_speedup(compute_s, comm_s, balance), ANSWER_TIMES,
                  "there");
    answer_figure(answer, "speedup_max", step_speedup_max(compute_s, comm_s), ANSWER_TIMES,
                  "however many ranks");
    answer_source(answer, "Amdahl 1967: T(n) = Tc/n + Tm, T(1) = Tc + Tm");
    answer_assumes(answer,
                   "communication takes the same on any number of ranks (see collective), all ranks take "
                   "equally long (see straggler)");
    return QUESTION_DONE;
}

const struct question question_speedup = {
    .name = "speedup",
    .operands = "",
    .text = "strong scaling: speed-up, where it stops paying, its ceiling",
    .more = "--compute and --comm are those of one step before the work is divided.",
    .uses = uses,
    .run = run,
};
