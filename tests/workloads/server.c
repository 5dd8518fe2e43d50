/* server - gradient descent by parameter servers: workers read the parameters, compute and write updates, and
 * do not wait for one another.
 *
 * Ranks 0 to --servers - 1 hold a part of the parameters each; the others take them, compute the gradient of
 * a quadratic loss of curvature 1 there, and send what it changes, which a server adds to what it has by
 * then.  With --bound a server answers a worker only when it is at most that many updates ahead of the
 * slowest: 0 is a synchronous job.  The loss grows without end where the learning rate is above what the
 * staleness of the gradients allows.  Nothing in it knows that it may be guarded. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "tests/workloads/shared/arguments.h"
#include "tests/workloads/shared/device.h"
#include "tests/workloads/shared/random.h"
#include "tests/workloads/shared/world.h"

enum { UPDATE = 1, PARAMETERS, DONE }; /* tags */

struct options {
    int servers, parameters, bound, slow;
    int64_t updates;
    double seconds, device, factor, vary, rate;
    uint64_t seed;
    bool gentle;
};

#define AT(field) .offset = offsetof(struct options, field)

static const struct argument rows[] = {
    { "servers", "N", "ranks that hold the parameters; the others work", ARGUMENT_INT, AT(servers), 1, 1024 },
    { "parameters", "N", "of all servers", ARGUMENT_INT, AT(parameters), 1, 1 << 28 },
    { "updates", "N", "of each worker", ARGUMENT_WIDE, AT(updates), 1, 1e15 },
    { "seconds", "S", "for so long, instead of --updates", ARGUMENT_REAL, AT(seconds), 0, 1e9 },
    { "bound", "N", "updates that a worker may be ahead of the slowest (default: any number)", ARGUMENT_INT,
      AT(bound), 0, 1 << 20 },
    { "device", "S", "let an accelerator that is not there compute for S seconds an iteration", ARGUMENT_REAL,
      AT(device), 0, 3600 },
    { "vary", "R", "its time varies by this part of it, evenly", ARGUMENT_REAL, AT(vary), 0, 1 },
    { "slow", "K", "rank K works longer (default none)", ARGUMENT_INT, AT(slow), 0, 1 << 20 },
    { "factor", "F", "by this factor", ARGUMENT_REAL, AT(factor), 1, 1000 },
    { "rate", "R", "learning rate", ARGUMENT_REAL, AT(rate), 0, 100 },
    { "seed", "N", "of the parameters and of the noise", ARGUMENT_WIDE, AT(seed), 0, 9e15 },
    { "gentle", NULL, "sleep between looks while waiting for other ranks", ARGUMENT_FLAG, AT(gentle), 0, 1 },
    { 0 },
};

static const struct options defaults = { .servers = 1,
                                         .parameters = 65536,
                                         .updates = 200,
                                         .bound = -1,
                                         .slow = -1,
                                         .factor = 2,
                                         .rate = 0.01,
                                         .seed = 1 };

static const struct arguments arguments = {
    .program = "server",
    .usage = "[OPTION]...",
    .text =
        "Minimise a quadratic loss by gradient descent with parameter servers, whose workers do not wait for\n"
        "one another.  The result depends on their order.",
    .row = rows,
    .defaults = &defaults,
    .size = sizeof(defaults),
};

struct server {
    struct options options;
    struct world world;
    int workers;
    double *x; /* a server's part */
    int n;     /* of it */
};

static int begin_of(const struct server *s, int server)
{
    return (int)((int64_t)s->options.parameters * server / s->options.servers);
}

static void take(const struct server *s, void *data, int n, int from, int tag, MPI_Status *status)
{
    const struct world *w = &s->world;
    MPI_Request request;

    if (!w->gentle) {
        MPI_Recv(data, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, status);
        return;
    }
    /* Whose it is must be known: the wait of the others' workloads does not tell. */
    MPI_Irecv(data, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, &request);
    for (int done = 0; !done;) {
        MPI_Test(&request, &done, status);
        if (!done)
            device_wait(&(struct device){ 50e-6, NULL }, clock_s());
    }
}

/* ---- a server ---- */

static int64_t least_of(const int64_t *v, const bool *ended, int n)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < n; i++)
        if (!ended[i] && v[i] < least)
            least = v[i];
    return least;
}

/* Whoever is not too far ahead goes on. */
static void answer(struct server *s, const int64_t *written, bool *waits, const bool *ended)
{
    int64_t least = least_of(written, ended, s->workers);

    for (int i = 0; i < s->workers; i++) {
        if (!waits[i] || (s->options.bound >= 0 && written[i] > least + s->options.bound))
            continue;
        waits[i] = false;
        MPI_Send(s->x, s->n, MPI_DOUBLE, s->options.servers + i, PARAMETERS, MPI_COMM_WORLD);
    }
}

static void serve(struct server *s)
{
    int64_t *written = xcalloc((size_t)s->workers, sizeof(*written));
    bool *waits = xcalloc((size_t)s->workers, sizeof(*waits)),
         *ended = xcalloc((size_t)s->workers, sizeof(*ended));
    double *change = xcalloc((size_t)s->n, sizeof(*change)), loss = 0;

    for (int left = s->workers; left;) {
        MPI_Status status;
        int worker;

        take(s, change, s->n, MPI_ANY_SOURCE, MPI_ANY_TAG, &status);
        worker = status.MPI_SOURCE - s->options.servers;
        if (status.MPI_TAG == DONE) {
            ended[worker] = true;
            left--;
        } else {
            for (int i = 0; i < s->n; i++)
                s->x[i] += change[i];
            written[worker]++;
            waits[worker] = true;
        }
        answer(s, written, waits, ended);
    }
    for (int i = 0; i < s->n; i++)
        loss += s->x[i] * s->x[i] / 2;
    if (s->world.rank == 0)
        printf("result: loss %.3g of %d parameters\n", loss, s->n);
    free(written);
    free(waits);
    free(ended);
    free(change);
}

/* ---- a worker ---- */

/* The gradient is the parameter itself, and some noise. */
static void compute(const struct server *s, const double *x, double *change, int64_t update)
{
    const struct options *o = &s->options;
    double noise = random_unit(o->seed, 2 + (uint64_t)s->world.rank, (uint64_t)update) - 0.5;
    double factor = (1 + o->vary * 2 * noise) * (s->world.rank == o->slow ? o->factor : 1);

    for (int i = 0; i < o->parameters; i++)
        change[i] = -o->rate * x[i];
    device_wait(&(struct device){ o->device * factor, NULL }, clock_s());
}

static bool goes_on(const struct options *o, int64_t update, double begun_s)
{
    return o->seconds > 0 ? clock_s() < begun_s + o->seconds : update < o->updates;
}

static void work(struct server *s)
{
    size_t n = (size_t)s->options.parameters;
    double *x = xcalloc(n, sizeof(*x)), *change = xcalloc(n, sizeof(*change)); /* 0 at first */
    MPI_Request *sent = xcalloc((size_t)s->options.servers, sizeof(*sent));
    double begun_s = clock_s();

    for (int64_t update = 0; goes_on(&s->options, update, begun_s); update++) {
        /* A server that answers another worker takes nothing meanwhile. */
        for (int i = 0; i < s->options.servers; i++)
            MPI_Isend(change + begin_of(s, i), begin_of(s, i + 1) - begin_of(s, i), MPI_DOUBLE, i, UPDATE,
                      MPI_COMM_WORLD, &sent[i]);
        for (int i = 0; i < s->options.servers; i++)
            take(s, x + begin_of(s, i), begin_of(s, i + 1) - begin_of(s, i), i, PARAMETERS,
                 MPI_STATUS_IGNORE);
        world_wait(&s->world, s->options.servers, sent);
        compute(s, x, change, update);
    }
    for (int i = 0; i < s->options.servers; i++)
        MPI_Send(NULL, 0, MPI_DOUBLE, i, DONE, MPI_COMM_WORLD);
    free(x);
    free(change);
    free(sent);
}

static int set_up(struct server *s)
{
    const struct options *o = &s->options;
    struct err err;
    int rc = 0;

    s->workers = s->world.ranks - o->servers;
    if (s->workers < 1)
        rc = err_set(&err, "--servers %d: no rank is left to work", o->servers);
    else if (o->parameters < o->servers)
        rc = err_set(&err, "--parameters %d: fewer than servers", o->parameters);
    if (world_agree(&s->world, rc, &err) < 0)
        return -1;
    if (s->world.rank >= o->servers)
        return 0;
    s->n = begin_of(s, s->world.rank + 1) - begin_of(s, s->world.rank);
    s->x = xcalloc((size_t)s->n, sizeof(*s->x));
    for (int i = 0; i < s->n; i++)
        s->x[i] = random_unit(o->seed, 1, (uint64_t)(begin_of(s, s->world.rank) + i));
    return 0;
}

int main(int argc, char **argv)
{
    struct server s = { 0 };
    int rc = arguments_start(&arguments, &s.options, argc, argv);

    if (rc != ARGUMENTS_GO_ON)
        return rc;
    s.world = world_start("server", s.options.gentle, MPI_THREAD_SINGLE);
    rc = set_up(&s) < 0;
    if (!rc && s.world.rank < s.options.servers)
        serve(&s);
    else if (!rc)
        work(&s);
    free(s.x);
    MPI_Finalize();
    return rc;
}
