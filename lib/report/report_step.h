/* report_step.h - a drawn step (calls/picture.h) as JSON (sgctl(1), "picture"), and read from it.
 * What is read is bounded as a picture is; an unknown kind of segment is PATH_UNKNOWN. */
#ifndef SYNCGUARD_REPORT_REPORT_STEP_H
#define SYNCGUARD_REPORT_REPORT_STEP_H

#include <jansson.h>
#include <stdint.h>

#include "calls/picture.h"

struct view;

/* The newest step that a view knows, with at most `rows` rows; null: none is known.  The caller's. */
json_t *report_step(const struct view *v, double now_s, uint32_t rows);

json_t *report_step_json(const struct picture *p); /* NULL: null */
struct picture *report_step_read(const json_t *o); /* NULL: no picture; the caller's */

#endif
