/* analyze.h - the verdicts and figures that the controller would have reported of a recorded trace.
 *
 * The answer (sgctl(1), "analyze") has the keys of a job's answer, where they apply, so that a program can
 * read both. Nothing in it depends on this machine, its clock, or on how the file was read. */
#ifndef SYNCGUARD_CTL_ANALYZE_H
#define SYNCGUARD_CTL_ANALYZE_H

#include <jansson.h>
#include <stdbool.h>

#include "common/err.h"
#include "trace/reader.h"
#include "view/view.h"

/* path: a file, or "-" for standard input.  NULL with the reason.  whole: with all ranks and the newest step
 * drawn, for a page. */
json_t *analyze_file(const char *path, const struct view_params *p, bool whole, struct err *err);

/* The answer about what a reader has taken so far. */
json_t *analyze_answer(struct trace_reader *r, bool whole);
/* Does a verdict stand at the end that is not minor? */
bool analyze_stands(const json_t *answer);

#endif
