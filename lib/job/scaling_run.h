/* scaling_run.h - the measurements of a run that projections to other numbers of ranks use, as the JSON that
 * the store keeps. */
#ifndef SYNCGUARD_JOB_SCALING_RUN_H
#define SYNCGUARD_JOB_SCALING_RUN_H

#include <jansson.h>
#include <stdbool.h>

#include "model/projection.h"

char *scaling_run_text(const struct projection_run *r); /* the caller frees it */
/* false: not in this format, or a value is out of bounds. */
bool scaling_run_parse(const char *text, struct projection_run *r);

#endif
