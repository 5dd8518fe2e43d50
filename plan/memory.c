/* sgplan memory: memory of parameters, gradients and optimiser. */
#include "model/memory.h"

#include <math.h>

#include "plan/answer.h"
#include "plan/options.h"
#include "plan/question.h"

enum { PARAMS, ZERO, ACTIVATIONS, ROOM };

static const struct option_spec own[] = {
    [PARAMS] = { "params", "N", VALUE_RANGE(VALUE_COUNT, 1, 1e18),
                 "parameters of the model, as in 7B or 175e9" },
    [ZERO] = { "zero", "STAGE", VALUE_RANGE(VALUE_COUNT, 0, 3),
               "what is divided among ranks: 0 nothing, 1 optimiser, 2 gradients too, 3 all" },
    [ACTIVATIONS] = { "activation-bytes", "SIZE", VALUE_RANGE(VALUE_BYTES, 0, INFINITY),
                      "activations of a rank" },
    [ROOM] = { "memory", "SIZE", VALUE_RANGE(VALUE_BYTES, VALUE_POSITIVE, INFINITY),
               "memory of a rank, to find what fits" },
};

static const struct option_use uses[] = {
    { &own[PARAMS], OPTION_REQUIRED },
    { &option_ranks, OPTION_REQUIRED },
    { &own[ZERO], "0" },
    { &own[ACTIVATIONS], "0" },
    { &own[ROOM], NULL },
    { NULL, NULL },
};

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    static const struct answer_column columns[] = { { "zero", "ZERO", ANSWER_COUNT },
                                                    { "bytes_per_rank", "PER RANK", ANSWER_BYTES },
                                                    { "bytes_per_parameter", "B/PARAMETER", ANSWER_NUMBER },
                                                    { "ranks_needed", "RANKS NEEDED", ANSWER_COUNT } };
    double p = options_number(a, "params"), n = options_number(a, "ranks"),
           beside = options_number(a, "activation-bytes");
    double has = options_number(a, "memory");
    int stage = (int)options_number(a, "zero");
    double bytes = p * memory_bytes_per_parameter(stage, n) + beside;
    double needed = memory_ranks_needed(stage, p, has - beside);

    (void)err;
    answer_title(answer, "%g parameters on %.0f ranks, ZeRO %d", p, n, stage);
    answer_figure(answer, "bytes_per_rank", bytes, ANSWER_BYTES, "on each rank");
    answer_figure(answer, "bytes_per_parameter", memory_bytes_per_parameter(stage, n), ANSWER_NUMBER,
                  "bytes per parameter on each rank, without activations");
    if (!isnan(has)) {
        answer_figure(answer, "fits", bytes <= has, ANSWER_FLAG, "whether it fits into --memory");
        answer_figure(answer, "ranks_needed", needed, ANSWER_COUNT,
                      isinf(needed) ? "it never fits with this stage"
                                    : "smallest number of ranks on which it fits with this stage");
    }
    answer_table(answer, "stages", "By stage of ZeRO:", columns, isnan(has) ? 3 : 4);
    for (stage = 0; stage < 4; stage++) {
        answer_cells(answer, stage, p * memory_bytes_per_parameter(stage, n) + beside,
                     memory_bytes_per_parameter(stage, n));
        if (!isnan(has))
            answer_cell(answer, memory_ranks_needed(stage, p, has - beside));
    }
    answer_source(answer, "Rajbhandari et al. 2020 (ZeRO): 16; 4 + 12/n; 2 + 14/n; 16/n bytes per parameter");
    answer_assumes(answer,
                   "mixed-precision Adam (2 bytes of weights, 2 of gradients, 12 of optimiser state per "
                   "parameter); no buffers and no fragmentation; activations only as given");
    return 0;
}

const struct question question_memory = {
    .command.name = "memory",
    .command.operands = "",
    .command.text = "memory of parameters, gradients and optimiser on each rank",
    .command.uses = uses,
    .run = run,
};
