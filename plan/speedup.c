/* sgplan speedup: strong scaling and its limit, and weak scaling. */
#include <math.h>

#include "model/order.h"
#include "model/step.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"

static const struct option_use uses[] = {
    { &option_compute, OPTION_REQUIRED },
    { &option_comm, OPTION_REQUIRED },
    { &option_ranks, NULL },
    { &option_cv, NULL },
    { &option_dist, "normal" },
    { NULL, NULL },
};

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double compute_s = options_number(a, "compute"), comm_s = options_number(a, "comm"),
           n = options_number(a, "ranks"), cv = options_number(a, "cv");
    double balance = step_ranks_at_balance(compute_s, comm_s);

    (void)err;
    answer_title(answer, "The same problem on more ranks: work is divided, communication stays");
    if (!isnan(n)) {
        answer_figure(answer, "speedup", step_speedup(compute_s, comm_s, n), ANSWER_TIMES, "on %.0f ranks",
                      n);
        answer_figure(answer, "efficiency", step_speedup(compute_s, comm_s, n) / n, ANSWER_SHARE,
                      "speed-up over %.0f ranks", n);
        answer_figure(answer, "step_s", compute_s / n + comm_s, ANSWER_SECONDS, "step on %.0f ranks", n);
    }
    /* Each rank has all of --compute, so efficiency is lost only by waiting for one another. */
    if (!isnan(n) && !isnan(cv)) {
        double step_s = compute_s * order_amplification(job_dist(a), n, 0, cv) + comm_s;

        answer_figure(answer, "weak_step_s", step_s, ANSWER_SECONDS,
                      "weak scaling: step with all of --compute on each rank, with noise");
        answer_figure(answer, "weak_efficiency", (compute_s + comm_s) / step_s, ANSWER_SHARE,
                      "weak scaling: throughput over %.0f times that of one rank", n);
    }
    answer_figure(answer, "ranks_at_balance", balance, ANSWER_NUMBER,
                  "ranks on which work and communication take equally long");
    answer_figure(answer, "speedup_at_balance",
                  isinf(balance) ? INFINITY : step_speedup(compute_s, comm_s, balance), ANSWER_TIMES,
                  "on that number of ranks");
    answer_figure(answer, "speedup_max", step_speedup_max(compute_s, comm_s), ANSWER_TIMES,
                  "on any number of ranks");
    answer_source(answer, "Amdahl 1967: T(n) = Tc/n + Tm, T(1) = Tc + Tm");
    answer_assumes(answer,
                   "communication takes the same time on any number of ranks (see collective); all ranks "
                   "take equally long (see straggler)");
    return 0;
}

const struct question question_speedup = {
    .command.name = "speedup",
    .command.operands = "",
    .command.text = "strong scaling: speed-up and its limit; weak scaling with noise",
    .command.more =
        "--compute and --comm are those of one step before the work is divided. With --ranks and --cv the "
        "answer includes weak scaling, where each rank has all of --compute.",
    .command.uses = uses,
    .run = run,
};
