/* sgplan compress: does compression of the exchange pay? */
#include <math.h>

#include "model/trade.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/question.h"

enum { RATIO, GROWTH };

static const struct option_spec own[] = {
    [RATIO] = { "ratio", "R", VALUE_RANGE(VALUE_RATIO, 0, 1), "share of the bytes that is still sent" },
    [GROWTH] = { "iterations-ratio", "I", VALUE_RANGE(VALUE_NUMBER, VALUE_POSITIVE, 1e6),
                 "factor by which more iterations are needed; must be measured" },
};

static const struct option_use uses[] = {
    { &own[RATIO], OPTION_REQUIRED },
    { &own[GROWTH], OPTION_REQUIRED },
    { &option_compute, NULL },
    { &option_comm, NULL },
    { NULL, NULL },
};

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double r = options_number(a, "ratio"), i = options_number(a, "iterations-ratio");
    double compute_s = options_number(a, "compute"), comm_s = options_number(a, "comm");
    double even = trade_compress_break_even(r, i);

    if (isnan(compute_s) != isnan(comm_s))
        return err_set(err, "--compute and --comm are needed together: their ratio decides");
    answer_title(answer, "Sending %g of the bytes for %g times the iterations", r, i);
    answer_figure(answer, "break_even_comm_over_compute", even, ANSWER_NUMBER,
                  isinf(even) ? "it never pays: --ratio times --iterations-ratio is 1 or more"
                              : "communication over work above which it pays");
    if (!isnan(comm_s)) {
        double time_ratio = trade_compress_time_ratio(compute_s, comm_s, r, i);

        answer_figure(answer, "comm_over_compute", comm_s / compute_s, ANSWER_NUMBER,
                      "communication over work of this step");
        answer_figure(answer, "speedup", 1 / time_ratio, ANSWER_TIMES, "faster to the target");
        answer_figure(answer, "pays", time_ratio < 1, ANSWER_FLAG, "whether it pays for this step");
    }
    answer_source(answer, "I (Tc + r Tm) < Tc + Tm, that is Tm/Tc > (I-1)/(1 - r I)");
    answer_assumes(answer, "no part of the exchange is overlapped, and compression itself takes no time");
    return 0;
}

const struct question question_compress = {
    .command.name = "compress",
    .command.operands = "",
    .command.text = "whether compressing the exchange pays for its extra iterations",
    .command.uses = uses,
    .run = run,
};
