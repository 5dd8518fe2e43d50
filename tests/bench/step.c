/* step.c - what recording costs a job's step, within one run: blocks of steps with and without it, in turns.
 *
 *   srun --sync-guard step [--pairs N] [--steps N] [--work MS] [--reduces N]
 *
 * On each node one rank maps the step's control page, which belongs to the job's user, and writes its field
 * `record` between two blocks, as only this program does: the agent sets it once, policies do not reach it, and the
 * probe reads it at each call anyway.  A block without recording spares the records, draining, summing and sending
 * them; what an idle agent costs, and passing the calls through, is in both.
 *
 * Two blocks are a pair, of which the draw says which comes first.  Blocks are to last a second or more, many times
 * as long as the agent takes to drain a ring; the first tenth of each is left out, for its cost may be the
 * block's before.  Rank 0 prints one line of JSON: the ratio of mean step times, with recording over without, its
 * 95 % interval (paired.h), the same of median step times, and the collectives of a rank while recording was on. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ring/control_page.h"
#include "ring/ring.h"
#include "tests/bench/paired.h"

enum { WORDS = 4096, PAIRS_MAX = 1000 };

static struct {
    int pairs, steps, reduces;
    double work_ms;
} o = { .pairs = 30, .steps = 300, .reduces = 4, .work_ms = 4 };

static const struct {
    const char *name;
    int *value;
} numbers[] = { { "--pairs", &o.pairs }, { "--steps", &o.steps }, { "--reduces", &o.reduces } };

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

/* The turns that take o.work_ms here: the same work in each step, whatever disturbs it.  The shortest of several
 * tries, and the least of all ranks. */
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
        else if (!known)
            return -1;
    }
    return argc % 2 && o.pairs > 0 && o.pairs <= PAIRS_MAX && o.steps >= 10 && o.reduces > 0 ? 0 : -1;
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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Mean and median step time of a block. */
static void block(long turns, double *took_s, double *mean_s, double *median_s)
{
    int skip = o.steps / 10, n = o.steps - skip;
    double last_s = now_s(), t_s, sum_s = 0;

    for (int step = 0; step < o.steps; step++) {
        burn(turns);
        for (int i = 0; i < o.reduces; i++)
            MPI_Allreduce(send, sum, WORDS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        t_s = now_s();
        took_s[step] = t_s - last_s;
        last_s = t_s;
    }
    for (int i = skip; i < o.steps; i++)
        sum_s += took_s[i];
    *mean_s = sum_s / n;
    qsort(took_s + skip, (size_t)n, sizeof(*took_s), ascending);
    *median_s = took_s[skip + n / 2];
}

static void put(const char *key, double v)
{
    if (isfinite(v))
        printf(", \"%s\": %.5f", key, v);
    else
        printf(", \"%s\": null", key);
}

static void measure(int rank)
{
    static double means[PAIRS_MAX], medians[PAIRS_MAX];
    double *took_s = calloc((size_t)o.steps, sizeof(*took_s)), mean_s[2], median_s[2], all_s = 0;
    uint64_t state = 20260101; /* the same in all ranks */
    long turns = turns_of_work();
    struct paired a, b;

    if (!took_s)
        MPI_Abort(MPI_COMM_WORLD, 1);
    record(true);
    block(turns, took_s, &mean_s[0], &median_s[0]); /* libraries and agent warm up */
    for (int i = 0; i < o.pairs; i++) {
        bool first = deviate_uniform(&state) < 0.5;

        for (int k = 0; k < 2; k++) {
            bool on = k ? !first : first;

            record(on);
            block(turns, took_s, &mean_s[on], &median_s[on]);
        }
        means[i] = log(mean_s[1] / mean_s[0]);
        medians[i] = log(median_s[1] / median_s[0]);
        all_s += mean_s[0] / o.pairs;
    }
    record(true);
    free(took_s);
    if (rank)
        return;
    a = paired_ratio(means, (size_t)o.pairs);
    b = paired_ratio(medians, (size_t)o.pairs);
    printf("{\"pairs\": %d, \"step_s\": %.6f, \"recorded_calls\": %d", o.pairs, all_s,
           (o.pairs + 1) * o.steps * o.reduces);
    put("ratio", a.ratio);
    put("low", a.low);
    put("high", a.high);
    put("lag1", a.lag1);
    put("median_ratio", b.ratio);
    put("median_low", b.low);
    put("median_high", b.high);
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
