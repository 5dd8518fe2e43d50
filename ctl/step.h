/* step.h - the newest step of a job or a recorded trace, drawn: the answer to "step" (doc/protocol.md), and
 * the file made of it. */
#ifndef SYNCGUARD_CTL_STEP_H
#define SYNCGUARD_CTL_STEP_H

#include <jansson.h>

#include "common/err.h"
#include "trace/reader.h"
#include "view/view.h"

/* Ranks that the text lists; a file has as many as a picture can. */
#define STEP_RANKS 16

/* As a controller answers of a job, with at most `rows` ranks.  path "-" is standard input.  NULL with the
 * reason. */
json_t *step_of_trace(const char *path, const struct view_params *p, unsigned rows, struct err *err);

/* As SVG to a file that does not exist yet, or "-" for standard output.  -1 with the reason. */
int step_draw(const json_t *answer, const char *path, struct err *err);
int step_draw_trace(const char *trace, const struct view_params *p, const char *path, struct err *err);

#endif
