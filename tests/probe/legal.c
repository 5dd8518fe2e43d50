/* legal.c - what MPI allows and few programs do: calls inside callbacks, errors that are caught, requests
 * that are cancelled.
 *
 *     legal attributes | jumps | agreement | threads | refused | cancelled | many | parts | successive
 *
 * attributes: communicators made and freed by the callbacks of another one's attribute, with counts that end
 * where a page does. jumps: an error handler that jumps out of the call, high up in the stack, and then work
 * deeper in it. agreement: an error handler that calls a collective, on one rank, which the others call
 * themselves. threads: communicators made and freed by two threads. refused: arguments that the library
 * answers with an error, one of them on one rank only, between calls that succeed. cancelled: receives that
 * are cancelled while later ones of the same stream are posted. many: more persistent and nonblocking
 * requests than the probe's first table holds. parts: messages in parts (MPI 4), beside others of the same
 * tag. successive: more communicators than a ring describes, one after another.
 *
 * Each rank prints "RANK ok" once it has seen what it must see, or what was wrong. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int me, n, wrong;

#define CHECK(what) \
    ((what) ? (void)0 : (void)(wrong++ < 5 && printf("%d: %s, line %d\n", me, #what, __LINE__)))

static void sum(MPI_Comm comm, int members)
{
    int one = 1, got = 0;

    MPI_Allreduce(&one, &got, 1, MPI_INT, MPI_SUM, comm);
    CHECK(got == members);
}

/* ---- attributes ---- */

enum { LIVES = 5, COPIES = 60 };

struct inner {
    MPI_Comm comm;
};
static struct inner *newest;

static int copy(MPI_Comm old, int key, void *extra, void *value, void *out, int *flag)
{
    (void)old, (void)key, (void)extra, (void)value;
    newest = malloc(sizeof(*newest));
    MPI_Comm_split(MPI_COMM_WORLD, rand() / 7 % 2 ? me % 2 : 0, me, &newest->comm);
    *(void **)out = newest;
    *flag = 1;
    return MPI_SUCCESS;
}

static int drop(MPI_Comm comm, int key, void *value, void *extra)
{
    struct inner *i = value;

    (void)comm, (void)key, (void)extra;
    if (i->comm != MPI_COMM_NULL)
        MPI_Comm_free(&i->comm);
    free(i);
    return MPI_SUCCESS;
}

/* So many counts that what lies behind them is not to be read. */
static int *counts_at_end(int count)
{
    enum { PAGE = 4096 };
    static char *page;

    if (!page) {
        page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(page + PAGE, PAGE, PROT_NONE);
    }
    return (int *)(void *)(page + PAGE) - count;
}

static void attributes(void)
{
    MPI_Comm outer, copies[LIVES];
    int key;

    srand(3); /* the same on all ranks */
    MPI_Comm_create_keyval(copy, drop, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    newest = malloc(sizeof(*newest));
    newest->comm = MPI_COMM_NULL;
    MPI_Comm_set_attr(outer, key, newest);
    for (int k = 0; k < COPIES; k++) {
        int size, *counts, got = 0, one = 1;

        if (k >= LIVES)
            MPI_Comm_free(&copies[k % LIVES]);
        MPI_Comm_dup(outer, &copies[k % LIVES]);
        MPI_Comm_size(newest->comm, &size);
        counts = counts_at_end(size);
        for (int i = 0; i < size; i++)
            counts[i] = 1;
        {
            int *ones = malloc((size_t)size * sizeof(*ones));

            for (int i = 0; i < size; i++)
                ones[i] = one;
            MPI_Reduce_scatter(ones, &got, counts, MPI_INT, MPI_SUM, newest->comm);
            free(ones);
        }
        CHECK(got == size);
    }
}

/* ---- jumps ---- */

static jmp_buf caught;

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(caught, 1);
}

static __attribute__((noinline)) void deeper(int i)
{
    volatile char room[512];
    MPI_Comm twin;

    room[0] = (char)i;
    sum(MPI_COMM_WORLD, n);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    sum(twin, n);
    MPI_Comm_free(&twin);
    CHECK(room[0] == (char)i);
}

static void jumps(void)
{
    volatile int times = 0;
    MPI_Errhandler handler;
    MPI_Request request;
    int x = 0, right = (me + 1) % n, left = (me + n - 1) % n, got = -1;

    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int kind = 0; kind < 4; kind++) {
        if (setjmp(caught) == 0) {
            if (kind == 0)
                MPI_Send(&x, -1, MPI_INT, right, 7, MPI_COMM_WORLD);
            else if (kind == 1)
                MPI_Isend(&x, -1, MPI_INT, right, 7, MPI_COMM_WORLD, &request);
            else if (kind == 2 && me == 0) /* on one rank only: it is no broadcast */
                MPI_Bcast(&x, 1, MPI_INT, n + 3, MPI_COMM_WORLD);
            else if (kind == 3)
                MPI_Recv(&x, -1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            times++;
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    CHECK(times == (me ? 3 : 4));
    for (int i = 0; i < 20; i++)
        deeper(i);
    for (int i = 0; i < 10; i++) {
        MPI_Irecv(&got, 1, MPI_INT, left, 7, MPI_COMM_WORLD, &request);
        MPI_Send(&i, 1, MPI_INT, right, 7, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(got == i);
    }
}

/* ---- agreement ---- */

static MPI_Comm agreed;

static void agree(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    sum(agreed, n);
}

static void agreement(void)
{
    MPI_Errhandler handler;
    int x = 0;

    MPI_Comm_dup(MPI_COMM_WORLD, &agreed);
    MPI_Comm_create_errhandler(agree, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (me == 0)
        MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    else
        agree(NULL, NULL);
    for (int i = 0; i < 10; i++) {
        MPI_Barrier(agreed);
        sum(agreed, n);
    }
}

/* ---- threads ---- */

enum { THREADS = 2, ROUNDS = 30 };

static void *make_and_free(void *arg)
{
    MPI_Comm *mine = arg, twin;

    for (int k = 0; k < ROUNDS; k++) {
        MPI_Comm_dup(*mine, &twin);
        sum(twin, n);
        MPI_Barrier(twin);
        MPI_Comm_free(&twin);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    MPI_Comm comm[THREADS];

    for (int t = 0; t < THREADS; t++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, make_and_free, &comm[t]);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
}

/* ---- refused ---- */

static void refused(void)
{
    int right = (me + 1) % n, left = (me + n - 1) % n, out = 0, in = -1, flag, one = 1, got;
    MPI_Request request, none = MPI_REQUEST_NULL;
    MPI_Status status;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Wait(NULL, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_Test(NULL, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_Request_free(NULL) != MPI_SUCCESS);
    CHECK(MPI_Request_free(&none) != MPI_SUCCESS);
    CHECK(MPI_Start(NULL) != MPI_SUCCESS);
    CHECK(MPI_Send(&out, 1, MPI_DATATYPE_NULL, right, 3, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Isend(&out, -1, MPI_INT, right, 3, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
    CHECK(MPI_Recv(&in, 1, MPI_INT, n + 3, 3, MPI_COMM_WORLD, &status) != MPI_SUCCESS);
    CHECK(MPI_Recv(&in, -1, MPI_INT, left, 3, MPI_COMM_WORLD, &status) != MPI_SUCCESS);
    CHECK(MPI_Irecv(&in, -1, MPI_INT, left, 3, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
    CHECK(MPI_Sendrecv(&out, -1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &status) !=
          MPI_SUCCESS);
    CHECK(MPI_Sendrecv(&out, 1, MPI_INT, right, 3, &in, -1, MPI_INT, left, 3, MPI_COMM_WORLD, &status) !=
          MPI_SUCCESS);
    if (me == 0) { /* the others make no such call: its number is the next one's */
        CHECK(MPI_Bcast(&out, 1, MPI_INT, n + 3, MPI_COMM_WORLD) != MPI_SUCCESS);
        CHECK(MPI_Allreduce(&one, &got, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS);
        CHECK(MPI_Ibcast(&out, 1, MPI_INT, n + 3, MPI_COMM_WORLD, &request) != MPI_SUCCESS);
    }
    for (int i = 0; i < 5; i++) {
        sum(MPI_COMM_WORLD, n);
        MPI_Sendrecv(&i, 1, MPI_INT, right, 3, &in, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &status);
        CHECK(in == i);
    }
}

/* ---- cancelled ---- */

static void cancelled(void)
{
    int right = (me + 1) % n, left = (me + n - 1) % n, in[3], out;
    MPI_Request early, late[2], again;
    MPI_Status status;
    int flag;

    MPI_Recv_init(&in[0], 1, MPI_INT, left, 4, MPI_COMM_WORLD, &again);
    for (int i = 0; i < 10; i++) {
        if (i % 2)
            MPI_Start(&again);
        else
            MPI_Irecv(&in[0], 1, MPI_INT, left, 4, MPI_COMM_WORLD, &early);
        for (int k = 0; k < 2; k++)
            MPI_Irecv(&in[1 + k], 1, MPI_INT, left, 4, MPI_COMM_WORLD, &late[k]);
        MPI_Cancel(i % 2 ? &again : &early);
        MPI_Barrier(MPI_COMM_WORLD); /* nothing is sent before */
        for (int k = 0; k < 2; k++) {
            out = 10 * i + k;
            MPI_Send(&out, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
        }
        if (i % 3) /* before or after the others */
            MPI_Wait(i % 2 ? &again : &early, &status);
        MPI_Waitall(2, late, MPI_STATUSES_IGNORE);
        if (i % 3 == 0)
            MPI_Wait(i % 2 ? &again : &early, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
        CHECK(in[1] == 10 * i && in[2] == 10 * i + 1);
    }
    MPI_Request_free(&again);
}

/* ---- many ---- */

enum { MANY = 2200, STARTS = 1 };

static void many(void)
{
    int right = (me + 1) % n, left = (me + n - 1) % n, *in = malloc(2 * MANY * sizeof(*in)), *out = in + MANY,
        done, *indices;
    MPI_Request *requests = malloc(2 * MANY * sizeof(*requests)), *sends = requests + MANY;

    indices = malloc(MANY * sizeof(*indices));
    for (int i = 0; i < MANY; i++) {
        MPI_Recv_init(&in[i], 1, MPI_INT, left, i % 3, MPI_COMM_WORLD, &requests[i]);
        MPI_Send_init(&out[i], 1, MPI_INT, right, i % 3, MPI_COMM_WORLD, &sends[i]);
        out[i] = i;
    }
    for (int s = 0; s < STARTS; s++) {
        MPI_Startall(2 * MANY, requests);
        MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
        CHECK(in[MANY - 1] == MANY - 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 2 * MANY; i++)
        MPI_Request_free(&requests[i]);
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, i % 3, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++)
        MPI_Isend(&out[i], 1, MPI_INT, right, i % 3, MPI_COMM_WORLD, &sends[i]);
    for (int left_over = MANY; left_over > 0; left_over -= done)
        MPI_Waitsome(MANY, requests, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
    CHECK(in[0] == 0 && in[MANY - 1] == MANY - 1);
    free(indices);
    free(requests);
    free(in);
}

/* ---- parts ---- */

static void parts(void)
{
#if MPI_VERSION >= 4
    enum { PARTS = 4, EACH = 100 };
    int right = (me + 1) % n, left = (me + n - 1) % n, in[PARTS * EACH], out[PARTS * EACH] = { 0 },
        single = -1;
    MPI_Request requests[2];

    MPI_Psend_init(out, PARTS, EACH, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(in, 2 * PARTS, EACH / 2, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 5; round++) {
        MPI_Startall(2, requests);
        for (int p = 0; p < PARTS; p++) {
            for (int i = 0; i < EACH; i++)
                out[p * EACH + i] = round * 1000 + p;
            MPI_Pready(p, requests[0]);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(in[PARTS * EACH - 1] == round * 1000 + PARTS - 1);
        MPI_Sendrecv(&round, 1, MPI_INT, right, 5, &single, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        CHECK(single == round);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
#endif
}

/* ---- successive ---- */

static void successive(void)
{
    MPI_Comm comm, kept;

    MPI_Comm_dup(MPI_COMM_WORLD, &kept);
    for (int i = 0; i < 1200; i++) {
        MPI_Comm_dup(i % 3 ? MPI_COMM_WORLD : kept, &comm);
        sum(comm, n);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_dup(kept, &comm);
    for (int i = 0; i < 5; i++)
        sum(comm, n);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&kept);
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = { { "attributes", attributes },
              { "jumps", jumps },
              { "agreement", agreement },
              { "threads", threads },
              { "refused", refused },
              { "cancelled", cancelled },
              { "many", many },
              { "parts", parts },
              { "successive", successive } };

int main(int argc, char **argv)
{
    size_t kind = 0;
    int provided;

    while (kind < sizeof(kinds) / sizeof(kinds[0]) && (argc != 2 || strcmp(argv[1], kinds[kind].name)))
        kind++;
    if (kind == sizeof(kinds) / sizeof(kinds[0])) {
        fputs("Usage: legal attributes|jumps|agreement|threads|refused|cancelled|many|parts|successive\n",
              stderr);
        return 2;
    }
    MPI_Init_thread(&argc, &argv, kinds[kind].run == threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    kinds[kind].run();
    MPI_Barrier(MPI_COMM_WORLD);
    if (!wrong)
        printf("%d ok\n", me);
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
