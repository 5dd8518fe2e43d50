/* batch.h - sgtop without a terminal: the screens as text once, or the answer as JSON. */
#ifndef SYNCGUARD_TUI_BATCH_H
#define SYNCGUARD_TUI_BATCH_H

#include <stdio.h>

#include "common/err.h"
#include "report/report_print.h"
#include "tui/arguments.h"
#include "tui/replay.h"

/* What is shown: a trace, or where that is NULL, what a controller answers. */
struct batch_source {
    struct replay *replay;
    report_ask *ask;
    void *arg;
};

/* One job's screen when a job is asked for; otherwise the list, the most urgent job and the nodes.  With a
 * size each has it, otherwise as many lines as it needs, and the job its evidence and critical path.  0, or
 * -1 with the reason why there is no answer. */
int batch_text(const struct batch_source *source, const struct arguments *o, FILE *out, struct err *err);
int batch_json(const struct batch_source *source, const struct arguments *o, FILE *out, struct err *err);

#endif
