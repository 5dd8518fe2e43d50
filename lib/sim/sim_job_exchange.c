/* A collective on the ranks of a job: when each enters, sleeps and leaves. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "sim/sim_job_private.h"

void sim_job_exchange_empty(struct sim_job_exchange *x)
{
    x->left = 0;
    x->last_s = -INFINITY;
}

void sim_job_exchange_init(struct sim_job_exchange *x, uint32_t ranks)
{
    x->enter_s = xcalloc(ranks, sizeof(double));
    x->slept_s = xcalloc(ranks, sizeof(double));
    x->leave_s = xcalloc(ranks, sizeof(double));
    sim_job_exchange_empty(x);
}

void sim_job_exchange_clear(struct sim_job_exchange *x)
{
    free(x->enter_s);
    free(x->slept_s);
    free(x->leave_s);
}
