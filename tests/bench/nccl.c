/* nccl.c - what a callback of the NCCL plugin costs: a collective is enqueued (start and stop, each of which
 * reads the clock), beside two reads of that clock, in turns within one process.  A child drains the ring 20
 * times a second, as the agent does, and the program keeps below what fits between two drains.  The
 * descriptor is filled in outside of what is measured, but for its number: that is NCCL's work.
 *
 * Prints a JSON object: in ns, medians over batches, callback (half of start and stop), pair, clocks (two
 * reads); ratio, pair over clocks beside it, the median over batches; recorded and dropped, by the ring. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "ring/clock.h"
#include "ring/ring.h"
#include "tests/nccl/played.h"

enum { BATCH = 1000, ROUNDS = 360, FIT = 12 };

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

static double pair_ns(struct played *p, struct played_comm *c, union played_event *e)
{
    uint64_t from = ns();

    for (int i = 0; i < BATCH; i++) {
        void *handle = NULL;

        e->v4.coll.seq = c->seq[0]++;
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

static void drain(const char *path)
{
    static struct ring_event events[512];
    struct ring *r = ring_open(path, false);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (r) {
        while (ring_drain(r, events, 512) == 512)
            ;
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
    _exit(1);
}

int main(int argc, char **argv)
{
    static double pair[ROUNDS], clocks[ROUNDS], ratio[ROUNDS];
    struct played p;
    struct played_comm world = { .hash = 0x5ca1ab1e, .ranks = 4, .rank = 0 };
    union played_event e = { .room = { 0 } };
    const char *dir = getenv(RING_ENV_DIR);
    enum ring_clock clock = clock_choose();
    struct ring_counts counts;
    struct ring *r;
    char path[4096];
    pid_t child;

    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "4", 1);
    if (argc != 2 || !dir || !played_load(&p, argv[1], 4) || played_init(&p, &world) || !world.context) {
        fprintf(stderr, "usage: " RING_ENV_DIR "=DIR nccl PLUGIN\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/0.0.0.ring", dir);
    e.v4.type = NCCL_EVENT_COLL;
    e.v4.coll.func = "AllReduce";
    e.v4.coll.datatype = "ncclBfloat16";
    e.v4.coll.count = 1 << 20;
    e.v4.coll.channels = 8;
    child = fork();
    if (child == 0)
        drain(path);
    for (int i = 0; i < FIT; i++) /* warm up */
        pair_ns(&p, &world, &e);
    for (int i = 0; i < ROUNDS; i++) {
        if (i % FIT == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 120000000 }, NULL);
        pair[i] = pair_ns(&p, &world, &e);
        clocks[i] = clocks_ns(clock);
        ratio[i] = pair[i] / clocks[i];
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    r = ring_open(path, true);
    if (!r)
        return 1;
    ring_counts_get(r, &counts);
    printf(
        "{\"callback\": %.1f, \"pair\": %.1f, \"clocks\": %.1f, \"ratio\": %.3f, \"recorded\": %llu, \"dropped\": %llu}\n",
        median(pair, ROUNDS) / 2, median(pair, ROUNDS), median(clocks, ROUNDS), median(ratio, ROUNDS),
        (unsigned long long)counts.events, (unsigned long long)(counts.dropped + counts.missed));
    return 0;
}
