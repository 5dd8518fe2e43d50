/* Who does its own work slower than the others: soon when it is so, never when it is noise. */
#include "analysis/straggler.h"

#include <stdlib.h>

#include "tests/tap.h"

#define RANKS_MAX 64u

static uint64_t random_state = 42;

static double uniform(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 11) / (double)(1ull << 53);
}

static double gauss(void)
{
    return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* A job: noise of one step with memory (AR(1), rho), rare spikes; rank 0 slower by `slow` from step 200 on.
 */
struct job {
    uint32_t ranks;
    double noise, rho, spikes, slow;
};

/* The step at which something is named first (0: never), over `steps` steps. */
static uint64_t first_named(const struct job *job, uint32_t steps)
{
    struct straggler *s = straggler_new();
    struct straggler_finding f[STRAGGLER_SCOPES];
    double state[RANKS_MAX] = { 0 };
    uint64_t named = 0;

    for (uint32_t r = 0; r < job->ranks; r++)
        straggler_place(s, r, r / 2, r / 8);
    for (uint32_t k = 1; k <= steps && !named; k++) {
        float work[RANKS_MAX], longest = 0;

        for (uint32_t r = 0; r < job->ranks; r++) {
            state[r] = job->rho * state[r] + sqrt(1 - job->rho * job->rho) * gauss();
            work[r] = (float)(0.05 * fmax(0.2, 1 + job->noise * state[r]));
            if (uniform() < job->spikes)
                work[r] *= 4;
            if (r == 0 && k >= 200)
                work[r] *= (float)(1 + job->slow);
            longest = fmaxf(longest, work[r]);
        }
        straggler_step(s, k, work, job->ranks, longest + 0.005);
        if (straggler_find(s, 1.02, f))
            named = k;
    }
    straggler_free(s);
    return named;
}

static void false_alarms(void)
{
    static const struct job jobs[] = {
        { 8, 0.02, 0.0, 0, 0 },      { 8, 0.25, 0.0, 0, 0 },  { 8, 0.25, 0.5, 0, 0 },
        { 64, 0.05, 0.0, 0, 0 },     { 64, 0.10, 0.5, 0, 0 }, { 16, 0.05, 0.0, 0.002, 0 },
        { 16, 0.10, 0.3, 0.005, 0 }, { 2, 0.10, 0.0, 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
        int alarms = 0;

        for (int run = 0; run < 20; run++)
            alarms += first_named(&jobs[i], 2000) != 0;
        ok(alarms == 0,
           "%u ranks, noise %.0f %%, memory %.1f, spikes %.3f: %d alarms in 20 jobs of 2,000 steps",
           jobs[i].ranks, 100 * jobs[i].noise, jobs[i].rho, jobs[i].spikes, alarms);
    }
}

static void detections(void)
{
    static const struct {
        struct job job;
        uint32_t within; /* steps */
    } cases[] = {
        { { 8, 0.02, 0.0, 0, 0.20 }, 8 },      { { 8, 0.05, 0.0, 0, 0.20 }, 12 },
        { { 8, 0.10, 0.0, 0, 0.20 }, 40 },     { { 8, 0.25, 0.0, 0, 0.50 }, 48 },
        { { 8, 0.05, 0.5, 0, 0.20 }, 24 },     { { 64, 0.02, 0.0, 0, 0.10 }, 16 },
        { { 16, 0.05, 0.0, 0.002, 0.2 }, 16 }, { { 2, 0.02, 0.0, 0, 0.20 }, 12 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint64_t worst = 0;

        for (int run = 0; run < 20; run++) {
            uint64_t named = first_named(&cases[i].job, 400), delay = named >= 200 ? named - 200 + 1 : 1000;

            worst = delay > worst ? delay : worst;
        }
        ok(worst <= cases[i].within,
           "%u ranks, noise %.0f %%, memory %.1f: slower by %.0f %%, named within %llu steps in 20 of 20",
           cases[i].job.ranks, 100 * cases[i].job.noise, cases[i].job.rho, 100 * cases[i].job.slow,
           (unsigned long long)worst);
    }
}

int main(void)
{
    false_alarms();
    detections();
    return done_testing();
}
