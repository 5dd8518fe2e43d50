/* hook.c - what recording one call costs, a collective or one that passes messages: the time of a call on
 * MPI_COMM_SELF, where the library itself does next to nothing.  Row sendrecv is one call with two messages; row
 * nonblocking is the mean of three calls, Irecv, Send and Wait, with two messages: these calls need five reads of the clock
 * (when the receive was posted, and both ends of the two calls that can hold the rank), so what two reads a message take
 * would be 1.25 times as much if nothing else was done.  Run it with the probe preloaded
 * and SYNCGUARD_DIR set (tests/bench/hook.sh).
 *
 * Several ways to the same function, in turns within one process, so that a slow spell hits all: the
 * library's own, an empty wrapper, the probe, and a wrapper that does what mpiP does (mpip.h).  Beside them
 * two reads of the probe's clock, which no hook that knows when a call began and ended does without: a
 * counter may cost 10 ns or 25, so nanoseconds of two machines do not compare, but the ratio of the hook to
 * two reads does. A child drains the ring 20 times a second, as the agent does, and the program keeps below
 * what fits between two drains: a full ring would be cheaper.
 *
 * Prints a JSON object for each operation.  In ns: bare, empty_wrapper, probe, clocks, mpip (medians of
 * batches); p50 and mpip_p50, the medians over batches of what the probe and mpiP's method add to the bare
 * call; p999, the 99.9th percentile of single calls with the probe over the bare median; bare_p999, the same
 * of bare calls. ratio and mpip_ratio: medians over batches of what was added over two reads of the clock
 * beside it. */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring/clock.h"
#include "ring/ring.h"
#include "tests/bench/mpip.h"

enum { BATCH = 1000, ROUNDS = 600, SINGLES = 100000, FIT = 12000 };

/* The calling conventions of both operations are the same in all ways. */
typedef int (*barrier_fn)(MPI_Comm);
typedef int (*allreduce_fn)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int (*sendrecv_fn)(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
                           MPI_Comm, MPI_Status *);

struct nonblocking {
    int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*wait)(MPI_Request *, MPI_Status *);
};

static barrier_fn library_barrier;
static allreduce_fn library_allreduce;
static sendrecv_fn library_sendrecv;
static struct nonblocking library_nonblocking;

static int empty_barrier(MPI_Comm comm)
{
    return library_barrier(comm);
}

static int empty_allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    return library_allreduce(in, out, n, type, op, comm);
}

static int mpip_barrier(MPI_Comm comm)
{
    double start_us = mpip_enter();
    int rc = library_barrier(comm);

    mpip_leave(1, start_us, -1, MPI_DATATYPE_NULL);
    return rc;
}

static int mpip_allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    double start_us = mpip_enter();
    int rc = library_allreduce(in, out, n, type, op, comm);

    mpip_leave(2, start_us, n, type);
    return rc;
}

static int empty_sendrecv(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int rn,
                          MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Status *status)
{
    return library_sendrecv(out, n, type, to, tag, in, rn, rtype, from, rtag, comm, status);
}

static int mpip_sendrecv(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int rn,
                         MPI_Datatype rtype, int from, int rtag, MPI_Comm comm, MPI_Status *status)
{
    double start_us = mpip_enter();
    int rc = library_sendrecv(out, n, type, to, tag, in, rn, rtype, from, rtag, comm, status);

    mpip_leave(3, start_us, n, type);
    return rc;
}

static int empty_irecv(void *in, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                       MPI_Request *request)
{
    return library_nonblocking.irecv(in, n, type, from, tag, comm, request);
}

static int empty_send(const void *out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    return library_nonblocking.send(out, n, type, to, tag, comm);
}

static int empty_wait(MPI_Request *request, MPI_Status *status)
{
    return library_nonblocking.wait(request, status);
}

static int mpip_irecv(void *in, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    double start_us = mpip_enter();
    int rc = library_nonblocking.irecv(in, n, type, from, tag, comm, request);

    mpip_leave(4, start_us, n, type);
    return rc;
}

static int mpip_send(const void *out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    double start_us = mpip_enter();
    int rc = library_nonblocking.send(out, n, type, to, tag, comm);

    mpip_leave(5, start_us, n, type);
    return rc;
}

static int mpip_wait(MPI_Request *request, MPI_Status *status)
{
    double start_us = mpip_enter();
    int rc = library_nonblocking.wait(request, status);

    mpip_leave(6, start_us, -1, MPI_DATATYPE_NULL);
    return rc;
}

static void call_barrier(void *f)
{
    ((barrier_fn)f)(MPI_COMM_SELF);
}

static void call_allreduce(void *f)
{
    static double in = 1, out;

    ((allreduce_fn)f)(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void call_sendrecv(void *f)
{
    static double out = 1, in;

    ((sendrecv_fn)f)(&out, 1, MPI_DOUBLE, 0, 5, &in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void call_nonblocking(void *f)
{
    static double out = 1, in;
    const struct nonblocking *way = f;
    MPI_Request request;

    way->irecv(&in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &request);
    way->send(&out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF);
    way->wait(&request, MPI_STATUS_IGNORE);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double quantile(double *v, size_t n, double q)
{
    qsort(v, n, sizeof(*v), by_value);
    return v[(size_t)(q * (double)(n - 1))];
}

/* ---- the reader ---- */

static void drain_forever(const char *dir)
{
    static struct ring_event events[RING_CAPACITY_MAIN];
    char path[4096];
    struct ring *r = NULL;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(path, sizeof(path), "%s/0.0.0.ring", dir);
    for (;;) {
        if (!r)
            r = ring_open(path, false);
        if (r)
            ring_drain(r, events, RING_CAPACITY_MAIN);
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
}

/* Spend so many events; when the ring might be full, wait until the reader came by. */
static void spend(int events)
{
    static int spent;

    spent += events;
    if (spent <= FIT)
        return;
    nanosleep(&(struct timespec){ .tv_nsec = 120000000 }, NULL);
    spent = events;
}

/* ---- measuring ---- */

static double ns_per_tick;
static enum ring_clock kind; /* the probe's clock */

/* The MPI calls and the events of one call of a row. */
struct row {
    const char *name;
    void (*call)(void *);
    int calls, events;
};

static double batch_ns(const struct row *row, void (*call)(void *), void *f)
{
    int n = BATCH / row->events;
    uint64_t t0 = clock_counter();

    for (int i = 0; i < n; i++)
        call(f);
    return (double)(clock_counter() - t0) * ns_per_tick / n;
}

static double single_ns(const struct row *row, void *f)
{
    uint64_t t0 = clock_counter();

    row->call(f);
    return (double)(clock_counter() - t0) * ns_per_tick / row->calls;
}

/* What it does is an empty call: the loop around the other ways makes one too. */
__attribute__((noinline)) static void read_twice(void *unused)
{
    uint64_t enter = clock_read(kind), leave;

    __asm__ volatile("" : : "r"(enter), "r"(unused));
    leave = clock_read(kind);
    __asm__ volatile("" : : "r"(leave));
}

static void measure(const struct row *row, void *bare, void *empty, void *probe, void *mpip)
{
    static double b[ROUNDS], e[ROUNDS], p[ROUNDS], m[ROUNDS], c[ROUNDS], sb[SINGLES], sp[SINGLES];
    static double extra[ROUNDS], ratio[ROUNDS], mpip_extra[ROUNDS], mpip_ratio[ROUNDS];
    double bare_median;

    for (int i = 0; i < ROUNDS; i++) {
        spend(BATCH);
        b[i] = batch_ns(row, row->call, bare) / row->calls;
        e[i] = batch_ns(row, row->call, empty) / row->calls;
        p[i] = batch_ns(row, row->call, probe) / row->calls;
        c[i] = batch_ns(row, read_twice, NULL);
        m[i] = batch_ns(row, row->call, mpip) / row->calls;
        extra[i] = p[i] - b[i];
        ratio[i] = extra[i] / c[i];
        mpip_extra[i] = m[i] - b[i];
        mpip_ratio[i] = mpip_extra[i] / c[i];
    }
    for (int i = 0; i < SINGLES; i++) {
        spend(row->events);
        sb[i] = single_ns(row, bare);
        sp[i] = single_ns(row, probe);
    }
    bare_median = quantile(sb, SINGLES, 0.5);
    printf("{\"op\": \"%s\", \"bare\": %.2f, \"empty_wrapper\": %.2f, \"probe\": %.2f, \"clocks\": %.2f, "
           "\"mpip\": %.2f, \"p50\": %.2f, \"mpip_p50\": %.2f, \"p999\": %.2f, \"bare_p999\": %.2f, "
           "\"ratio\": %.3f, \"mpip_ratio\": %.3f}\n",
           row->name, quantile(b, ROUNDS, 0.5), quantile(e, ROUNDS, 0.5), quantile(p, ROUNDS, 0.5),
           quantile(c, ROUNDS, 0.5), quantile(m, ROUNDS, 0.5), quantile(extra, ROUNDS, 0.5),
           quantile(mpip_extra, ROUNDS, 0.5), quantile(sp, SINGLES, 0.999) - bare_median,
           quantile(sb, SINGLES, 0.999) - bare_median, quantile(ratio, ROUNDS, 0.5),
           quantile(mpip_ratio, ROUNDS, 0.5));
}

static void *behind_the_probe(const char *library, const char *name)
{
    void *object = dlopen(library, RTLD_LAZY | RTLD_NOLOAD), *at = object ? dlsym(object, name) : NULL;

    if (!at) {
        fprintf(stderr, "hook: %s in %s: not found\n", name, library);
        exit(2);
    }
    return at;
}

static void measure_all(const char *library)
{
    static const struct row barrier = { "barrier", call_barrier, 1, 1 },
                            allreduce = { "allreduce", call_allreduce, 1, 1 },
                            sendrecv = { "sendrecv", call_sendrecv, 1, 2 },
                            nonblocking = { "nonblocking", call_nonblocking, 3, 2 };
    struct nonblocking empty = { empty_irecv, empty_send, empty_wait }, probe,
                       mpip = { mpip_irecv, mpip_send, mpip_wait };

    library_barrier = (barrier_fn)behind_the_probe(library, "MPI_Barrier");
    library_allreduce = (allreduce_fn)behind_the_probe(library, "MPI_Allreduce");
    library_sendrecv = (sendrecv_fn)behind_the_probe(library, "MPI_Sendrecv");
    *(void **)&library_nonblocking.irecv = behind_the_probe(library, "MPI_Irecv");
    *(void **)&library_nonblocking.send = behind_the_probe(library, "MPI_Send");
    *(void **)&library_nonblocking.wait = behind_the_probe(library, "MPI_Wait");
    *(void **)&probe.irecv = dlsym(RTLD_DEFAULT, "MPI_Irecv");
    *(void **)&probe.send = dlsym(RTLD_DEFAULT, "MPI_Send");
    *(void **)&probe.wait = dlsym(RTLD_DEFAULT, "MPI_Wait");
    measure(&barrier, (void *)library_barrier, (void *)empty_barrier, dlsym(RTLD_DEFAULT, "MPI_Barrier"),
            (void *)mpip_barrier);
    measure(&allreduce, (void *)library_allreduce, (void *)empty_allreduce,
            dlsym(RTLD_DEFAULT, "MPI_Allreduce"), (void *)mpip_allreduce);
    measure(&sendrecv, (void *)library_sendrecv, (void *)empty_sendrecv, dlsym(RTLD_DEFAULT, "MPI_Sendrecv"),
            (void *)mpip_sendrecv);
    measure(&nonblocking, &library_nonblocking, &empty, &probe, &mpip);
}

int main(int argc, char **argv)
{
    const char *dir = getenv(RING_ENV_DIR);
    struct ring_clock_map map;
    pid_t reader;

    if (argc != 2 || !dir) {
        fprintf(stderr, "usage: %s=DIRECTORY LD_PRELOAD=PROBE hook LIBRARY.so\n", RING_ENV_DIR);
        return 2;
    }
    unsetenv("LD_PRELOAD"); /* the library's own helpers */
    ring_clock_start(&map);
    reader = fork();
    if (reader == 0)
        drain_forever(dir);
    MPI_Init(NULL, NULL);
    while (!ring_clock_ready(&map))
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    ns_per_tick = map.ns_per_tick;
    kind = clock_choose();
    measure_all(argv[1]);
    MPI_Finalize();
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    return 0;
}
