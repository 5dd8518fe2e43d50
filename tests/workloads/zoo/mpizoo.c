/* mpizoo - does everything in zoo.h once, checks each result and prints what a probe should have seen:
 *     zoo: rank=0 comm=world size=4 place=0 first=0 last=3 instance=0 inter=0 total=... allreduce=...
 * and, a rank each, "zoo: rank=0 ok".  Exit status: 0 all results right, 1 some wrong, 2 bad arguments. */
#include "tests/workloads/zoo/zoo.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/xalloc.h"

enum { THREADS = 3, ABORT_CODE = 3 };

struct ways {
    bool threads, fork, abort;
    const char *output;
};

static const char usage[] =
    "Usage: mpizoo [--threads] [--fork] [--abort] [--output PREFIX]\n"
    "Every kind of MPI call, its result checked, and the counts that a probe should see.\n\n"
    "  --threads  MPI_THREAD_MULTIPLE: three threads, each on a communicator of its own\n"
    "  --fork     forks children, with and without exec, in the middle\n"
    "  --abort    the last rank ends all with MPI_Abort when the work is done\n"
    "  --output   each rank's lines go to PREFIX.RANK: launchers cut long lines\n";

/* -1: bad arguments, said on stderr. */
static int parse(int argc, char **argv, struct ways *w)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--threads") == 0)
            w->threads = true;
        else if (strcmp(argv[i], "--fork") == 0)
            w->fork = true;
        else if (strcmp(argv[i], "--abort") == 0)
            w->abort = true;
        else if (strcmp(argv[i], "--output") == 0 && i + 1 < argc)
            w->output = argv[++i];
        else {
            fprintf(stderr, "mpizoo: %s: expected --threads, --fork, --abort or --output PREFIX\n", argv[i]);
            return -1;
        }
    }
    return 0;
}

static void *work(void *arg)
{
    struct zoo_comm *c = arg;

    zoo_blocking(c, 3);
    zoo_nonblocking(c);
    return NULL;
}

static void in_threads(struct zoo_comm *w)
{
    pthread_t thread[THREADS];
    struct zoo_comm *c[THREADS];

    for (int i = 0; i < THREADS; i++) {
        MPI_Comm comm;

        MPI_Comm_dup(w->comm, &comm);
        zoo_count(w, ZOO_COMM_CREATE, ZOO_BLOCKING);
        c[i] = zoo_add(comm, "thread");
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, work, c[i]) != 0) {
            fputs("mpizoo: no thread\n", stderr);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        zoo_free(c[i]);
    }
}

/* Children that leave at once, one of them through another program. */
static void in_children(void)
{
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        int status = 0;

        if (child == 0) {
            if (i)
                execl("/bin/true", "true", (char *)NULL);
            _exit(0);
        }
        zoo_check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child %d: status %d", i,
                  status);
    }
}

static void print(const struct ways *ways, int rank)
{
    char *path = xasprintf("%s.%d", ways->output ? ways->output : "", rank);
    FILE *out = ways->output ? fopen(path, "w") : stdout;

    zoo_check(out, "%s: cannot be written", path);
    zoo_print(out ? out : stdout, rank);
    if (out && out != stdout)
        fclose(out);
    free(path);
}

int main(int argc, char **argv)
{
    struct ways ways = { 0 };
    struct zoo_comm *world, *self;
    int got;

    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    if (parse(argc, argv, &ways) < 0)
        return 2;
    MPI_Init_thread(&argc, &argv, ways.threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &got);
    world = zoo_add(MPI_COMM_WORLD, "world");
    self = zoo_add(MPI_COMM_SELF, "self");
    zoo_blocking(world, 2);
    zoo_nonblocking(world);
    zoo_persistent(world);
    zoo_small(self);
    zoo_communicators(world);
    if (ways.fork)
        in_children();
    if (ways.threads) {
        zoo_check(got == MPI_THREAD_MULTIPLE, "the library gives no MPI_THREAD_MULTIPLE");
        in_threads(world);
    }
    zoo_messages(world);
    zoo_blocking(world, 1);
    print(&ways, world->rank);
    if (ways.abort) {
        PMPI_Barrier(MPI_COMM_WORLD); /* uncounted: all have printed before one ends them */
        if (world->rank == world->size - 1)
            MPI_Abort(MPI_COMM_WORLD, ABORT_CODE);
    }
    zoo_forget();
    MPI_Finalize();
    return zoo_good() ? 0 : 1;
}
