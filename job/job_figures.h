/* job_figures.h - a job's figures as its rules ask for them (rules/figures.h), from its view.
 * Pure: reads the job. */
#ifndef SYNCGUARD_JOB_JOB_FIGURES_H
#define SYNCGUARD_JOB_JOB_FIGURES_H

#include <jansson.h>

#include "job/job.h"
#include "rules/figures.h"

/* past: the job object's key of that name (doc/protocol.md), NULL: not known. Texts are lent by the job,
 * until its view changes, and by past. */
void job_figures(const struct job *j, double now_s, const json_t *past, struct figures *f);

#endif
