/* pace.c - a synchronised job in small: every rank works, then all of them reduce.  tests/bench/pace-table
 * runs it with and without pacing.
 *
 *   pace [--steps N] [--work MS] [--slow RANK] [--factor F] [--jitter] [--memory MIB] [--loader MS] [--bytes
 * N]
 *
 * Work is an amount of processor time (or, with --memory, of memory traffic), so that ranks that share a core
 * share it honestly.  --slow works F times as long as the others; --jitter makes it another rank at each
 * step;
 * --loader is a thread beside rank 0 that needs MS of processor time a step, and whose result the next step
 * waits for, as a data loader's.  Rank 0 prints one line of JSON: the time of a step, the processor time of
 * all ranks, and a hash of the bits of every sum. */
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static struct {
    int steps, slow, jitter, memory_mib, bytes;
    double work_ms, factor, loader_ms;
} o = { .steps = 300, .slow = -1, .bytes = 64 << 10, .work_ms = 3, .factor = 3 };

static double clock_s(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double burn(double seconds)
{
    double end_s = clock_s(CLOCK_THREAD_CPUTIME_ID) + seconds, x = 1.5;

    while (clock_s(CLOCK_THREAD_CPUTIME_ID) < end_s)
        for (int i = 0; i < 2000; i++)
            x = x * 1.0000001 + 1e-9;
    return x;
}

static void sweep(double *a, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        a[i] = a[i] * 0.999 + 1;
}

static sem_t wanted, loaded;

static void *loader(void *arg)
{
    while (sem_wait(&wanted) == 0) {
        burn(o.loader_ms * 1e-3);
        sem_post(&loaded);
    }
    return arg;
}

static int options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";

        if (!strcmp(name, "--jitter")) {
            o.jitter = 1;
            continue;
        }
        if (!strcmp(name, "--steps"))
            o.steps = atoi(value);
        else if (!strcmp(name, "--work"))
            o.work_ms = atof(value);
        else if (!strcmp(name, "--slow"))
            o.slow = atoi(value);
        else if (!strcmp(name, "--factor"))
            o.factor = atof(value);
        else if (!strcmp(name, "--memory"))
            o.memory_mib = atoi(value);
        else if (!strcmp(name, "--loader"))
            o.loader_ms = atof(value);
        else if (!strcmp(name, "--bytes"))
            o.bytes = atoi(value);
        else
            return -1;
        i++;
    }
    return o.steps > 0 && o.bytes >= 8 ? 0 : -1;
}

static double work_of(int rank, int size, unsigned *draw)
{
    int slow = o.slow;

    if (o.jitter) { /* all ranks draw alike */
        *draw = *draw * 1103515245u + 12345u;
        slow = (int)((*draw >> 16) % (unsigned)size);
    }
    return o.work_ms * 1e-3 * (rank == slow ? o.factor : 1);
}

static uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
    for (const unsigned char *p = data, *end = p + bytes; p < end; p++)
        h = (h ^ *p) * 0x100000001b3u;
    return h;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(double *took_s, double cpu_s, uint64_t sums)
{
    double sum = 0, squares = 0, mean;

    for (int i = 0; i < o.steps; i++) {
        sum += took_s[i];
        squares += took_s[i] * took_s[i];
    }
    mean = sum / o.steps;
    qsort(took_s, (size_t)o.steps, sizeof(*took_s), ascending);
    printf("{\"steps\":%d,\"mean_s\":%.9f,\"median_s\":%.9f,\"p95_s\":%.9f,\"cv\":%.4f,\"cpu_s\":%.4f,"
           "\"sums\":\"%016llx\"}\n",
           o.steps, mean, took_s[o.steps / 2], took_s[o.steps * 95 / 100],
           sqrt(fmax(squares / o.steps - mean * mean, 0)) / mean, cpu_s, (unsigned long long)sums);
}

int main(int argc, char **argv)
{
    int rank, size, n;
    size_t words;
    unsigned draw = 12345;
    uint64_t sums = 0xcbf29ce484222325u;
    double *send, *sum, *array = NULL, *took_s, last_s, cpu_s, all_s = 0;
    struct rusage u;
    pthread_t thread;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (options(argc, argv) < 0) {
        fprintf(stderr, "pace: see the top of tests/bench/pace.c for what it takes\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    n = o.bytes / (int)sizeof(double);
    words = (size_t)o.memory_mib << 17;
    send = calloc((size_t)n, sizeof(*send));
    sum = calloc((size_t)n, sizeof(*sum));
    took_s = calloc((size_t)o.steps, sizeof(*took_s));
    array = calloc(words + 1, sizeof(*array));
    if (!send || !sum || !took_s || !array)
        MPI_Abort(MPI_COMM_WORLD, 1);
    sem_init(&wanted, 0, 0);
    sem_init(&loaded, 0, 0);
    if (o.loader_ms > 0 && rank == 0) {
        pthread_create(&thread, NULL, loader, NULL);
        sem_post(&wanted);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    last_s = clock_s(CLOCK_MONOTONIC);
    for (int step = 0; step < o.steps; step++) {
        double now_s;

        if (o.loader_ms > 0 && rank == 0) {
            sem_wait(&loaded);
            sem_post(&wanted);
        }
        if (o.memory_mib)
            sweep(array, words);
        else
            burn(work_of(rank, size, &draw));
        for (int i = 0; i < n; i++)
            send[i] = 1.0 / (1 + rank + i % 97 + step);
        MPI_Allreduce(send, sum, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        now_s = clock_s(CLOCK_MONOTONIC);
        took_s[step] = now_s - last_s;
        last_s = now_s;
        sums = hash(sums, sum, (size_t)n * sizeof(*sum));
    }
    getrusage(RUSAGE_SELF, &u);
    cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
            (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
    MPI_Reduce(&cpu_s, &all_s, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        report(took_s, all_s, sums);
    MPI_Finalize();
    return 0;
}
