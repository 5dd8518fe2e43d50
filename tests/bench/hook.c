/* hook.c - what recording one call costs, a collective or one that passes messages, on MPI_COMM_SELF, where
 * the library itself does next to nothing.  A row that passes messages is a pattern of calls, and its figures
 * are those of the pattern over the number of its calls: Irecv, Isend and two Waits are four calls, so they
 * are compared with eight reads of the clock.  MPI_Sendrecv counts as the two calls that it stands for.  Run
 * it with the probe preloaded and SYNCGUARD_DIR set (tests/bench/hook.sh).
 *
 * Several ways to the same function, in turns within one process, so that a slow spell hits all: the
 * library's own, an empty wrapper, the probe, and a wrapper that does what mpiP does (mpip.h).  Beside them
 * two reads of the probe's clock, which no hook that knows when a call began and ended does without: a
 * counter may cost 10 ns or 25, so nanoseconds of two machines do not compare, but the ratio of the hook to
 * two reads does.  A child drains the ring 20 times a second, as the agent does, and the program keeps below
 * what fits between two drains: a full ring would be cheaper.
 *
 * Prints a JSON object for each row.  calls: what the figures are divided by.  In ns: bare, empty_wrapper,
 * probe, clocks, mpip (medians of batches); p50 and mpip_p50, the medians over batches of what the probe and
 * mpiP's method add to the bare call; p999, the 99.9th percentile of single calls with the probe over the
 * bare median; bare_p999, the same of bare calls. ratio and mpip_ratio: medians over batches of what was
 * added over two reads of the clock beside it.
 *
 * The rows with "requests" are calls on many requests at once, which libraries look at one by one: bare and
 * probe are in us a call, medians of rounds, and times the median of the latter over the former. */
/* What a call costs in the slowest rows (Irecv Send Wait, Isend Recv Wait, Waitall: 21 to 24 ns), found by
 * leaving pieces of the probe out, in turns, three runs each.  Reading the clock: 9 to 15 ns, because a read
 * stops the processor for 8 to 9 ns, and these calls make 10 reads in 9 calls (Waitall) or 5 in 3. Numbering:
 * 1 to 3 ns.  A status that the program ignores: up to 1.5 ns.  The words of the event: up to 1 ns.  The sums
 * of calls, bytes and time: up to 1 ns.  The rest, 4 to 10 ns, is finding out whether and what to record, the
 * table of requests and the call itself; Waitall has the most of it.  A receive could share the clock's
 * reading with the receive posted before it, which saves 2.5 ns a call in Waitall; but work between the two
 * would then be counted after both, and a sender that waits for the second would seem to wait for something
 * else. Processes differ: Waitall with Open MPI had medians of 1.49, 1.54 and 1.82 in three runs of
 * tests/bench/hook. */
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

enum { BATCH = 1000, ROUNDS = 300, SINGLES = 50000, FIT = 12000, SEVERAL = 4, MANY = 4000, MANY_ROUNDS = 7 };

/* The MPI functions that are measured: the library's own, or another way to them. */
struct functions {
    int (*Barrier)(MPI_Comm);
    int (*Allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    int (*Sendrecv)(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                    MPI_Status *);
    int (*Send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*Recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
    int (*Isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*Irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*Start)(MPI_Request *);
    int (*Wait)(MPI_Request *, MPI_Status *);
    int (*Waitall)(int, MPI_Request *, MPI_Status *);
    int (*Test)(MPI_Request *, int *, MPI_Status *);
    int (*Waitsome)(int, MPI_Request *, int *, int *, MPI_Status *);
    int (*Testany)(int, MPI_Request *, int *, int *, MPI_Status *);
};

static struct functions library;

/* An empty wrapper, and one that does what mpiP does.  n < 0: the call has no datatype. */
#define WRAPPERS(name, op, n, type, params, args) \
    static int empty_##name params                \
    {                                             \
        return library.name args;                 \
    }                                             \
    static int mpip_##name params                 \
    {                                             \
        double start_us = mpip_enter();           \
        int rc = library.name args;               \
                                                  \
        mpip_leave(op, start_us, n, type);        \
        return rc;                                \
    }

WRAPPERS(Barrier, 1, -1, MPI_DATATYPE_NULL, (MPI_Comm comm), (comm))
WRAPPERS(Allreduce, 2, n, type,
         (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
         (in, out, n, type, op, comm))
WRAPPERS(Sendrecv, 3, n, type,
         (const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int rn, MPI_Datatype rtype,
          int from, int rtag, MPI_Comm comm, MPI_Status *status),
         (out, n, type, to, tag, in, rn, rtype, from, rtag, comm, status))
WRAPPERS(Send, 4, n, type, (const void *out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
         (out, n, type, to, tag, comm))
WRAPPERS(Recv, 5, n, type,
         (void *in, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
         (in, n, type, from, tag, comm, status))
WRAPPERS(Isend, 6, n, type,
         (const void *out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request),
         (out, n, type, to, tag, comm, request))
WRAPPERS(Irecv, 7, n, type,
         (void *in, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request *request),
         (in, n, type, from, tag, comm, request))
WRAPPERS(Start, 8, -1, MPI_DATATYPE_NULL, (MPI_Request * request), (request))
WRAPPERS(Wait, 9, -1, MPI_DATATYPE_NULL, (MPI_Request * request, MPI_Status *status), (request, status))
WRAPPERS(Waitall, 10, -1, MPI_DATATYPE_NULL, (int n, MPI_Request *requests, MPI_Status *statuses),
         (n, requests, statuses))
WRAPPERS(Test, 11, -1, MPI_DATATYPE_NULL, (MPI_Request * request, int *flag, MPI_Status *status),
         (request, flag, status))
WRAPPERS(Waitsome, 12, -1, MPI_DATATYPE_NULL,
         (int n, MPI_Request *requests, int *done, int *at, MPI_Status *statuses),
         (n, requests, done, at, statuses))
WRAPPERS(Testany, 13, -1, MPI_DATATYPE_NULL,
         (int n, MPI_Request *requests, int *at, int *flag, MPI_Status *status),
         (n, requests, at, flag, status))

#define EACH(DO)  \
    DO(Barrier)   \
    DO(Allreduce) \
    DO(Sendrecv)  \
    DO(Send) DO(Recv) DO(Isend) DO(Irecv) DO(Start) DO(Wait) DO(Waitall) DO(Test) DO(Waitsome) DO(Testany)
#define EMPTY(name) .name = empty_##name,
#define MPIP(name)  .name = mpip_##name,
static const struct functions empty = { EACH(EMPTY) }, mpip = { EACH(MPIP) };
static struct functions probe;

/* ---- what the rows measure ---- */

static double in[SEVERAL] = { 1 }, out[SEVERAL] = { 1 };
static MPI_Request persistent[2];

static void call_barrier(const struct functions *f)
{
    f->Barrier(MPI_COMM_SELF);
}

static void call_allreduce(const struct functions *f)
{
    f->Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void call_sendrecv(const struct functions *f)
{
    f->Sendrecv(out, 1, MPI_DOUBLE, 0, 5, in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void call_irecv_send_wait(const struct functions *f)
{
    MPI_Request request;

    f->Irecv(in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &request);
    f->Send(out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF);
    f->Wait(&request, MPI_STATUS_IGNORE);
}

static void call_isend_recv_wait(const struct functions *f)
{
    MPI_Request request;

    f->Isend(out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &request);
    f->Recv(in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    f->Wait(&request, MPI_STATUS_IGNORE);
}

static void call_isend_irecv_wait_wait(const struct functions *f)
{
    MPI_Request sent, received;

    f->Irecv(in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &received);
    f->Isend(out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &sent);
    f->Wait(&received, MPI_STATUS_IGNORE);
    f->Wait(&sent, MPI_STATUS_IGNORE);
}

static void call_waitall(const struct functions *f)
{
    MPI_Request requests[2 * SEVERAL];

    for (int i = 0; i < SEVERAL; i++)
        f->Irecv(in + i, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, requests + i);
    for (int i = 0; i < SEVERAL; i++)
        f->Isend(out + i, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, requests + SEVERAL + i);
    f->Waitall(2 * SEVERAL, requests, MPI_STATUSES_IGNORE);
}

/* Three tests find the message incomplete, one complete. */
static void call_test(const struct functions *f)
{
    MPI_Request request;
    int done = 0;

    f->Irecv(in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &request);
    for (int i = 0; i < 3; i++)
        f->Test(&request, &done, MPI_STATUS_IGNORE);
    f->Send(out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF);
    do {
        f->Test(&request, &done, MPI_STATUS_IGNORE);
    } while (!done);
}

static void call_persistent(const struct functions *f)
{
    f->Start(persistent);
    f->Start(persistent + 1);
    f->Wait(persistent, MPI_STATUS_IGNORE);
    f->Wait(persistent + 1, MPI_STATUS_IGNORE);
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

/* calls: what the row's time is divided by; events: those that its calls record. */
struct row {
    const char *name;
    void (*call)(const struct functions *);
    int calls, events;
};

static double batch_ns(const struct row *row, void (*call)(const struct functions *),
                       const struct functions *f)
{
    int n = BATCH / row->events;
    uint64_t t0 = clock_counter();

    for (int i = 0; i < n; i++)
        call(f);
    return (double)(clock_counter() - t0) * ns_per_tick / n;
}

static double single_ns(const struct row *row, const struct functions *f)
{
    uint64_t t0 = clock_counter();

    row->call(f);
    return (double)(clock_counter() - t0) * ns_per_tick / row->calls;
}

/* What it does is an empty call: the loop around the other ways makes one too. */
__attribute__((noinline)) static void read_twice(const struct functions *unused)
{
    uint64_t enter = clock_read(kind), leave;

    __asm__ volatile("" : : "r"(enter), "r"(unused));
    leave = clock_read(kind);
    __asm__ volatile("" : : "r"(leave));
}

static void measure(const struct row *row)
{
    static double b[ROUNDS], e[ROUNDS], p[ROUNDS], m[ROUNDS], c[ROUNDS], sb[SINGLES], sp[SINGLES];
    static double extra[ROUNDS], ratio[ROUNDS], mpip_extra[ROUNDS], mpip_ratio[ROUNDS];
    double bare_median;

    for (int i = 0; i < ROUNDS; i++) {
        spend(BATCH);
        b[i] = batch_ns(row, row->call, &library) / row->calls;
        e[i] = batch_ns(row, row->call, &empty) / row->calls;
        p[i] = batch_ns(row, row->call, &probe) / row->calls;
        c[i] = batch_ns(row, read_twice, NULL);
        m[i] = batch_ns(row, row->call, &mpip) / row->calls;
        extra[i] = p[i] - b[i];
        ratio[i] = extra[i] / c[i];
        mpip_extra[i] = m[i] - b[i];
        mpip_ratio[i] = mpip_extra[i] / c[i];
    }
    for (int i = 0; i < SINGLES; i++) {
        spend(row->events);
        sb[i] = single_ns(row, &library);
        sp[i] = single_ns(row, &probe);
    }
    bare_median = quantile(sb, SINGLES, 0.5);
    printf(
        "{\"op\": \"%s\", \"calls\": %d, \"bare\": %.2f, \"empty_wrapper\": %.2f, \"probe\": %.2f, \"clocks\": %.2f, "
        "\"mpip\": %.2f, \"p50\": %.2f, \"mpip_p50\": %.2f, \"p999\": %.2f, \"bare_p999\": %.2f, "
        "\"ratio\": %.3f, \"mpip_ratio\": %.3f}\n",
        row->name, row->calls, quantile(b, ROUNDS, 0.5), quantile(e, ROUNDS, 0.5), quantile(p, ROUNDS, 0.5),
        quantile(c, ROUNDS, 0.5), quantile(m, ROUNDS, 0.5), quantile(extra, ROUNDS, 0.5),
        quantile(mpip_extra, ROUNDS, 0.5), quantile(sp, SINGLES, 0.999) - bare_median,
        quantile(sb, SINGLES, 0.999) - bare_median, quantile(ratio, ROUNDS, 0.5),
        quantile(mpip_ratio, ROUNDS, 0.5));
}

/* ---- many requests ---- */

static int received[MANY];
static MPI_Request requests[MANY];

static void post(const struct functions *f, int n)
{
    for (int i = 0; i < n; i++)
        f->Irecv(&received[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
}

static void answer(int i)
{
    library.Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
}

/* Each call completes one of them, in an order that jumps. */
static double waitsome_us(const struct functions *f, int n)
{
    static int at[MANY];
    uint64_t ticks = 0;
    int done;

    post(f, n);
    for (int i = 0; i < n; i++) {
        uint64_t t0;

        answer((int)((i * 2731L) % n));
        t0 = clock_counter();
        f->Waitsome(n, requests, &done, at, MPI_STATUSES_IGNORE);
        ticks += clock_counter() - t0;
    }
    return (double)ticks * ns_per_tick / n / 1e3;
}

/* None of them completes. */
static double testany_us(const struct functions *f, int n)
{
    uint64_t t0, ticks;
    int at, flag;

    post(f, n);
    t0 = clock_counter();
    for (int i = 0; i < n; i++)
        f->Testany(n, requests, &at, &flag, MPI_STATUS_IGNORE);
    ticks = clock_counter() - t0;
    for (int i = 0; i < n; i++)
        answer(i);
    f->Waitall(n, requests, MPI_STATUSES_IGNORE);
    return (double)ticks * ns_per_tick / n / 1e3;
}

static const struct many {
    const char *name;
    double (*call_us)(const struct functions *, int);
    int n;
} many[] = {
    { "Waitsome", waitsome_us, 250 },
    { "Waitsome", waitsome_us, MANY },
    { "Testany", testany_us, 250 },
    { "Testany", testany_us, 1000 },
};

static void measure_many(const struct many *row)
{
    double b[MANY_ROUNDS], p[MANY_ROUNDS], times[MANY_ROUNDS];

    for (int i = 0; i < MANY_ROUNDS; i++) {
        b[i] = row->call_us(&library, row->n);
        spend(row->n);
        p[i] = row->call_us(&probe, row->n);
        times[i] = p[i] / b[i];
    }
    printf("{\"op\": \"%s\", \"requests\": %d, \"bare\": %.3f, \"probe\": %.3f, \"times\": %.3f}\n",
           row->name, row->n, quantile(b, MANY_ROUNDS, 0.5), quantile(p, MANY_ROUNDS, 0.5),
           quantile(times, MANY_ROUNDS, 0.5));
}

static void *behind_the_probe(const char *object_name, const char *name)
{
    void *object = dlopen(object_name, RTLD_LAZY | RTLD_NOLOAD), *at = object ? dlsym(object, name) : NULL;

    if (!at) {
        fprintf(stderr, "hook: %s in %s: not found\n", name, object_name);
        exit(2);
    }
    return at;
}

static const struct row rows[] = {
    { "Barrier", call_barrier, 1, 1 },
    { "Allreduce", call_allreduce, 1, 1 },
    { "Sendrecv", call_sendrecv, 2, 2 }, /* it stands for two */
    { "Irecv Send Wait", call_irecv_send_wait, 3, 2 },
    { "Isend Recv Wait", call_isend_recv_wait, 3, 2 },
    { "Irecv Isend Wait Wait", call_isend_irecv_wait_wait, 4, 2 },
    { "4 Irecv 4 Isend Waitall", call_waitall, 2 * SEVERAL + 1, 2 * SEVERAL },
    { "Irecv 3 Test Send Test", call_test, 6, 2 },
    { "2 Start 2 Wait", call_persistent, 4, 2 },
};

/* only: the row's name; NULL: all. */
static void measure_all(const char *object, const char *only)
{
#define FIND(name)                                                    \
    *(void **)&library.name = behind_the_probe(object, "MPI_" #name); \
    *(void **)&probe.name = dlsym(RTLD_DEFAULT, "MPI_" #name);
    EACH(FIND)
    MPI_Recv_init(in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &persistent[0]);
    MPI_Send_init(out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &persistent[1]);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (!only || !strcmp(only, rows[i].name))
            measure(&rows[i]);
    for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
        if (!only || !strcmp(only, many[i].name))
            measure_many(&many[i]);
    MPI_Request_free(&persistent[0]);
    MPI_Request_free(&persistent[1]);
}

int main(int argc, char **argv)
{
    const char *dir = getenv(RING_ENV_DIR);
    struct ring_clock_map map;
    pid_t reader;

    if (argc < 2 || argc > 3 || !dir) {
        fprintf(stderr, "usage: %s=DIRECTORY LD_PRELOAD=PROBE hook LIBRARY.so [ROW]\n", RING_ENV_DIR);
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
    measure_all(argv[1], argv[2]);
    MPI_Finalize();
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    return 0;
}
