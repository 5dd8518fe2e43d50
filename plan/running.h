/* running.h - a job that runs, or ran: a recorded trace of it, or what the controller says of it.
 *
 * The questions that can be put to such a job have these options. */
#ifndef SYNCGUARD_PLAN_RUNNING_H
#define SYNCGUARD_PLAN_RUNNING_H

#include <jansson.h>

#include "plan/answer.h"
#include "plan/question.h"
#include "trace/reader.h"

extern const struct option_spec running_trace, running_job;

/* --trace: read to its end; trace_reader_free takes it. NULL with the reason. */
struct trace_reader *running_read(const struct options *a, struct err *err);

/* The same of that file; - is standard input. */
struct trace_reader *running_read_file(const char *path, struct err *err);

/* --job: put to the controller, with "job" added; question is taken. The answer's object under key, the
 * caller's, or NULL with the reason. */
json_t *running_ask(const struct options *a, json_t *question, const char *key, struct err *err);

/* What a report takes for granted, as what the answer assumes. */
void running_put_assumes(struct answer *answer, char (*assumes)[160], size_t n);

#endif
