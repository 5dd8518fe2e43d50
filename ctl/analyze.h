/* analyze.h - a recorded trace judged: the bytes of a file in, what the controller would have said out.
 *
 * The answer (sgctl(1), "analyze") has the keys that a job's has, where they apply, so that one who reads the
 * one reads the other. Nothing of it depends on this machine, its clock, or on how the file was read. */
#ifndef SYNCGUARD_CTL_ANALYZE_H
#define SYNCGUARD_CTL_ANALYZE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "trace/reader.h"

/* path: a file, or "-" for standard input.  Says on standard error how far it is, when that is a terminal and
 * it takes long.  NULL with the reason. */
json_t *analyze_file(const char *path, const struct view_params *p, struct err *err);

/* Read a file (or "-") to its end into r; the same words on the way. 0, or -1 with the reason. */
int analyze_read(const char *path, struct trace_reader *r, struct err *err);

/* The same, and each is called whenever the trace's clock may have moved on. */
int analyze_watch(const char *path, struct trace_reader *r, void (*each)(struct trace_reader *r, void *arg),
                  void *arg, struct err *err);

/* The answer about what a reader has taken so far. */
json_t *analyze_answer(struct trace_reader *r);
/* Does a verdict stand at the end? */
bool analyze_stands(const json_t *answer);

#endif
