/* Any bytes as a scenario; one that is accepted and small is simulated for a few steps. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/scenario.h"
#include "sim/simulation.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RANKS_MAX 64
#define STEPS_MAX 3

static int small(struct scenario *s)
{
    int ranks = 0;

    for (size_t i = 0; i < s->n_jobs; i++) {
        struct scenario_job *j = &s->jobs[i];

        ranks += j->ranks;
        j->steps = j->steps < STEPS_MAX ? j->steps : STEPS_MAX;
        if (j->sync == SYNC_LOCAL && j->inner && j->every > 16)
            return 0;
        /* A restart that never succeeds takes its million tries. */
        if (s->checkpoints[i].given && s->checkpoints[i].restart_s > s->checkpoints[i].node_mtbf_s)
            return 0;
    }
    return ranks <= RANKS_MAX && s->fabric.nodes <= 1024;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scenario s;
    struct simulation *m;
    struct err err = { "" };

    if (scenario_parse(&s, "fuzz.conf", (const char *)data, size, &err) < 0) {
        if (!err.text[0])
            abort(); /* a failure without a reason */
        return 0;
    }
    if (s.n_jobs == 0 || s.n_jobs > SCENARIO_JOBS_MAX)
        abort();
    if (!small(&s))
        return 0;
    m = simulation_new(&s, NULL, &err);
    if (!m) {
        if (!err.text[0])
            abort();
        return 0;
    }
    if (simulation_run(m, &err) < 0)
        abort();
    for (size_t i = 0; i < s.n_jobs; i++) {
        const struct sim_job_result *r = simulation_result(m, i);

        if (!(r->end_s >= r->begin_s) || r->steps > (uint64_t)s.jobs[i].steps)
            abort();
    }
    simulation_free(m);
    return 0;
}
