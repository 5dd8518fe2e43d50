/* sgplan memory: what parameters and optimiser take. */
#include "model/memory.h"

#include <math.h>

#include "plan/answer.h"
#include "plan/options.h"
#include "plan/questions.h"

enum { PARAMS, ZERO, ACTIVATIONS, ROOM };

static const struct question_option own[] = {
    [PARAMS] = { "params", "N", QUESTION_COUNT, 1, 1e18, NULL, "of the model, as in 7B or 175e9" },
    [ZERO] = { "zero", "STAGE", QUESTION_COUNT, 0, 3, NULL,
               "what ranks share: 0 nothing, 1 optimiser, 2 gradients too, 3 all" },
    [ACTIVATIONS] = { "activation-bytes", "SIZE", QUESTION_BYTES, 0, INFINITY, NULL,
                      "of a rank, beside that" },
    [ROOM] = { "memory", "SIZE", QUESTION_BYTES, QUESTION_POSITIVE, INFINITY, NULL,
               "that a rank has: say what fits" },
};

static const struct question_use uses[] = {
    { &own[PARAMS], QUESTION_REQUIRED },
    { &option_ranks, QUESTION_REQUIRED },
    { &own[ZERO], "0" },
    { &own[ACTIVATIONS], "0" },
    { &own[ROOM], NULL },
    { NULL, NULL },
};

static void say_stages(double p, double n, double beside, double has, struct answer *answer)
{
    static const struct answer_column columns[] = { { "zero", "ZERO", ANSWER_COUNT },
                                                    { "bytes_per_rank", "A RANK", ANSWER_BYTES },
                                                    { "bytes_per_parameter", "B/PARAMETER", ANSWER_NUMBER },
                                                    { "ranks_needed", "FITS FROM RANKS", ANSWER_COUNT } };

    answer_table(answer, "stages", "By stage of ZeRO:", columns, isnan(has) ? 3 : 4);
    for (int stage = 0; stage < 4; stage++) {
        answer_cell(answer, stage);
        answer_cell(answer, p * memory_bytes_per_parameter(stage, n) + beside);
        answer_cell(answer, memory_bytes_per_parameter(stage, n));
        if (!isnan(has))
            answer_cell(answer, memory_ranks_needed(stage, p, has - beside));
    }
}

static enum question_result run(const struct asked *a, struct answer *answer, struct err *err)
{
    double p = asked_number(a, "params"), n = asked_number(a, "ranks"),
           beside = asked_number(a, "activation-bytes");
    double has = asked_number(a, "memory");
    int stage = (int)asked_number(a, "zero");
    double bytes = p * memory_bytes_per_parameter(stage, n) + beside;
    double needed = memory_ranks_needed(stage, p, has - beside);

    (void)err;
    answer_title(answer, "%g parameters on %.0f ranks, ZeRO %d", p, n, stage);
    answer_figure(answer, "bytes_per_rank", bytes, ANSWER_BYTES, "on each rank");
    answer_figure(answer, "bytes_per_parameter", memory_bytes_per_parameter(stage, n), ANSWER_NUMBER,
                  "bytes a parameter on each rank, without activations");
    if (!isnan(has)) {
        answer_flag(answer, "fits", bytes <= has, "into --memory");
        answer_figure(answer, "ranks_needed", needed, ANSWER_COUNT,
                      isinf(needed) ? "it never fits with this stage"
                                    : "ranks from which on it fits with this stage");
    }
    say_stages(p, n, beside, has, answer);
    answer_source(answer, "Rajbhandari et al. 2020 (ZeRO): 16; 4 + 12/n; 2 + 14/n; 16/n bytes a parameter");
    answer_assumes(answer,
                   "mixed-precision Adam (2 bytes weights, 2 gradients, 12 optimiser), no buffers, no "
                   "fragmentation, activations only as given");
    return QUESTION_DONE;
}

const struct question question_memory = {
    .name = "memory",
    .operands = "",
    .text = "what parameters, gradients and optimiser take on each rank",
    .more = "",
    .uses = uses,
    .run = run,
};
