/* job_figures.h - the values of a job's figures for its rules (rules/figures.h).
 * Pure: only reads the job. */
#ifndef SYNCGUARD_JOB_JOB_FIGURES_H
#define SYNCGUARD_JOB_JOB_FIGURES_H

#include "job/job.h"
#include "rules/figures.h"

/* Fill in f, without the figures of earlier runs.  Strings in f belong to the job and are valid until its
 * view changes. */
void job_figures(const struct job *j, double now_s, struct figures *f);

#endif
