/* sgplan step: share of work in a step. */
#include "model/step.h"
#include "plan/answer.h"
#include "plan/job.h"
#include "plan/options.h"
#include "plan/question.h"

static const struct option_spec accumulate = { "accumulate", "K", VALUE_RANGE(VALUE_COUNT, 1, 1e6),
                                               "rounds of work before each exchange" };

static const struct option_use uses[] = {
    { &option_compute, OPTION_REQUIRED }, { &option_comm, OPTION_REQUIRED }, { &accumulate, "1" },
    { &option_backward, NULL },           { &option_overlap, "0" },          { NULL, NULL },
};

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double compute_s = options_number(a, "compute"), comm_s = options_number(a, "comm");
    double rounds = options_number(a, "accumulate"), overlap = options_number(a, "overlap");
    double backward_s = options_number(a, "backward"), exposed_s, step_s;

    if (job_overlap_check(a, err) < 0)
        return -1;
    exposed_s = overlap > 0 ? step_exposed_s(comm_s, overlap, backward_s) : comm_s;
    step_s = rounds * compute_s + exposed_s;
    answer_title(answer, "A step of %g round%s of work and one exchange", rounds, rounds > 1 ? "s" : "");
    answer_figure(answer, "step_s", step_s, ANSWER_SECONDS, "the whole step");
    answer_figure(answer, "exposed_comm_s", exposed_s, ANSWER_SECONDS,
                  "communication that does not overlap work");
    answer_figure(answer, "comm_share", exposed_s / step_s, ANSWER_SHARE,
                  "share of the step that is exposed communication");
    answer_figure(answer, "efficiency", step_efficiency(compute_s, exposed_s, rounds), ANSWER_SHARE,
                  "share of the step that is work");
    answer_source(answer, "K Tc + max(0, Tm - overlap Tb); efficiency K Tc over that");
    answer_assumes(
        answer,
        "all ranks take equally long (see straggler); there is one exchange, which overlaps the backward pass of the "
        "last round");
    return 0;
}

const struct question question_step = {
    .command.name = "step",
    .command.operands = "",
    .command.text = "share of work in a step, with accumulation and overlap",
    .command.more =
        "A step is --accumulate rounds of --compute, then --comm. With --overlap and --backward the exchange "
        "overlaps the backward pass of the last round.",
    .command.uses = uses,
    .run = run,
};
