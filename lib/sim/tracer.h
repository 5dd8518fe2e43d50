/* tracer.h - writes the syncguard-trace that probes in every rank of a simulated job would record.
 *
 * JSON Lines, version 1, as sgctl(1) describes; sgctl analyze and sgctl replay read it.  Times are
 * nanoseconds of each node's own clock: one for all, or (Clocks=own) up to 20,000 s apart and up to 50 ppm
 * fast or slow, sampled by the scenario's seed.  Lost= omits a share of the records, as full rings do; the
 * others are the same as without it.  The caller's function receives the text. */
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
/* Collectives of other jobs are ignored. */
int tracer_collective(struct tracer *t, const struct sim_job_collective *c, struct err *err);
/* Writes buffered records. */
int tracer_flush(struct tracer *t, struct err *err);

#endif
