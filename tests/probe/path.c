/* path.c - exercises the probe's hot path for path.sh: between two markers it makes only recorded calls.
 *     path COUNT     COUNT barriers and all-reduces on MPI_COMM_SELF, and a nonblocking one every tenth time
 *     path switch    five barriers recorded, five not, five recorded again
 * The markers are system calls that nothing else makes. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/control_page.h"
#include "ring/ring.h"

int path_calls(int n);

static int rounds(int n)
{
    double in = 1, out = 0, sum = 0;

    for (int i = 0; i < n; i++) {
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
        sum += out;
        if (i % 10 == 0) {
            MPI_Request request;

            MPI_Ibarrier(MPI_COMM_SELF, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    return (int)sum;
}

/* Callgrind counts what happens inside of this function. */
__attribute__((noinline)) int path_calls(int n)
{
    int done = rounds(n);

    __asm__ volatile("" ::: "memory"); /* prevents a tail call, so that this function returns last */
    return done;
}

/* Switch recording on or off, as the agent does. */
static int record(uint32_t on)
{
    char path[4096];
    int fd, rc;

    snprintf(path, sizeof(path), "%s/" CONTROL_PAGE_FILE, getenv(RING_ENV_DIR));
    fd = open(path, O_RDWR);
    rc = pwrite(fd, &on, sizeof(on), offsetof(struct control_page, record)) == (ssize_t)sizeof(on) ? 0 : 1;
    close(fd);
    return rc;
}

static int switched(void)
{
    double in = 1, out = 0;
    MPI_Request across;
    int rc = 0;

    for (int i = 0; i < 15; i++) {
        if (i % 5 == 0)
            rc |= record(i != 5);
        if (i == 5) /* posted while recording is off, completed while it is on */
            MPI_Iallreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF, &across);
        MPI_Barrier(MPI_COMM_SELF);
    }
    MPI_Wait(&across, MPI_STATUS_IGNORE);
    return rc | (out != 1);
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000, done;

    MPI_Init(&argc, &argv);
    if (argc > 1 && !strcmp(argv[1], "switch")) {
        done = switched();
        MPI_Finalize();
        return done;
    }
    rounds(10); /* first calls: the probe looks up each function once */
    syscall(SYS_getpgid, 0);
    errno = 4711;
    done = path_calls(n);
    done -= errno != 4711;
    syscall(SYS_getpgid, 0);
    MPI_Finalize();
    return done != n;
}
