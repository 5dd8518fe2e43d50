#include "plan/question.h"

#include <stddef.h>
#include <string.h>

#include "common/xalloc.h"
#include "plan/scenarios.h"
#include "wire/session.h"

static const struct question *const questions[] = {
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
    &question_place,
    /* measurements */
    &question_scale,
    /* simulation */
    &question_simulate,
};

static const struct options_command *command(size_t i)
{
    return i < ARRAY_SIZE(questions) ? &questions[i]->command : NULL;
}

static const struct option_use common[] = { { &option_json, NULL }, { NULL, NULL } };

static void complete(const struct options *o, const char *name, FILE *out)
{
    if (!strcmp(name, "SCENARIO")) {
        scenarios_print(PKGDATADIR "/scenarios", out);
        fputs("@files\n", out);
    } else if (!strcmp(name, "PATTERN")) {
        fputs("ring\nhalving\ndoubling\ngroups:8\npipeline:8x4\n", out);
    } else {
        session_complete(o, name, out);
    }
}

const struct options_program sgplan_program = {
    .name = "sgplan",
    .text = "Predict the performance of synchronised jobs and compare ways to improve it.",
    .noun = "question",
    .command = command,
    .common = common,
    .examples = { "sgplan straggler --ranks=1024 --cv=10%", "sgplan simulate straggler --json" },
    .help_end =
        "Values have units: 700MB, 2MiB, 10us, 2h, 25GB/s, 400Gbit/s, 5%, 175e9 or 7B. Exit status: 0, 1 "
        "(failed), 2 (wrong usage). Manual page: sgplan(1).",
    .once = true,
    .complete = complete,
};

const struct question *question_asked(const struct options *o)
{
    return (const struct question *)o->command;
}
