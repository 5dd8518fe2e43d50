/* stress.c - legal MPI programs drawn at random.
 *
 *     stress SEED OPERATIONS [threads|KIND...]
 *
 * All ranks draw the same operations from SEED and do their parts of them: collectives on communicators that
 * come and go, messages with and without wildcards that are completed at once or later and in every way,
 * persistent requests, receives that are cancelled, calls that the library refuses, error handlers that call
 * a collective, jump out of the call or unwind the stack as C++ exceptions do, attributes whose callbacks
 * make and free communicators.  No operation waits for a rank that has not come to it, so none can hang.
 * threads: the same by two threads at once, each on communicators of its own, which only the first one makes
 * and frees: Open MPI 4.1 hangs or crashes where both do.  KIND...: only operations of these kinds (see
 * kinds[]).
 *
 * A failure is made smaller by fewer OPERATIONS, which are the first ones of more, and by fewer kinds.  Each
 * rank prints a sum over all that it received and all errors that it got, and how many calls it made: the
 * same for the same SEED, with the probe or without. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

enum { COMMS = 12, PENDING = 40, BYTES = 20000, ANY_BASE = 100 };

struct comm {
    MPI_Comm handle; /* MPI_COMM_NULL: this rank is no member */
    int size, rank;
    unsigned inside; /* 1 << rank in MPI_COMM_WORLD of each member, the same on all ranks */
};

struct pending {
    MPI_Request request;
    unsigned char *data; /* NULL: free */
    int bytes;           /* received: -1 */
    uint64_t sum;        /* of what must come */
};

/* What a thread has. */
struct script {
    uint64_t shared, own; /* generators: the same on all ranks, and this rank's */
    struct comm comm[COMMS];
    int n_comms;
    struct pending pending[PENDING];
    uint64_t sum;
    long calls;
    unsigned kinds;
    int operations;
    bool beside; /* another thread is in MPI, too: MPICH calls error handlers with its lock held */
};

static int me, n, keyval;
static int wrong;
static _Thread_local jmp_buf back;
/* the stack frame that an exception reaches; NULL: the handler jumps */
static _Thread_local const void *caught_by;
static _Thread_local struct script *self;
static _Thread_local MPI_Comm handler_on; /* that the error handler calls a collective on */

#define WRONG(fmt, ...) (wrong++ < 5 ? (void)printf("%d: " fmt, me, ##__VA_ARGS__) : (void)0)
#define CALL(s, call)   ((s)->calls++, MPI_##call)

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int below(uint64_t *state, int limit)
{
    return (int)(draw(state) % (uint64_t)limit);
}

static void add(struct script *s, uint64_t value)
{
    s->sum = (s->sum ^ value) * 0x100000001b3u;
}

static int class_of(int rc)
{
    int class = 0;

    MPI_Error_class(rc, &class);
    return class;
}

/* ---- communicators ---- */

static void comm_add(struct script *s, MPI_Comm handle, unsigned inside)
{
    struct comm *c = &s->comm[s->n_comms++];

    *c = (struct comm){ .handle = handle, .inside = inside };
    if (handle == MPI_COMM_NULL)
        return;
    CALL(s, Comm_set_errhandler)(handle, MPI_ERRORS_RETURN);
    MPI_Comm_size(handle, &c->size);
    MPI_Comm_rank(handle, &c->rank);
    if (c->size != __builtin_popcount(inside))
        WRONG("a communicator of %d has %d members\n", __builtin_popcount(inside), c->size);
}

/* Any, the same on all ranks; NULL: this rank is no member. */
static struct comm *any_comm(struct script *s)
{
    struct comm *c = &s->comm[below(&s->shared, s->n_comms)];

    return c->inside >> me & 1 ? c : NULL;
}

static void make(struct script *s)
{
    int from = below(&s->shared, s->n_comms), how = below(&s->shared, 5), colors = 1 + below(&s->shared, 3);
    unsigned inside = s->comm[from].inside, salt = (unsigned)draw(&s->shared), mine = 0;
    struct comm *c = inside >> me & 1 ? &s->comm[from] : NULL;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Request request;

    if (s->n_comms == COMMS)
        return;
    if (how == 0) {
        /* Parts of a split are communicators of their own, each at the same place on its members. */
        unsigned part[3] = { 0 };

        for (int r = 0, k = 0; r < n; r++)
            if (inside >> r & 1)
                part[(salt >> k++) % (unsigned)colors] |= 1u << r;
        for (int k = 0; k < colors; k++)
            mine = part[k] >> me & 1 ? part[k] : mine;
        if (c)
            CALL(s, Comm_split)(c->handle, __builtin_ctz(mine), -me, &made);
        comm_add(s, made, mine ? mine : part[0] ? part[0] : inside);
        /* Ranks differ in what they hold at this place: nobody else is to use it as one of theirs. */
        if (made != MPI_COMM_NULL) {
            int one = 1, got = 0;

            CALL(s, Allreduce)(&one, &got, 1, MPI_INT, MPI_SUM, made);
            add(s, (uint64_t)got);
            CALL(s, Comm_free)(&made);
        }
        s->n_comms--;
        return;
    }
    if (c && how == 1) {
        MPI_Group all, some;
        int keep[32], k = 0;

        for (int r = 0; r < c->size; r++)
            if (r != (int)(salt % (unsigned)c->size) || c->size == 1)
                keep[k++] = r;
        CALL(s, Comm_group)(c->handle, &all);
        CALL(s, Group_incl)(all, k, keep, &some);
        if (c->rank != (int)(salt % (unsigned)c->size) || c->size == 1)
            CALL(s, Comm_create_group)(c->handle, some, (int)(salt % 1000), &made);
        CALL(s, Group_free)(&all);
        CALL(s, Group_free)(&some);
        /* Only those who are in it know: it ends here. */
        if (made != MPI_COMM_NULL) {
            CALL(s, Barrier)(made);
            CALL(s, Comm_free)(&made);
        }
        return;
    }
    if (how == 1)
        return;
    if (c && how == 2) {
        CALL(s, Comm_dup)(c->handle, &made);
    } else if (c && how == 3) {
        CALL(s, Comm_idup)(c->handle, &made, &request);
        CALL(s, Wait)(&request, MPI_STATUS_IGNORE);
    } else if (c) {
        int dims[1] = { c->size }, periods[1] = { 1 };

        CALL(s, Cart_create)(c->handle, 1, dims, periods, 0, &made);
    }
    comm_add(s, made, inside);
}

/* Its messages that are on their way arrive all the same. */
static void unmake(struct script *s)
{
    int at = below(&s->shared, s->n_comms);

    if (at == 0)
        return;
    if (s->comm[at].handle != MPI_COMM_NULL)
        CALL(s, Comm_free)(&s->comm[at].handle);
    s->comm[at] = s->comm[--s->n_comms];
}

/* The attribute's value is a communicator, which a copy of the one that has it gets a copy of. */
static int copy_attribute(MPI_Comm old, int key, void *extra, void *value, void *out, int *flag)
{
    MPI_Comm *made = malloc(sizeof(*made));

    (void)old, (void)key, (void)extra;
    CALL(self, Comm_dup)(*(MPI_Comm *)value, made);
    *(void **)out = made;
    *flag = 1;
    return MPI_SUCCESS;
}

static int drop_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    MPI_Comm *made = value;
    int one = 1, got = 0;

    (void)comm, (void)key, (void)extra;
    CALL(self, Allreduce)(&one, &got, 1, MPI_INT, MPI_SUM, *made);
    CALL(self, Comm_free)(made);
    free(made);
    return MPI_SUCCESS;
}

static void attribute(struct script *s)
{
    struct comm *c = any_comm(s);
    int copies = 1 + below(&s->shared, 3);
    MPI_Comm outer, copy[3], *value;

    if (!c)
        return;
    value = malloc(sizeof(*value));
    CALL(s, Comm_dup)(c->handle, &outer);
    CALL(s, Comm_dup)(c->handle, value);
    CALL(s, Comm_set_attr)(outer, keyval, value);
    for (int i = 0; i < copies; i++)
        CALL(s, Comm_dup)(outer, &copy[i]);
    for (int i = 0; i < copies; i++)
        CALL(s, Comm_free)(&copy[i]);
    CALL(s, Comm_free)(&outer);
}

/* ---- collectives ---- */

static void collective(struct script *s)
{
    struct comm *c = any_comm(s);
    int which = below(&s->shared, 7), count = below(&s->shared, 40), root = below(&s->shared, n),
        sums[64] = { 0 }, values[64];
    int counts[32], theirs[32], places[32]; /* what goes to each, what comes from each, and where */
    MPI_Request request;

    if (!c)
        return;
    root %= c->size;
    for (int i = 0; i < 64; i++)
        values[i] = c->rank + i;
    for (int i = 0; i < c->size; i++) {
        counts[i] = 1 + i % 2;
        theirs[i] = 1 + c->rank % 2;
        places[i] = 2 * i;
    }
    switch (which) {
    case 0:
        CALL(s, Barrier)(c->handle);
        break;
    case 1:
        CALL(s, Bcast)(values, count, MPI_INT, root, c->handle);
        memcpy(sums, values, sizeof(sums));
        break;
    case 2:
        CALL(s, Allreduce)(values, sums, count, MPI_INT, MPI_SUM, c->handle);
        break;
    case 3:
        CALL(s, Gatherv)(values, counts[c->rank], MPI_INT, sums, counts, places, MPI_INT, root, c->handle);
        break;
    case 4:
        CALL(s, Iallreduce)(values, sums, count, MPI_INT, MPI_MAX, c->handle, &request);
        for (int done = 0; !done;)
            CALL(s, Test)(&request, &done, MPI_STATUS_IGNORE), s->calls--;
        s->calls++;
        break;
    case 5:
        CALL(s, Ibcast)(values, count, MPI_INT, root, c->handle, &request);
        CALL(s, Waitall)(1, &request, MPI_STATUSES_IGNORE);
        memcpy(sums, values, sizeof(sums));
        break;
    default:
        CALL(s, Alltoallv)(values, counts, places, MPI_INT, sums, theirs, places, MPI_INT, c->handle);
        break;
    }
    for (int i = 0; i < 64; i++)
        add(s, (uint64_t)(unsigned)sums[i]);
}

/* ---- messages ---- */

static void fill(unsigned char *data, int bytes, uint64_t from)
{
    for (int i = 0; i < bytes; i += 8) {
        uint64_t word = draw(&from);

        memcpy(data + i, &word, (size_t)(bytes - i < 8 ? bytes - i : 8));
    }
}

static uint64_t sum_of(const unsigned char *data, int bytes)
{
    uint64_t h = 14695981039346656037u;

    for (int i = 0; i < bytes; i++)
        h = (h ^ data[i]) * 0x100000001b3u;
    return h;
}

static struct pending *keep(struct script *s, int bytes)
{
    for (struct pending *p = s->pending; p < s->pending + PENDING; p++)
        if (!p->data) {
            p->data = malloc((size_t)bytes + 1);
            p->bytes = bytes;
            p->sum = 0;
            return p;
        }
    return NULL;
}

static void settle(struct script *s, struct pending *p)
{
    if (p->sum && sum_of(p->data, p->bytes) != p->sum)
        WRONG("a message has other contents\n");
    add(s, p->sum);
    free(p->data);
    p->data = NULL;
}

/* Complete all that is pending, in one of the ways that MPI has. */
static void complete(struct script *s)
{
    struct pending *list[PENDING];
    MPI_Request requests[PENDING];
    MPI_Status statuses[PENDING];
    int k = 0, way = below(&s->own, 6), done = 0, index, indices[PENDING];

    for (struct pending *p = s->pending; p < s->pending + PENDING; p++)
        if (p->data) {
            requests[k] = p->request;
            list[k++] = p;
        }
    s->calls++; /* however many it takes */
    if (way == 0)
        MPI_Waitall(k, requests, MPI_STATUSES_IGNORE);
    else if (way == 1)
        MPI_Waitall(k, requests, statuses);
    else if (way == 2)
        for (int i = k; i-- > 0;)
            MPI_Wait(&requests[i], i % 2 ? MPI_STATUS_IGNORE : statuses);
    else if (way == 3)
        for (int left = k; left; left -= done)
            MPI_Waitsome(k, requests, &done, indices, left % 2 ? MPI_STATUSES_IGNORE : statuses);
    else if (way == 4)
        for (int left = k; left;) {
            MPI_Testany(k, requests, &index, &done, MPI_STATUS_IGNORE);
            left -= done && index != MPI_UNDEFINED;
        }
    else
        while (!done)
            MPI_Testall(k, requests, &done, MPI_STATUSES_IGNORE);
    for (int i = 0; i < k; i++)
        settle(s, list[i]);
}

/* One to another, both known to all; completed now or later. */
static void message(struct script *s)
{
    struct comm *c = any_comm(s);
    int from = below(&s->shared, n), to = below(&s->shared, n), tag = below(&s->shared, 4),
        how = below(&s->shared, 4);
    int bytes = below(&s->shared, 5) ? below(&s->shared, 200) : below(&s->shared, BYTES);
    uint64_t contents = draw(&s->shared);
    struct pending *in = NULL, *out = NULL;

    if (!c)
        return;
    from %= c->size;
    to %= c->size;
    if (c->rank == to) {
        if (!(in = keep(s, bytes))) {
            complete(s);
            in = keep(s, bytes);
        }
        fill(in->data, bytes, contents);
        in->sum = sum_of(in->data, bytes);
        memset(in->data, 0, (size_t)bytes);
        CALL(s, Irecv)(in->data, bytes, MPI_BYTE, from, tag, c->handle, &in->request);
    }
    if (c->rank == from) {
        if (!(out = keep(s, bytes))) {
            complete(s);
            out = keep(s, bytes);
        }
        fill(out->data, bytes, contents);
        if (how == 0 && from != to) {
            CALL(s, Send)(out->data, bytes, MPI_BYTE, to, tag, c->handle);
            free(out->data);
            out->data = NULL;
        } else if (how == 1) {
            CALL(s, Issend)(out->data, bytes, MPI_BYTE, to, tag, c->handle, &out->request);
        } else {
            CALL(s, Isend)(out->data, bytes, MPI_BYTE, to, tag, c->handle, &out->request);
        }
    }
    if (below(&s->own, 6) == 0)
        complete(s);
}

/* Everybody sends to somebody, who does not say from whom, or with which tag: on a communicator that nothing
 * else is on its way on. */
static void wildcard(struct script *s)
{
    struct comm *c = any_comm(s);
    int shift = below(&s->shared, n), tag = ANY_BASE + below(&s->shared, 3), way = below(&s->shared, 4),
        got = -1, to, from;
    MPI_Request request;
    MPI_Status status;

    if (!c)
        return;
    complete(s);
    CALL(s, Barrier)(c->handle);
    to = (c->rank + shift) % c->size;
    from = (c->rank + c->size - shift % c->size) % c->size;
    CALL(s, Isend)(&c->rank, 1, MPI_INT, to, tag, c->handle, &request);
    if (way == 0)
        CALL(s, Recv)(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c->handle, &status);
    else if (way == 1)
        CALL(s, Recv)(&got, 1, MPI_INT, MPI_ANY_SOURCE, tag, c->handle, MPI_STATUS_IGNORE);
    else if (way == 2)
        CALL(s, Recv)(&got, 1, MPI_INT, from, MPI_ANY_TAG, c->handle, &status);
    else {
        MPI_Message matched;

        CALL(s, Mprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, c->handle, &matched, &status);
        CALL(s, Mrecv)(&got, 1, MPI_INT, &matched, &status);
    }
    CALL(s, Wait)(&request, MPI_STATUS_IGNORE);
    if (got != from)
        WRONG("a message of %d came from %d\n", from, got);
    add(s, (uint64_t)got);
    CALL(s, Barrier)(c->handle);
}

static void exchange(struct script *s)
{
    struct comm *c = any_comm(s);
    int shift = below(&s->shared, n), replace = below(&s->shared, 2), got = -1, to, from, value;

    if (!c)
        return;
    to = (c->rank + shift) % c->size;
    from = (c->rank + c->size - shift % c->size) % c->size;
    value = c->rank;
    if (replace)
        CALL(s, Sendrecv_replace)(&value, 1, MPI_INT, to, 5, from, 5, c->handle, MPI_STATUS_IGNORE);
    else
        CALL(s, Sendrecv)(&value, 1, MPI_INT, to, 5, &got, 1, MPI_INT, from, 5, c->handle, MPI_STATUS_IGNORE);
    if ((replace ? value : got) != from)
        WRONG("an exchange with %d got %d\n", from, replace ? value : got);
}

static void persistent(struct script *s)
{
    struct comm *c = any_comm(s);
    int starts = 1 + below(&s->shared, 4), tag = 10 + below(&s->shared, 2), in = -1, out = 0;
    MPI_Request requests[2];

    if (!c)
        return;
    CALL(s, Send_init)(&out, 1, MPI_INT, (c->rank + 1) % c->size, tag, c->handle, &requests[0]);
    CALL(s, Recv_init)(&in, 1, MPI_INT, (c->rank + c->size - 1) % c->size, tag, c->handle, &requests[1]);
    for (int i = 0; i < starts; i++) {
        out = c->rank * 100 + i;
        if (i % 2) {
            CALL(s, Start)(&requests[1]);
            CALL(s, Start)(&requests[0]);
        } else {
            CALL(s, Startall)(2, requests);
        }
        CALL(s, Waitall)(2, requests, MPI_STATUSES_IGNORE);
        if (in != (c->rank + c->size - 1) % c->size * 100 + i)
            WRONG("a persistent receive got %d\n", in);
    }
    CALL(s, Request_free)(&requests[0]);
    CALL(s, Request_free)(&requests[1]);
}

/* A receive is cancelled while one that was posted later waits for the same stream. */
static void cancel(struct script *s)
{
    struct comm *c = any_comm(s);
    int first = below(&s->shared, 2), tag = 20 + below(&s->shared, 2), in[2] = { -1, -1 }, left, right;
    MPI_Request requests[2];

    if (!c)
        return;
    left = (c->rank + c->size - 1) % c->size;
    right = (c->rank + 1) % c->size;
    CALL(s, Irecv)(&in[0], 1, MPI_INT, left, tag, c->handle, &requests[0]);
    CALL(s, Irecv)(&in[1], 1, MPI_INT, left, tag, c->handle, &requests[1]);
    CALL(s, Cancel)(&requests[!first]);
    CALL(s, Wait)(&requests[!first], MPI_STATUS_IGNORE);
    CALL(s, Barrier)(c->handle); /* all have cancelled */
    CALL(s, Send)(&c->rank, 1, MPI_INT, right, tag, c->handle);
    CALL(s, Wait)(&requests[first], MPI_STATUS_IGNORE);
    if (in[first] != left)
        WRONG("the receive that was not cancelled got %d\n", in[first]);
}

/* ---- errors ---- */

static void refused(struct script *s)
{
    struct comm *c = any_comm(s);
    int which = below(&s->shared, 9), who = below(&s->shared, n), x = 0, rc = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm none = MPI_COMM_NULL, made;

    if (!c || me != who)
        return;
    switch (which) {
    case 0:
        rc = CALL(s, Bcast)(&x, -1, MPI_INT, 0, c->handle);
        break;
    case 1:
        rc = CALL(s, Send)(&x, 1, MPI_INT, c->size + 3, 0, c->handle);
        break;
    case 2:
        rc = CALL(s, Irecv)(&x, 1, MPI_INT, 0, -77, c->handle, &request);
        break;
    case 3:
        rc = CALL(s, Isend)(&x, 1, MPI_DATATYPE_NULL, 0, 0, c->handle, &request);
        break;
    case 4:
        rc = CALL(s, Allreduce)(&x, &x, -3, MPI_INT, MPI_SUM, c->handle);
        break;
    case 5:
        rc = CALL(s, Comm_create)(c->handle, MPI_GROUP_NULL, &made);
        break;
    case 6:
        rc = CALL(s, Request_free)(&request);
        break;
    case 7:
        rc = CALL(s, Sendrecv)(&x, 1, MPI_INT, 0, 1, &x, -1, MPI_INT, 0, 1, c->handle, MPI_STATUS_IGNORE);
        break;
    default:
        rc = CALL(s, Barrier)(none);
        break;
    }
    if (!rc)
        WRONG("wrong arguments were accepted (%d)\n", which);
    add(s, (uint64_t)class_of(rc));
}

static void agree(MPI_Comm *comm, int *code, ...)
{
    int one = 1, got = 0;

    (void)comm, (void)code;
    CALL(self, Allreduce)(&one, &got, 1, MPI_INT, MPI_SUM, handler_on);
    add(self, (uint64_t)got);
}

/* Called for each frame that is left. */
static _Unwind_Reason_Code left(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                struct _Unwind_Exception *exception, struct _Unwind_Context *context,
                                void *arg)
{
    (void)version, (void)class, (void)exception, (void)arg;
    if (actions & _UA_END_OF_STACK)
        WRONG("an exception met no frame that it could be caught in\n");
    if ((actions & _UA_END_OF_STACK) || _Unwind_GetCFA(context) > (uintptr_t)caught_by)
        longjmp(back, 1);
    return _URC_NO_REASON;
}

static void jump(MPI_Comm *comm, int *code, ...)
{
    static _Thread_local struct _Unwind_Exception exception;

    (void)comm, (void)code;
    if (caught_by) {
        _Unwind_ForcedUnwind(&exception, left, NULL);
        WRONG("the stack cannot be unwound\n");
    }
    longjmp(back, 1);
}

/* One rank has an error, and its handler does what the others do. */
static void agreement(struct script *s)
{
    struct comm *c = any_comm(s);
    int who = below(&s->shared, n), x = 0;
    MPI_Errhandler handler;

    if (!c || s->beside)
        return;
    handler_on = c->handle;
    if (c->rank != who % c->size) {
        agree(NULL, NULL);
        return;
    }
    CALL(s, Comm_create_errhandler)(agree, &handler);
    CALL(s, Comm_set_errhandler)(c->handle, handler);
    CALL(s, Send)(&x, 1, MPI_INT, c->size + 1, 0, c->handle);
    CALL(s, Comm_set_errhandler)(c->handle, MPI_ERRORS_RETURN);
    CALL(s, Errhandler_free)(&handler);
}

static bool jumps(struct script *s, MPI_Comm comm, int size, int which, bool unwinds)
{
    MPI_Request request;
    int x = 0;

    caught_by = unwinds ? __builtin_frame_address(0) : NULL;
    if (setjmp(back))
        return true;
    if (which == 0)
        CALL(s, Bcast)(&x, -1, MPI_INT, 0, comm);
    else if (which == 1)
        CALL(s, Recv)(&x, 1, MPI_INT, size + 1, 0, comm, MPI_STATUS_IGNORE);
    else
        CALL(s, Ibcast)(&x, -1, MPI_INT, 0, comm, &request);
    return false;
}

static void jumped(struct script *s)
{
    struct comm *c = any_comm(s);
    int which = below(&s->shared, 3), who = below(&s->shared, n), unwinds = below(&s->shared, 2);
    MPI_Errhandler handler;

    if (!c || c->rank != who % c->size || s->beside)
        return;
    CALL(s, Comm_create_errhandler)(jump, &handler);
    CALL(s, Comm_set_errhandler)(c->handle, handler);
    if (!jumps(s, c->handle, c->size, which, unwinds))
        WRONG("no handler was called (%d)\n", which);
    CALL(s, Comm_set_errhandler)(c->handle, MPI_ERRORS_RETURN);
    CALL(s, Errhandler_free)(&handler);
}

/* ---- the program ---- */

static const struct {
    const char *name;
    void (*run)(struct script *);
    int weight;
    bool makes; /* communicators */
} kinds[] = {
    { "collective", collective, 20, false },
    { "message", message, 30, false },
    { "wildcard", wildcard, 6, false },
    { "exchange", exchange, 6, false },
    { "persistent", persistent, 4, false },
    { "cancel", cancel, 3, false },
    { "make", make, 8, true },
    { "unmake", unmake, 6, true },
    { "attribute", attribute, 2, true },
    { "refused", refused, 8, false },
    { "agreement", agreement, 3, false },
    { "jumped", jumped, 3, false },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void *run(void *arg)
{
    struct script *s = arg;

    self = s;
    for (int i = 0; i < s->operations; i++) {
        int at = below(&s->shared, 99);
        size_t k = 0;

        while (k + 1 < KINDS && at >= kinds[k].weight)
            at -= kinds[k++].weight;
        if (s->kinds >> k & 1)
            kinds[k].run(s);
    }
    complete(s);
    while (s->n_comms > 1)
        unmake(s);
    return NULL;
}

static unsigned making(void)
{
    unsigned set = 0;

    for (size_t k = 0; k < KINDS; k++)
        set |= (unsigned)kinds[k].makes << k;
    return set;
}

static void begin(struct script *s, uint64_t seed, int operations, unsigned chosen, bool beside)
{
    MPI_Comm first;

    *s = (struct script){ .shared = seed,
                          .own = seed * 31 + (uint64_t)me,
                          .operations = operations,
                          .kinds = chosen,
                          .sum = 1,
                          .beside = beside };
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    comm_add(s, first, (1u << n) - 1);
}

int main(int argc, char **argv)
{
    static struct script scripts[2];
    int threads = argc > 3 && !strcmp(argv[3], "threads"), provided, n_scripts = threads ? 2 : 1;
    unsigned chosen = 0;
    pthread_t other;

    for (int i = 3 + threads; i < argc; i++)
        for (size_t k = 0; k < KINDS; k++)
            chosen |= !strcmp(argv[i], kinds[k].name) ? 1u << k : 0;
    if (argc < 3 || (argc > 3 + threads && !chosen)) {
        fputs("Usage: stress SEED OPERATIONS [threads] [KIND...]; KIND:", stderr);
        for (size_t k = 0; k < KINDS; k++)
            fprintf(stderr, " %s", kinds[k].name);
        fputc('\n', stderr);
        return 2;
    }
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy_attribute, drop_attribute, &keyval, NULL);
    chosen = chosen ? chosen : ~0u;
    for (int i = 0; i < n_scripts; i++)
        begin(&scripts[i], strtoull(argv[1], NULL, 10) + (uint64_t)i * 1000003, atoi(argv[2]),
              i ? chosen & ~making() : chosen, threads);
    if (threads)
        pthread_create(&other, NULL, run, &scripts[1]);
    run(&scripts[0]);
    if (threads)
        pthread_join(other, NULL);
    for (int i = 0; i < n_scripts; i++)
        MPI_Comm_free(&scripts[i].comm[0].handle);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!wrong)
        printf("%d ok %016llx %ld calls\n", me, (unsigned long long)(scripts[0].sum ^ scripts[1].sum),
               scripts[0].calls + scripts[1].calls);
    fflush(stdout);
    MPI_Finalize();
    return wrong != 0;
}
