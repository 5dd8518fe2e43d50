/* tracer.h - what a probe in every rank of a simulated job would have recorded, as a syncguard-trace.
 *
 * JSON Lines, version 1, as sgctl(1) describes; sgctl analyze and sgctl replay read it.  Times are
 * nanoseconds of each node's own clock: one for all, or (Clocks=own) up to 20,000 s apart and up to 50 ppm
 * fast or slow, drawn by the scenario's seed.  Lost= leaves out a share of the records, as rings do that were
 * full; those that are left are the same as without it.  The text goes where the caller says. */
#ifndef SYNCGUARD_SIM_TRACER_H
#define SYNCGUARD_SIM_TRACER_H

#include "sim/sim_job.h"

/* -1 with the reason: the text could not be written. */
typedef int tracer_write(void *arg, const char *text, size_t bytes, struct err *err);

struct tracer;

/* Of one job; the scenario and placement are borrowed. */
struct tracer *tracer_new(const struct scenario *s, size_t job, const struct placement *p,
                          tracer_write *write, void *arg);
void tracer_free(struct tracer *t); /* NULL is fine */

int tracer_header(struct tracer *t, struct err *err);
/* Those of other jobs are left out. */
int tracer_collective(struct tracer *t, const struct sim_job_collective *c, struct err *err);
/* What is still held back. */
int tracer_flush(struct tracer *t, struct err *err);

#endif
