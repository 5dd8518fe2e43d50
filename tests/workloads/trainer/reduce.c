#include "tests/workloads/trainer/reduce.h"

#include <stdlib.h>
#include <time.h>

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

double clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (plan->inner) {
        MPI_Comm_split(MPI_COMM_WORLD, rank / plan->inner, rank, &r->inner);
        MPI_Comm_split(MPI_COMM_WORLD, rank % plan->inner, rank, &r->outer);
    } else {
        r->outer = MPI_COMM_WORLD;
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

/* A library that spins while it waits takes the core from the ranks that it waits for. */
static void await(const struct reduce *r, MPI_Request *request)
{
    const struct timespec nap = { 0, 50 * 1000 };
    int done = 0;

    if (!r->plan.gentle) {
        MPI_Wait(request, MPI_STATUS_IGNORE);
        return;
    }
    for (;;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&nap, NULL);
    }
}

static void sum(const struct reduce *r, void *data, int n, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Request request;

    if (!r->plan.gentle) {
        MPI_Allreduce(MPI_IN_PLACE, data, n, type, MPI_SUM, comm);
        return;
    }
    MPI_Iallreduce(MPI_IN_PLACE, data, n, type, MPI_SUM, comm, &request);
    await(r, &request);
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
        sum(r, data, n, MPI_FLOAT, r->inner);
    sum(r, data, n, MPI_FLOAT, r->outer);
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

        await(r, &r->request[i]);
        if (!r->plan.inner)
            continue;
        bucket(r, i, &data, &n);
        MPI_Iallreduce(MPI_IN_PLACE, data, n, MPI_FLOAT, MPI_SUM, r->outer, &r->request[i]);
    }
    for (int i = 0; r->plan.overlap && r->plan.inner && i < r->plan.buckets; i++)
        await(r, &r->request[i]);
    r->started = 0;
    r->spent_s += clock_s() - t0;
}

void reduce_sum(struct reduce *r, double *value, int n)
{
    double t0 = clock_s();

    sum(r, value, n, MPI_DOUBLE, MPI_COMM_WORLD);
    r->spent_s += clock_s() - t0;
}

double reduce_spent_s(struct reduce *r)
{
    double s = r->spent_s;

    r->spent_s = 0;
    return s;
}
