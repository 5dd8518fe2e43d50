#include "tests/workloads/zoo/zoo.h"

#include <stdlib.h>

#include "common/xalloc.h"

/* Every rank tells its right and hears its left; alone it talks to itself. */
struct ring_of {
    MPI_Comm comm;
    int rank, left, right;
};

enum { TAG = 11, WORD = 77000 };

static void heard(const struct ring_of *r, int word, const char *how)
{
    zoo_check(word == WORD + r->left, "%s: rank %d heard %d from %d", how, r->rank, word, r->left);
}

typedef int send_fn(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm);
typedef int isend_fn(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                     MPI_Request *r);

static const struct {
    const char *name;
    send_fn *send;
    isend_fn *isend, *init;
} modes[] = {
    { "standard", MPI_Send, MPI_Isend, MPI_Send_init },
    { "synchronous", MPI_Ssend, MPI_Issend, MPI_Ssend_init },
    { "buffered", MPI_Bsend, MPI_Ibsend, MPI_Bsend_init },
    { "ready", MPI_Rsend, MPI_Irsend, MPI_Rsend_init },
};

/* Receives are posted, and known to be, before anything is sent: what the ready mode asks for. */
static void blocking_sends(const struct ring_of *r)
{
    for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
        int out = WORD + r->rank, in = 0;
        MPI_Request request;

        MPI_Irecv(&in, 1, MPI_INT, r->left, TAG, r->comm, &request);
        MPI_Sendrecv(NULL, 0, MPI_INT, r->left, TAG + 1, NULL, 0, MPI_INT, r->right, TAG + 1, r->comm,
                     MPI_STATUS_IGNORE);
        modes[m].send(&out, 1, MPI_INT, r->right, TAG, r->comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        heard(r, in, modes[m].name);
    }
}

static void nonblocking_sends(const struct ring_of *r)
{
    for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
        int out = WORD + r->rank, in = 0;
        /* holes in the array, as programs that reuse it have them */
        MPI_Request request[4] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };

        MPI_Irecv(&in, 1, MPI_INT, r->left, TAG, r->comm, &request[1]);
        MPI_Sendrecv(NULL, 0, MPI_INT, r->left, TAG + 1, NULL, 0, MPI_INT, r->right, TAG + 1, r->comm,
                     MPI_STATUS_IGNORE);
        modes[m].isend(&out, 1, MPI_INT, r->right, TAG, r->comm, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        heard(r, in, modes[m].name);
    }
}

static void persistent_sends(const struct ring_of *r)
{
    for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
        int out = WORD + r->rank, in = 0;
        MPI_Request request[2];

        MPI_Recv_init(&in, 1, MPI_INT, r->left, TAG, r->comm, &request[0]);
        modes[m].init(&out, 1, MPI_INT, r->right, TAG, r->comm, &request[1]);
        for (int round = 0; round < 3; round++) {
            in = 0;
            MPI_Start(&request[0]);
            MPI_Sendrecv(NULL, 0, MPI_INT, r->left, TAG + 1, NULL, 0, MPI_INT, r->right, TAG + 1, r->comm,
                         MPI_STATUS_IGNORE);
            MPI_Startall(1, &request[1]);
            MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
            heard(r, in, modes[m].name);
        }
        MPI_Request_free(&request[0]);
        MPI_Request_free(&request[1]);
    }
}

static void probes(const struct ring_of *r)
{
    int out = WORD + r->rank, in = 0, there = 0;
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;

    MPI_Isend(&out, 1, MPI_INT, r->right, TAG, r->comm, &request);
    MPI_Probe(r->left, TAG, r->comm, &status);
    MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, TAG, r->comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    heard(r, in, "probe");
    MPI_Isend(&out, 1, MPI_INT, r->right, TAG, r->comm, &request);
    while (!there)
        MPI_Iprobe(MPI_ANY_SOURCE, TAG, r->comm, &there, MPI_STATUS_IGNORE);
    MPI_Mprobe(r->left, TAG, r->comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    heard(r, in, "matched probe");
}

static void exchanges(const struct ring_of *r)
{
    int out = WORD + r->rank, in = 0;

    MPI_Sendrecv(&out, 1, MPI_INT, r->right, TAG, &in, 1, MPI_INT, r->left, TAG, r->comm, MPI_STATUS_IGNORE);
    heard(r, in, "sendrecv");
    in = WORD + r->rank;
    MPI_Sendrecv_replace(&in, 1, MPI_INT, r->right, TAG, r->left, TAG, r->comm, MPI_STATUS_IGNORE);
    heard(r, in, "sendrecv_replace");
    MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, TAG, r->comm);
}

/* Messages and collectives in one array of requests. */
static void mixed(struct zoo_comm *w, const struct ring_of *r)
{
    struct zoo_act *sum = zoo_act_new(w, ZOO_ALLREDUCE, 0);
    int out = WORD + r->rank, in = 0;
    MPI_Request request[4];

    MPI_Irecv(&in, 1, MPI_INT, r->left, TAG, r->comm, &request[0]);
    zoo_act_post(sum, ZOO_NONBLOCKING);
    request[1] = *zoo_act_request(sum);
    request[2] = MPI_REQUEST_NULL;
    MPI_Isend(&out, 1, MPI_INT, r->right, TAG, r->comm, &request[3]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    heard(r, in, "mixed");
    zoo_act_verify(sum);
    zoo_act_free(sum);
}

void zoo_messages(struct zoo_comm *w)
{
    struct ring_of r = { w->comm, w->rank, (w->rank + w->size - 1) % w->size, (w->rank + 1) % w->size };
    int size = 4096 + MPI_BSEND_OVERHEAD;
    void *buffer = xcalloc(1, (size_t)size);

    MPI_Buffer_attach(buffer, size);
    blocking_sends(&r);
    nonblocking_sends(&r);
    persistent_sends(&r);
    probes(&r);
    exchanges(&r);
    mixed(w, &r);
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
}
