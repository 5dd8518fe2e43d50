/* job_figures.h - a job's figures as its rules ask for them (rules/figures.h).
 * Pure: reads the job. */
#ifndef SYNCGUARD_JOB_JOB_FIGURES_H
#define SYNCGUARD_JOB_JOB_FIGURES_H

#include "job/job.h"
#include "rules/figures.h"

/* The run compared with those like it. */
struct job_past {
    double step_ratio; /* NaN: not known */
    bool unusual;
};

/* past: NULL is not known.  Texts are lent by the job, until its view changes. */
void job_figures(const struct job *j, double now_s, const struct job_past *past, struct figures *f);

#endif
