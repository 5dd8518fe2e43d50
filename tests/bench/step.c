/* step.c - what recording costs a job's step, within one run: blocks of steps with and without it, in turns.
 *
 *   srun --sync-guard step [--pairs N] [--within PERCENT] [--seconds N] [--steps N] [--work MS] [--reduces N]
 *                               [--same 1]
 *
 * On each node one rank maps the step's control page, which belongs to the job's user, and writes its field
 * `record` between two blocks, as only this program does: the agent sets it once, policies do not reach it,
 * and the probe reads it at each call anyway.  A block without recording spares the records, draining,
 * summing and sending them; what an idle agent costs, and passing the calls through, is in both.
 *
 * Two blocks are a pair; which of them comes first is drawn.  Blocks should last a second or more, many times
 * as long as the agent takes to drain a ring (40 ms); the first tenth of each is left out, for it may pay for
 * the block before. The job ends when the interval is within --within of the ratio on both sides (a rule that
 * looks at the width alone does not favour any result), or else after --pairs pairs or --seconds.
 *
 * Rank 0 prints one line of JSON: the ratio of mean step times, with recording over without, and its 95 %
 * interval, by signed ranks (paired_shift() of paired.h), for other programs disturb single blocks; the same
 * by Student's interval (mean_...); and the collectives of a rank while recording was on.
 *
 * With --same 1 both blocks of a pair record: the interval must contain 1 in 19 of 20 runs.  This checks the
 * method. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring/control_page.h"
#include "ring/ring.h"
#include "tests/bench/paired.h"

enum { WORDS = 4096, PAIRS_MIN = 20, PAIRS_MAX = 1000 };

static struct {
    int pairs, seconds, steps, reduces, same;
    double work_ms, within;
} o = { .pairs = 200, .seconds = 3600, .steps = 300, .reduces = 4, .work_ms = 4 };

static const struct {
    const char *name;
    int *value;
} numbers[] = { { "--pairs", &o.pairs },
                { "--seconds", &o.seconds },
                { "--steps", &o.steps },
                { "--reduces", &o.reduces },
                { "--same", &o.same } };

static struct control_page *page; /* NULL: another rank of the node has it */
static double send[WORDS], sum[WORDS];

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double burn(long turns)
{
    double x = 1.5;

    for (long i = 0; i < turns; i++)
        x = x * 1.0000001 + 1e-9;
    __asm__ volatile("" : : "x"(x));
    return x;
}

/* The turns that take o.work_ms here: the same work in each step, whatever disturbs it.  The shortest of
 * several tries, and the least of all ranks. */
static long turns_of_work(void)
{
    enum { TRY = 1000000 };
    double best_s = INFINITY, began_s, took_s;
    long turns, least;

    for (int i = 0; i < 20; i++) {
        began_s = now_s();
        burn(TRY);
        took_s = now_s() - began_s;
        best_s = took_s < best_s ? took_s : best_s;
    }
    turns = (long)(o.work_ms * 1e-3 / best_s * TRY);
    MPI_Allreduce(&turns, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
    return least;
}

static int options(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        bool known = false;

        for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
            if (!strcmp(argv[i], numbers[k].name)) {
                *numbers[k].value = atoi(argv[i + 1]);
                known = true;
            }
        if (!strcmp(argv[i], "--work"))
            o.work_ms = atof(argv[i + 1]);
        else if (!strcmp(argv[i], "--within"))
            o.within = atof(argv[i + 1]) / 100;
        else if (!known)
            return -1;
    }
    return argc % 2 && o.pairs > 0 && o.pairs <= PAIRS_MAX && o.seconds > 0 && o.steps >= 10 && o.reduces > 0
               ? 0
               : -1;
}

/* One rank a node: the page that its probes read. */
static int page_take(void)
{
    const char *dir = getenv(RING_ENV_DIR);
    MPI_Comm node;
    int rank, bad, any;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_free(&node);
    if (rank == 0 && dir)
        page = control_page_create(dir);
    bad = rank == 0 && !page;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return any ? -1 : 0;
}

/* Between two barriers: no rank is inside of a block, and all of them see the change. */
static void record(bool on)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (page)
        __atomic_store_n(&page->record, on, __ATOMIC_SEQ_CST);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Mean step time of a block. */
static double block_s(long turns)
{
    int skip = o.steps / 10;
    double began_s = 0;

    for (int step = 0; step < o.steps; step++) {
        if (step == skip)
            began_s = now_s();
        burn(turns);
        for (int i = 0; i < o.reduces; i++)
            MPI_Allreduce(send, sum, WORDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return (now_s() - began_s) / (o.steps - skip);
}

static void put(const char *key, double v)
{
    if (isfinite(v))
        printf(", \"%s\": %.5f", key, v);
    else
        printf(", \"%s\": null", key);
}

/* Rank 0 decides for all. */
static bool at_end(const double *log_ratio, int pairs, double began_s)
{
    struct paired p;
    int enough = pairs >= o.pairs || now_s() - began_s > o.seconds;

    if (!enough && pairs >= PAIRS_MIN && o.within > 0) {
        p = paired_shift(log_ratio, (size_t)pairs);
        enough = p.high / p.ratio - 1 <= o.within && 1 - p.low / p.ratio <= o.within;
    }
    MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return enough;
}

static void measure(int rank)
{
    static double log_ratio[PAIRS_MAX];
    double mean_s[2], all_s = 0, began_s = now_s();
    uint64_t state = 20260101; /* the same in all ranks */
    long turns = turns_of_work();
    struct paired ranked, mean;
    int n = 0;

    record(true);
    block_s(turns); /* libraries and agent warm up */
    do {
        bool first = deviate_uniform(&state) < 0.5;

        for (int k = 0; k < 2; k++) {
            bool on = k ? !first : first;

            record(on || o.same);
            mean_s[on] = block_s(turns);
        }
        log_ratio[n++] = log(mean_s[1] / mean_s[0]);
        all_s += mean_s[0];
    } while (!at_end(log_ratio, n, began_s));
    record(true);
    if (rank)
        return;
    ranked = paired_shift(log_ratio, (size_t)n);
    mean = paired_ratio(log_ratio, (size_t)n);
    printf("{\"pairs\": %d, \"step_s\": %.6f, \"recorded_calls\": %d", n, all_s / n,
           (n * (o.same ? 2 : 1) + 1) * o.steps * o.reduces);
    put("ratio", ranked.ratio);
    put("low", ranked.low);
    put("high", ranked.high);
    put("lag1", ranked.lag1);
    put("mean_ratio", mean.ratio);
    put("mean_low", mean.low);
    put("mean_high", mean.high);
    puts("}");
}

int main(int argc, char **argv)
{
    int rank, rc = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (options(argc, argv) < 0) {
        fprintf(stderr, "step: see the top of tests/bench/step.c for what it takes\n");
        rc = 2;
    } else if (page_take() < 0) {
        fprintf(stderr, "step: no control page: is it run with srun --sync-guard?\n");
        rc = 2;
    } else {
        measure(rank);
    }
    MPI_Finalize();
    return rc;
}
