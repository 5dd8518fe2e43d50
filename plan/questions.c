#include "plan/questions.h"

#include <stddef.h>

static const struct question_use help_uses[];

/* Answered by main(), which knows the tables. */
static const struct question question_help_ = {
    .name = "help",
    .operands = "[QUESTION]",
    .text = "say how a question is asked",
    .more = "",
    .uses = help_uses,
    .max = 1,
};

const struct question *const questions[] = {
    /* formulas */
    &question_collective,
    &question_step,
    &question_speedup,
    &question_straggler,
    &question_staleness,
    &question_localsgd,
    &question_compress,
    &question_bucket,
    &question_pipeline,
    &question_memory,
    &question_checkpoint,
    &question_mtbf,
    &question_train,
    &question_compare,
    &question_whatif,
    /* measurements */
    &question_scale,
    /* simulation */
    &question_simulate,
    &question_experiment,
    &question_help_,
    NULL,
};

static const struct question_option words = { .name = "words",
                                              .text = "print bare words, for shell completion" };
static const struct question_option mdoc = { .name = "mdoc",
                                             .text = "print the source of the manual page's tables" };
static const struct question_use help_uses[] = { { &words, NULL }, { &mdoc, NULL }, { NULL, NULL } };
