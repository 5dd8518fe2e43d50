#include "tests/workloads/shared/step_times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

enum { WARM_UP = 5 };

void step_times_add(struct step_times *p, double step_s, double messages_s, double collectives_s)
{
    p->all_s += step_s;
    p->messages_s += messages_s;
    p->collectives_s += collectives_s;
    p->step_s = xgrow(p->step_s, &p->step_cap, p->n + 1, sizeof(double));
    p->inside_s = xgrow(p->inside_s, &p->inside_cap, p->n + 1, sizeof(double));
    p->step_s[p->n] = step_s;
    p->inside_s[p->n++] = messages_s + collectives_s;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct step_times_summary step_times_sum(const struct step_times *p)
{
    size_t skip = p->n > 2 * WARM_UP ? WARM_UP : 0, n = p->n - skip;
    struct step_times_summary s = { NAN, NAN, NAN, NAN, NAN };
    double sum = 0, squares = 0, inside = 0;
    double *sorted;

    if (!n)
        return s;
    sorted = xcalloc(n, sizeof(double));
    memcpy(sorted, p->step_s + skip, n * sizeof(double));
    qsort(sorted, n, sizeof(double), by_size);
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i];
        inside += p->inside_s[skip + i];
    }
    s.mean_s = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (sorted[i] - s.mean_s) * (sorted[i] - s.mean_s);
    s.p50_s = sorted[n / 2];
    s.p95_s = sorted[n * 95 / 100];
    s.cv = sqrt(squares / (double)n) / s.mean_s;
    s.inside_s = inside / (double)n;
    free(sorted);
    return s;
}

void step_times_print(const struct step_times *p, const struct world *w)
{
    struct step_times_summary s = step_times_sum(p);
    double compute[2] = { s.mean_s - s.inside_s, s.inside_s - s.mean_s };
    double sum[3] = { p->all_s, p->messages_s, p->collectives_s };

    MPI_Allreduce(MPI_IN_PLACE, compute, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (w->rank == 0 && p->n)
        printf("shares: compute %.4f messages %.4f collectives %.4f\n", 1 - (sum[1] + sum[2]) / sum[0],
               sum[1] / sum[0], sum[2] / sum[0]);
    if (w->rank == 0 && p->n)
        printf("timing: steps %zu mean_s %.6f p50_s %.6f p95_s %.6f cv %.4f collectives_s %.6f compute_min_s "
               "%.6f compute_max_s %.6f\n",
               p->n, s.mean_s, s.p50_s, s.p95_s, s.cv, s.inside_s, -compute[1], compute[0]);
}

void step_times_free(struct step_times *p)
{
    free(p->step_s);
    free(p->inside_s);
    *p = (struct step_times){ 0 };
}
