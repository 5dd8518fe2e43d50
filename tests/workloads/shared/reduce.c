#include "tests/workloads/shared/reduce.h"

#include <stdlib.h>

#include "common/xalloc.h"

struct reduce {
    struct reduce_plan plan;
    float *gradient;
    size_t *end; /* of each bucket, in parameters */
    int started; /* buckets of this step */
    MPI_Request *request;
    MPI_Comm inner, outer; /* outer: the ranks with my place in their groups, or all */
    double spent_s;
};

static void cut_buckets(struct reduce *r, size_t count)
{
    size_t n = (size_t)r->plan.buckets;
    size_t size = n > 1 ? 2 * count / (2 * n - 1) : count;

    r->end = xcalloc(n, sizeof(*r->end));
    for (size_t i = 0; i < n; i++)
        r->end[i] = i + 1 < n ? size / 2 + i * size : count;
}

struct reduce *reduce_new(const struct reduce_plan *plan, float *gradient, size_t count)
{
    struct reduce *r = xcalloc(1, sizeof(*r));
    int rank;

    r->plan = *plan;
    r->gradient = gradient;
    r->request = xcalloc((size_t)plan->buckets, sizeof(MPI_Request));
    cut_buckets(r, count);
    r->inner = MPI_COMM_NULL;
    MPI_Comm_rank(plan->comm, &rank);
    if (plan->inner) {
        MPI_Comm_split(plan->comm, rank / plan->inner, rank, &r->inner);
        MPI_Comm_split(plan->comm, rank % plan->inner, rank, &r->outer);
    } else {
        r->outer = plan->comm;
    }
    return r;
}

void reduce_free(struct reduce *r)
{
    if (!r)
        return;
    if (r->inner != MPI_COMM_NULL) {
        MPI_Comm_free(&r->inner);
        MPI_Comm_free(&r->outer);
    }
    free(r->end);
    free(r->request);
    free(r);
}

static void bucket(const struct reduce *r, int i, float **data, int *n)
{
    size_t from = i ? r->end[i - 1] : 0;

    *data = r->gradient + from;
    *n = (int)(r->end[i] - from);
}

static void start(struct reduce *r, int i)
{
    float *data;
    int n;

    bucket(r, i, &data, &n);
    if (r->plan.overlap) {
        MPI_Iallreduce(MPI_IN_PLACE, data, n, MPI_FLOAT, MPI_SUM, r->plan.inner ? r->inner : r->outer,
                       &r->request[i]);
        return;
    }
    if (r->plan.inner)
        world_reduce(r->plan.world, data, n, MPI_FLOAT, MPI_SUM, r->inner);
    world_reduce(r->plan.world, data, n, MPI_FLOAT, MPI_SUM, r->outer);
}

void reduce_ready(void *arg, size_t front)
{
    struct reduce *r = arg;
    double t0 = clock_s();

    while (r->started < r->plan.buckets && r->end[r->started] <= front)
        start(r, r->started++);
    r->spent_s += clock_s() - t0;
}

void reduce_finish(struct reduce *r)
{
    double t0 = clock_s();

    for (int i = 0; r->plan.overlap && i < r->plan.buckets; i++) {
        float *data;
        int n;

        world_wait(r->plan.world, 1, &r->request[i]);
        if (!r->plan.inner)
            continue;
        bucket(r, i, &data, &n);
        MPI_Iallreduce(MPI_IN_PLACE, data, n, MPI_FLOAT, MPI_SUM, r->outer, &r->request[i]);
    }
    for (int i = 0; r->plan.overlap && r->plan.inner && i < r->plan.buckets; i++)
        world_wait(r->plan.world, 1, &r->request[i]);
    r->started = 0;
    r->spent_s += clock_s() - t0;
}

void reduce_sum(struct reduce *r, double *value, int n)
{
    double t0 = clock_s();

    world_reduce(r->plan.world, value, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    r->spent_s += clock_s() - t0;
}

double reduce_spent_s(struct reduce *r)
{
    double s = r->spent_s;

    r->spent_s = 0;
    return s;
}
