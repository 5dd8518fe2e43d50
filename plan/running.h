/* running.h - reads a measured job: from a recorded trace, or from the controller.
 *
 * Questions about measured jobs have these options. */
#ifndef SYNCGUARD_PLAN_RUNNING_H
#define SYNCGUARD_PLAN_RUNNING_H

#include <jansson.h>

#include "plan/answer.h"
#include "plan/question.h"
#include "trace/reader.h"

extern const struct option_spec running_trace, running_job;

/* Read a trace to its end; - is standard input.  Free it with trace_reader_free().  NULL with the reason. */
struct trace_reader *running_read(const char *path, struct err *err);

/* Send the question with the "job" of --job to the controller; takes question.  Returns the answer's object
 * under key, owned by the caller, or NULL with the reason. */
json_t *running_ask(const struct options *a, json_t *question, const char *key, struct err *err);

/* Add a report's assumptions to the answer. */
void running_put_assumes(struct answer *answer, char (*assumes)[160], size_t n);

#endif
