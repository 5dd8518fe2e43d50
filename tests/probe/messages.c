/* messages.c - sends and receives messages in every way, and prints what a rank's ring must hold of them.
 *
 *     messages ROUNDS | FILE     so often, or again and again until FILE is gone (a path with a slash), with pauses, so that an
 *                                agent on a busy machine keeps up
 * A line for each stream of this rank: "RANK OP PEER TAG COUNT BYTES", with the other rank as in
 * MPI_COMM_WORLD.  Streams of several communicators with the same tag are one line.  Then "done". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 16, TAGS = 32, WAIT_MS = 20, REST_MS = 200 };
enum {
    RING = 1, /* tags */
    SWAP,
    REPLACE,
    MANY,
    WORK,
    RESULT,
    STORED,
    POLLED,
    MATCHED,
    POSTED,
    REVERSED,
    LOST,
    FREED,
    EITHER,
    TESTED,
    BUSY,
};

static struct {
    int count;
    long bytes;
} seen[2][PEERS][TAGS];
static int me, n, right, left;

static void sends(int to, int tag, long bytes)
{
    seen[0][to][tag].count++;
    seen[0][to][tag].bytes += bytes;
}

static void receives(int from, int tag, long bytes)
{
    seen[1][from][tag].count++;
    seen[1][from][tag].bytes += bytes;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

static void rings(void)
{
    int out[4] = { me, me, me, me }, in[8], hold = me;

    for (int i = 0; i < 5; i++) {
        if (me % 2 == 0)
            MPI_Send(out, i % 4 + 1, MPI_INT, right, RING, MPI_COMM_WORLD);
        MPI_Recv(in, 8, MPI_INT, left, RING, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* more room than is sent */
        if (me % 2)
            MPI_Send(out, i % 4 + 1, MPI_INT, right, RING, MPI_COMM_WORLD);
        sends(right, RING, 4 * (i % 4 + 1));
        receives(left, RING, 4 * (i % 4 + 1));
        MPI_Sendrecv(out, 2, MPI_INT, right, SWAP, in, 8, MPI_INT, left, SWAP, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        sends(right, SWAP, 8);
        receives(left, SWAP, 8);
        MPI_Sendrecv_replace(&hold, 1, MPI_INT, left, REPLACE, right, REPLACE, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        sends(left, REPLACE, 4);
        receives(right, REPLACE, 4);
    }
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, RING, MPI_COMM_WORLD);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, RING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Many in flight, awaited in the reverse order, more than fit into a frame of the probe. */
static void many(void)
{
    enum { N = 100 };
    MPI_Request request[2 * N];
    static char out[N], in[N][N];

    for (int i = 0; i < N; i++) {
        MPI_Irecv(in[i], N, MPI_CHAR, left, MANY, MPI_COMM_WORLD, &request[2 * N - 1 - i]);
        MPI_Isend(out, i, MPI_CHAR, right, MANY, MPI_COMM_WORLD, &request[N - 1 - i]);
        sends(right, MANY, i);
        receives(left, MANY, i);
    }
    MPI_Waitall(2 * N, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < N; i++) { /* the same with wildcards */
        MPI_Irecv(in[i], N, MPI_CHAR, MPI_ANY_SOURCE, MANY, MPI_COMM_WORLD, &request[N + i]);
        MPI_Isend(out, i, MPI_CHAR, right, MANY, MPI_COMM_WORLD, &request[i]);
        sends(right, MANY, i);
        receives(left, MANY, i);
    }
    MPI_Waitall(2 * N, request, MPI_STATUSES_IGNORE);
}

/* Rank 0 hands out work to whoever answers. */
static void farm(void)
{
    int item = 0;

    for (int i = 0; me == 0 && i < 10 * (n - 1); i++) {
        MPI_Status s;

        MPI_Recv(&item, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &s);
        receives(s.MPI_SOURCE, RESULT, 4);
        MPI_Send(&item, 1, MPI_INT, s.MPI_SOURCE, WORK, MPI_COMM_WORLD);
        sends(s.MPI_SOURCE, WORK, 4);
    }
    for (int i = 0; me && i < 10; i++) {
        MPI_Send(&me, 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
        sends(0, RESULT, 4);
        MPI_Recv(&item, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receives(0, WORK, 4);
    }
}

static void stored(void)
{
    MPI_Request request[2];
    double out = 1, in;

    MPI_Recv_init(&in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, STORED, MPI_COMM_WORLD, &request[0]);
    MPI_Send_init(&out, 1, MPI_DOUBLE, right, STORED, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 7; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        sends(right, STORED, 8);
        receives(left, STORED, 8);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* How long a receive and a barrier were polled: more than LEAST, from after the first test to before the
 * last, and less than MOST, from before the first test to after the last.  However long this rank was not
 * scheduled in between, what the probe saw is no less than the one, and no more than the other. */
static double polled_most_s[2], polled_least_s[2];

/* Tells rank first once nothing was complete at the first test, if it is not -1. */
static void test_until_done(int which, MPI_Request *request, int first)
{
    double from_s = now_s(), first_s = 0, last_s = 0;
    int done = 0;

    for (int i = 0; !done; i++) {
        last_s = now_s();
        if (which)
            MPI_Testall(1, request, &done, MPI_STATUSES_IGNORE);
        else
            MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (i == 0) {
            first_s = now_s();
            if (first >= 0) {
                MPI_Send(&done, 1, MPI_INT, first, TESTED, MPI_COMM_WORLD);
                sends(first, TESTED, 4);
            }
        }
    }
    polled_most_s[which] += now_s() - from_s;
    if (last_s > first_s)
        polled_least_s[which] += last_s - first_s;
}

/* This rank is late, on purpose: by WAIT_MS after rank other has begun to test. */
static void wait_for_test(int other)
{
    int word;

    MPI_Recv(&word, 1, MPI_INT, other, TESTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receives(other, TESTED, 4);
    pause_ms(WAIT_MS);
}

/* Even ranks send late; odd ranks poll, as all do for a barrier that rank 0 enters late. */
static void polled(void)
{
    MPI_Request request;
    int word = 0;

    if (me % 2 && n % 2 == 0) {
        MPI_Irecv(&word, 1, MPI_INT, left, POLLED, MPI_COMM_WORLD, &request);
        test_until_done(0, &request, left);
        receives(left, POLLED, 4);
    } else if (n % 2 == 0) {
        wait_for_test(right);
        MPI_Send(&word, 1, MPI_INT, right, POLLED, MPI_COMM_WORLD);
        sends(right, POLLED, 4);
    }
    for (int other = 1; me == 0 && other < n; other++)
        wait_for_test(other);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    test_until_done(1, &request, me ? 0 : -1);
}

/* Odd ranks find two receives incomplete, test for the first one, and then do something else until the second
 * one must have come, too.  Only the first held them.  How often the next test found the second one complete.
 */
static int found_complete;

static void busy(void)
{
    MPI_Request request[2];
    int word[2], done = 0;

    if (me % 2) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&word[i], 1, MPI_INT, left, BUSY, MPI_COMM_WORLD, &request[i]);
        for (int i = 0; i < 2; i++)
            MPI_Test(&request[i], &done, MPI_STATUS_IGNORE);
        MPI_Send(&done, 1, MPI_INT, left, TESTED, MPI_COMM_WORLD);
        while (!done)
            MPI_Test(&request[0], &done, MPI_STATUS_IGNORE);
        MPI_Recv(&word[0], 1, MPI_INT, left, TESTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Test(&request[1], &done, MPI_STATUS_IGNORE);
        found_complete += done;
        MPI_Wait(&request[1], MPI_STATUS_IGNORE);
        sends(left, TESTED, 4);
        receives(left, TESTED, 4);
        receives(left, BUSY, 4);
        receives(left, BUSY, 4);
    } else if (me + 1 < n) {
        MPI_Recv(&done, 1, MPI_INT, right, TESTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&done, 1, MPI_INT, right, BUSY, MPI_COMM_WORLD);
        MPI_Send(&done, 1, MPI_INT, right, BUSY, MPI_COMM_WORLD);
        MPI_Send(&done, 1, MPI_INT, right, TESTED, MPI_COMM_WORLD);
        receives(right, TESTED, 4);
        sends(right, BUSY, 4);
        sends(right, BUSY, 4);
        sends(right, TESTED, 4);
    }
}

static void matched(void)
{
    MPI_Request request[2];
    MPI_Message message;
    int out = me, in, found = 0;

    MPI_Isend(&out, 1, MPI_INT, right, MATCHED, MPI_COMM_WORLD, &request[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, MATCHED, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Isend(&out, 1, MPI_INT, right, MATCHED, MPI_COMM_WORLD, &request[1]);
    while (!found)
        MPI_Improbe(left, MATCHED, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Imrecv(&in, 1, MPI_INT, &message, &request[0]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        sends(right, MATCHED, 4);
        receives(left, MATCHED, 4);
    }
}

/* The partner's rank in the communicator is not its rank in the job. */
static void reversed(void)
{
    MPI_Comm comm;
    int rank, out = me, in;

    MPI_Comm_split(MPI_COMM_WORLD, 0, n - me, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % n, REVERSED, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 comm, MPI_STATUS_IGNORE);
    sends(left, REVERSED, 4);
    receives(right, REVERSED, 4);
    MPI_Comm_free(&comm);
}

/* A receive that is given up, a send that nobody waits for, and one of two that is taken first. */
static void loose(void)
{
    MPI_Request request[2];
    int out[2] = { me, me }, in[2], at;

    MPI_Irecv(&in[0], 1, MPI_INT, left, LOST, MPI_COMM_WORLD, &request[0]);
    MPI_Cancel(&request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Sendrecv(&out[0], 1, MPI_INT, right, LOST, &in[0], 1, MPI_INT, left, LOST, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sends(right, LOST, 4);
    receives(left, LOST, 4);

    MPI_Isend(&out[0], 1, MPI_INT, right, FREED, MPI_COMM_WORLD, &request[0]);
    MPI_Request_free(&request[0]);
    MPI_Recv(&in[0], 1, MPI_INT, left, FREED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sends(right, FREED, 4);
    receives(left, FREED, 4);

    MPI_Irecv(&in[0], 1, MPI_INT, left, EITHER, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, left, EITHER, MPI_COMM_WORLD, &request[1]);
    MPI_Send(&out[0], 1, MPI_INT, right, EITHER, MPI_COMM_WORLD);
    MPI_Send(&out[1], 1, MPI_INT, right, EITHER, MPI_COMM_WORLD);
    MPI_Waitany(2, request, &at, MPI_STATUS_IGNORE);
    MPI_Wait(&request[!at], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        sends(right, EITHER, 4);
        receives(left, EITHER, 4);
    }
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 && strchr(argv[1], '/') ? argv[1] : NULL;
    int rounds = argc > 1 && !file ? atoi(argv[1]) : 1, round = 0, time_is_up = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (n < 2 || n > PEERS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    right = (me + 1) % n;
    left = (me + n - 1) % n;
    do {
        rings();
        many();
        farm();
        stored();
        polled();
        busy();
        matched();
        reversed();
        loose();
        if (file && me == 0)
            pause_ms(REST_MS);
        time_is_up = file ? access(file, F_OK) < 0 : ++round >= rounds;
        MPI_Bcast(&time_is_up, 1, MPI_INT, 0, MPI_COMM_WORLD);
    } while (!time_is_up);
    for (int op = 0; op < 2; op++)
        for (int p = 0; p < PEERS; p++)
            for (int t = 0; t < TAGS; t++)
                if (seen[op][p][t].count)
                    printf("%d %s %d %d %d %ld\n", me, op ? "recv" : "send", p, t, seen[op][p][t].count,
                           seen[op][p][t].bytes);
    printf("%d polled %.6f %.6f %.6f %.6f\n", me, polled_most_s[0], polled_most_s[1], polled_least_s[0],
           polled_least_s[1]);
    printf("%d busy %d\n", me, found_complete);
    printf("%d done\n", me);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
