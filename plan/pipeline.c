/* sgplan pipeline: bubble, speed-up and memory of a pipeline. */
#include "model/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/units.h"
#include "plan/answer.h"
#include "plan/options.h"
#include "plan/question.h"

#define STAGES_MAX 4096

enum { SCHEDULE, CHUNKS, TARGET, TIMES };

static const struct option_spec own[] = {
    [SCHEDULE] = { "schedule", "NAME", VALUE_ONE_OF(VALUE_WORDS("gpipe", "1f1b", "interleaved")),
                   "order of the micro-batches" },
    [CHUNKS] = { "chunks", "V", VALUE_RANGE(VALUE_COUNT, 1, 65536),
                 "interleaved: number of chunks of each stage" },
    [TARGET] = { "target-utilization", "SHARE", VALUE_RANGE(VALUE_RATIO, 0, 0.999999),
                 "find the number of micro-batches that reaches this utilization" },
    [TIMES] = { "stage-times", "LIST", VALUE(VALUE_ANY),
                "time of a micro-batch in each stage, forward and backward, as in 100ms,120ms,90ms" },
};

static const struct option_use uses[] = {
    { &option_stages, NULL }, { &option_microbatches, NULL }, { &own[SCHEDULE], "1f1b" },
    { &own[CHUNKS], "1" },    { &own[TARGET], NULL },         { &own[TIMES], NULL },
    { NULL, NULL },
};

/* Read "100ms,120ms"; return the number of times, or -1. */
static int read_times(const char *text, double *stage_s, struct err *err)
{
    int n = 0;

    for (;;) {
        size_t length = strcspn(text, ",");
        char one[64];

        if (length >= sizeof(one))
            return err_set(err, "--stage-times: '%.20s...' is not accepted: a time such as 100ms", text);
        if (n == STAGES_MAX)
            return err_set(err, "--stage-times: more than %d stages", STAGES_MAX);
        snprintf(one, sizeof(one), "%.*s", (int)length, text);
        if (units_seconds(one, &stage_s[n], err) < 0)
            return err_prefix(err, "--stage-times: '%s' is not accepted", one);
        n++;
        if (!text[length])
            return n;
        text += length + 1;
    }
}

static int put_uneven(const struct options *a, double p, double m, struct answer *answer, struct err *err)
{
    static double stage_s[STAGES_MAX];
    int n = read_times(options_text(a, "stage-times"), stage_s, err);
    double slowest = 0, sum = 0, time_s;

    if (n < 0)
        return -1;
    if (!isnan(p) && p != n)
        return err_set(err, "--stage-times has %d stages, but --stages is %.0f", n, p);
    if (isnan(m))
        return err_set(err, "--stage-times needs --microbatches=M");
    for (int i = 0; i < n; i++) {
        slowest = fmax(slowest, stage_s[i]);
        sum += stage_s[i];
    }
    if (sum <= 0)
        return err_set(err, "--stage-times: at least one must be more than zero");
    time_s = pipeline_time_s(stage_s, (size_t)n, m);
    answer_figure(answer, "time_s", time_s, ANSWER_SECONDS, "time of a step");
    answer_figure(answer, "bubble", 1 - m * sum / (n * time_s), ANSWER_SHARE,
                  "share of the stages' time that is idle");
    answer_figure(answer, "speedup", m * sum / time_s, ANSWER_TIMES, "over one process that runs all stages");
    answer_figure(answer, "imbalance", slowest * n / sum, ANSWER_TIMES,
                  "slowest stage over the mean of all stages");
    return 0;
}

static int run(const struct options *a, struct answer *answer, struct err *err)
{
    double p = options_number(a, "stages"), m = options_number(a, "microbatches"),
           v = options_number(a, "chunks");
    double want = options_number(a, "target-utilization");
    enum pipeline_schedule how = (enum pipeline_schedule)options_number(a, "schedule");

    if (v > 1 && how != PIPELINE_INTERLEAVED)
        return err_set(err, "--chunks needs --schedule=interleaved");
    answer_title(answer, "A pipeline, %s", options_text(a, "schedule"));
    if (options_given(a, "stage-times")) {
        if (put_uneven(a, p, m, answer, err) < 0)
            return -1;
    } else if (isnan(p)) {
        return err_set(err, "--stages=P is needed, or --stage-times=LIST");
    } else if (!isnan(m)) {
        answer_figure(answer, "bubble", pipeline_bubble(p, m, v), ANSWER_SHARE,
                      "share of the time in which a stage is idle");
        answer_figure(answer, "utilization", 1 - pipeline_bubble(p, m, v), ANSWER_SHARE,
                      "share of the time in which a stage works");
        answer_figure(answer, "bubble_over_work", (p - 1) / (v * m), ANSWER_SHARE,
                      "idle time over working time, as some papers define the bubble");
        answer_figure(answer, "speedup", pipeline_speedup(p, m, v), ANSWER_TIMES,
                      "over one process that runs all stages");
        answer_figure(answer, "in_flight", pipeline_in_flight(how, p, m, v), ANSWER_NUMBER,
                      "micro-batches that the first stage holds at once");
    } else if (isnan(want)) {
        return err_set(err, "--microbatches=M is needed, or --target-utilization=SHARE");
    }
    if (!isnan(want) && isnan(p))
        return err_set(err, "--target-utilization needs --stages=P");
    if (!isnan(want))
        answer_figure(answer, "microbatches", pipeline_microbatches(want, p, v), ANSWER_COUNT,
                      "smallest number for a utilization of %g, with equal stages", want);
    answer_source(
        answer, "(p-1)/(v m + p-1): Huang et al. 2019, Narayanan et al. 2021; in flight: Korthikanti et al. "
                "2022; unequal stages: sum t + (m-1) max t");
    answer_assumes(answer, "transfers between stages take no time; with --stage-times, one chunk per stage");
    return 0;
}

const struct question question_pipeline = {
    .command.name = "pipeline",
    .command.operands = "",
    .command.text = "bubble, speed-up and memory of a pipeline; micro-batches for a target",
    .command.more = "Without --stage-times all stages take equally long.",
    .command.uses = uses,
    .run = run,
};
