#include "plan/work_sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/xalloc.h"
#include "model/deviate.h"
#include "model/staleness.h"

/* Box & Muller 1958 */
static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(deviate_uniform(state)));

    return radius * cos(2 * M_PI * deviate_uniform(state));
}

/* Progress on a terminal, in one line that is overwritten, after 2 s. */
static void progress(const struct work_sampler *d, size_t step)
{
    static time_t start, last_report;
    time_t now = time(NULL);

    if (step == 0)
        start = now;
    if (now - start < 2 || now == last_report || !isatty(STDERR_FILENO))
        return;
    last_report = now;
    fprintf(stderr, "\rsgplan: step %zu of %zu \r", step, d->steps);
}

/* Mixed, so that adjacent seeds and steps give unrelated samples. */
void work_sampler_begin(struct work_sampler *d, uint64_t seed, size_t step)
{
    d->state = hash_mix(seed * 0x9e3779b97f4a7c15u ^ (step + 1) * 0xd1342543de82ef95u);
}

double work_sampler_next(void *arg, size_t rank, size_t step)
{
    struct work_sampler *d = arg;
    double variance = log1p(d->cv * d->cv), work = 1;

    if (rank == 0 && d->steps && step % 16 == 0)
        progress(d, step);
    if (d->cv > 0 && d->dist == ORDER_LOGNORMAL)
        work = exp(sqrt(variance) * normal(&d->state) - variance / 2);
    else if (d->cv > 0)
        work = fmax(0, 1 + d->cv * normal(&d->state)); /* work is never negative */
    return rank == 0 ? work * d->slow_ratio : work;
}

double work_sampler_step_ratio(struct work_sampler *d, size_t ranks, size_t bound, size_t steps)
{
    double *finish = xcalloc(ranks, sizeof(*finish)), *gate = xcalloc(bound + 1, sizeof(*gate)), ratio;

    d->steps = steps + steps / 10 + bound;
    ratio = staleness_step_ratio(ranks, bound, steps, work_sampler_next, d, finish, gate);
    free(gate);
    free(finish);
    return ratio;
}
