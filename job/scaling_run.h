/* scaling_run.h - what a run shows of growth, as the JSON that the store keeps. */
#ifndef SYNCGUARD_JOB_SCALING_RUN_H
#define SYNCGUARD_JOB_SCALING_RUN_H

#include <jansson.h>
#include <stdbool.h>

#include "model/projection.h"

char *scaling_run_text(const struct projection_run *r); /* the caller's, to free */
/* false: not one of ours, or out of bounds. */
bool scaling_run_parse(const char *text, struct projection_run *r);

#endif
