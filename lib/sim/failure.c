#include "sim/failure.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "model/cadence.h"
#include "sim/random.h"

#define PURPOSE_FAILURE 0xff01
#define RESTARTS_MAX    1000000

struct failure {
    const struct scenario_checkpoint *c;
    struct random random;
    uint32_t nodes, first; /* first: the node that fails next */
    double *next_s;        /* by node */
    uint64_t *failed;
};

static void sample_failure(struct failure *f, uint32_t node, double now_s)
{
    f->next_s[node] = now_s + f->c->node_mtbf_s * random_exponential(&f->random, node, f->failed[node]++);
}

static void find_first(struct failure *f)
{
    f->first = 0;
    for (uint32_t i = 1; i < f->nodes; i++)
        f->first = f->next_s[i] < f->next_s[f->first] ? i : f->first;
}

struct failure *failure_new(const struct scenario *s, size_t job)
{
    struct failure *f = xcalloc(1, sizeof(*f));

    f->c = &s->checkpoints[job];
    f->random = random_of((uint64_t)s->seed, (uint32_t)job, PURPOSE_FAILURE);
    f->nodes = (uint32_t)scenario_job_nodes(&s->jobs[job]);
    f->next_s = xcalloc(f->nodes, sizeof(*f->next_s));
    f->failed = xcalloc(f->nodes, sizeof(*f->failed));
    for (uint32_t i = 0; i < f->nodes; i++)
        sample_failure(f, i, s->jobs[job].start_s);
    find_first(f);
    return f;
}

void failure_free(struct failure *f)
{
    if (!f)
        return;
    free(f->next_s);
    free(f->failed);
    free(f);
}

double failure_interval_s(const struct failure *f)
{
    double mtbf_s = f->c->node_mtbf_s / f->nodes, write_s = f->c->write_s;

    switch (f->c->cadence) {
    case CADENCE_YOUNG:
        return cadence_young_s(write_s, mtbf_s);
    case CADENCE_DALY:
        return cadence_daly_s(write_s, mtbf_s);
    case CADENCE_EXACT:
        return cadence_optimal_s(write_s, mtbf_s);
    default:
        return f->c->interval_s;
    }
}

double failure_next_s(const struct failure *f)
{
    return f->next_s[f->first];
}

double failure_restart_s(struct failure *f, double at_s, uint64_t *count)
{
    for (int i = 0; i < RESTARTS_MAX; i++) {
        double up_s = at_s + f->c->restart_s;

        while (failure_next_s(f) <= at_s) { /* skip failures that happened during the downtime */
            sample_failure(f, f->first, at_s);
            find_first(f);
        }
        if (failure_next_s(f) > up_s)
            return up_s;
        at_s = failure_next_s(f);
        ++*count;
    }
    return NAN;
}
