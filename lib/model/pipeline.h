/* pipeline.h - pipeline parallelism: stages that micro-batches pass through.
 * Pure.  p stages, m micro-batches, v chunks per stage (1 except for the interleaved schedule). */
#ifndef SYNCGUARD_MODEL_PIPELINE_H
#define SYNCGUARD_MODEL_PIPELINE_H

#include <stddef.h>

enum pipeline_schedule { PIPELINE_GPIPE, PIPELINE_1F1B, PIPELINE_INTERLEAVED };

/* Share of the time in which a stage is idle: (p-1)/(v m + p-1).  GPipe: Huang et al. 2019; 1F1B
 * and interleaved: Narayanan et al., SC 2021. */
double pipeline_bubble(double stages, double microbatches, double chunks);
/* Speed-up over a single stage: p (1 - bubble). */
double pipeline_speedup(double stages, double microbatches, double chunks);
/* Micro-batches whose activations the first stage holds at once: m; min(p, m); interleaved in units of a
 * whole stage min(p + (p-1)/v, m) (Korthikanti et al. 2022). */
double pipeline_in_flight(enum pipeline_schedule schedule, double stages, double microbatches, double chunks);
/* Minimum number of micro-batches at which stages are busy for a share `utilization` < 1 of the time. */
double pipeline_microbatches(double utilization, double stages, double chunks);
/* Time with unequal stages: sum t + (m-1) max t. */
double pipeline_time_s(const double *stage_s, size_t stages, double microbatches);

#endif
