/* nccl.c - what a callback of the NCCL plugin costs: a collective is enqueued (start and stop, each of which
 * reads the clock), beside two reads of that clock, in turns within one process, by each version of the
 * interface.  A child drains the ring 20 times a second, as the agent does, and the program keeps below what
 * fits between two drains.  The descriptor is filled in outside of what is measured, but for its number: that
 * is NCCL's work.
 *
 * Prints a JSON object: in ns, medians over batches, callback (half of start and stop), pair, clocks (two
 * reads); ratio, pair over clocks beside it, the median over batches; each of the version in which it is
 * largest; versions, the callbacks of each from 1 on; recorded and dropped, by the ring. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "ring/clock.h"
#include "ring/ring.h"
#include "tests/nccl/played.h"

enum { VERSIONS = 7, BATCH = 1000, ROUNDS = 120, FIT = 12 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *of, size_t n)
{
    qsort(of, n, sizeof(*of), by_size);
    return of[n / 2];
}

static uint64_t ns(void)
{
    return clock_monotonic_ns();
}

/* An all-reduce of 2 MiB, in the version's descriptor.  Returns where its number goes. */
static uint64_t *describe(union played_event *e, int version, const struct played_comm *c)
{
    *e = (union played_event){ .room = { 0 } };
    if (version >= 5)
        e->v5.type = NCCL_EVENT_COLL;
    else
        e->v4.type = NCCL_EVENT_COLL;
    if (version == 1) {
        e->v1.coll.comm = c->hash;
        e->v1.coll.func = 4;
        e->v1.coll.datatype = 9;
        e->v1.coll.count = 1 << 20;
        return &e->v1.coll.seq;
    }
    if (version <= 3) {
        e->v2.coll.comm = c->hash;
        e->v2.coll.func = "AllReduce";
        e->v2.coll.datatype = "ncclBfloat16";
        e->v2.coll.count = 1 << 20;
        return &e->v2.coll.seq;
    }
    e->v4.coll.func = "AllReduce";
    e->v4.coll.datatype = "ncclBfloat16";
    e->v4.coll.count = 1 << 20;
    e->v4.coll.channels = 8;
    return &e->v4.coll.seq;
}

static double pair_ns(struct played *p, struct played_comm *c, union played_event *e, uint64_t *number)
{
    uint64_t from = ns();

    for (int i = 0; i < BATCH; i++) {
        void *handle = NULL;

        *number = c->seq[0]++;
        p->start(c->context, &handle, e);
        p->stop(handle);
    }
    return (double)(ns() - from) / BATCH;
}

static double clocks_ns(enum ring_clock clock)
{
    uint64_t from = ns(), sum = 0;

    for (int i = 0; i < BATCH; i++) {
        sum += clock_read(clock);
        __asm__ volatile("" : "+r"(sum));
        sum += clock_read(clock);
        __asm__ volatile("" : "+r"(sum));
    }
    return (double)(ns() - from) / BATCH;
}

__attribute__((noreturn)) static void drain(const char *path)
{
    static struct ring_event events[512];
    struct ring *r;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (!(r = ring_open(path, false))) /* until the first communicator is there */
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    for (;;) {
        while (ring_drain(r, events, 512) == 512)
            ;
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
}

struct cost {
    double pair, clocks, ratio;
};

static bool measure(struct cost *cost, const char *plugin, int version)
{
    static double pair[ROUNDS], clocks[ROUNDS], ratio[ROUNDS];
    /* a name of its own: two of one name would be two ranks of a communicator */
    struct played_comm world = { .hash = 0x5ca1ab1e + (uint64_t)version, .ranks = 4, .rank = 0 };
    enum ring_clock clock = clock_choose();
    union played_event e;
    uint64_t *number = describe(&e, version, &world);
    struct played p;

    if (!played_load(&p, plugin, version) || played_init(&p, &world) || !world.context)
        return false;
    for (int i = -FIT; i < ROUNDS; i++) { /* those below 0 warm up */
        if (i % FIT == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 120000000 }, NULL);
        if (i < 0) {
            pair_ns(&p, &world, &e, number);
            continue;
        }
        pair[i] = pair_ns(&p, &world, &e, number);
        clocks[i] = clocks_ns(clock);
        ratio[i] = pair[i] / clocks[i];
    }
    p.finalize(world.context);
    *cost = (struct cost){ median(pair, ROUNDS), median(clocks, ROUNDS), median(ratio, ROUNDS) };
    return true;
}

int main(int argc, char **argv)
{
    struct cost cost[VERSIONS], most = { 0 };
    const char *dir = getenv(RING_ENV_DIR);
    struct ring_counts counts;
    struct ring *r = NULL;
    char path[4096];
    pid_t child;

    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "4", 1);
    if (argc != 2 || !dir) {
        fprintf(stderr, "usage: " RING_ENV_DIR "=DIR nccl PLUGIN\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/0.0.0.ring", dir);
    child = fork();
    if (child == 0)
        drain(path);
    for (int version = 1; version <= VERSIONS; version++) {
        struct cost *c = &cost[version - 1];

        if (!measure(c, argv[1], version)) {
            fprintf(stderr, "nccl: %s has no version %d that records\n", argv[1], version);
            kill(child, SIGKILL);
            return 2;
        }
        most.pair = c->pair > most.pair ? c->pair : most.pair;
        most.clocks = c->clocks > most.clocks ? c->clocks : most.clocks;
        most.ratio = c->ratio > most.ratio ? c->ratio : most.ratio;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    r = ring_open(path, true);
    if (!r)
        return 1;
    ring_counts_get(r, &counts);
    printf("{\"callback\": %.1f, \"pair\": %.1f, \"clocks\": %.1f, \"ratio\": %.3f, \"versions\": [",
           most.pair / 2, most.pair, most.clocks, most.ratio);
    for (int i = 0; i < VERSIONS; i++)
        printf("%s%.1f", i ? ", " : "", cost[i].pair / 2);
    printf("], \"recorded\": %llu, \"dropped\": %llu}\n", (unsigned long long)counts.events,
           (unsigned long long)(counts.dropped + counts.missed));
    return 0;
}
