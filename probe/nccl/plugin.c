/* plugin.c - the tables that NCCL looks up, ncclProfiler_v1 to ncclProfiler_v7: each version's descriptors
 * are read here, and recorded by record.h.
 *
 * An init() that failed would make NCCL 2.30 count the plugin's users wrongly, for it gives the plugin up and
 * gives it up again when the communicator ends.  So a process that is not guarded is told success with an
 * empty mask, which NCCL takes for a profiler that wants no event, and a NULL context. */
#include "nccl/profiler.h"
#include "nccl/record.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- functions and datatypes ---- */

enum { FUNCTION_NONE, FUNCTION_CE = 12 }; /* what copy engines do is counted for itself */

struct function {
    enum ring_op op;
    uint32_t number; /* of record_operation; 0: it is not recorded */
    bool per_rank;   /* the count is that of one of the ranks' parts of the send buffer */
};

static const struct function functions[] = {
    [FUNCTION_NONE] = { RING_OP_NONE, 0, false },
    [1] = { RING_OP_BCAST, 1, false },
    [2] = { RING_OP_REDUCE, 2, false },
    [3] = { RING_OP_ALLGATHER, 3, false },
    [4] = { RING_OP_REDUCE_SCATTER_BLOCK, 4, true },
    [5] = { RING_OP_ALLREDUCE, 5, false },
    [6] = { RING_OP_SEND, 6, false },
    [7] = { RING_OP_RECV, 7, false },
    [8] = { RING_OP_ALLTOALL, 8, true },
    [9] = { RING_OP_GATHER, 9, false },
    [10] = { RING_OP_SCATTER, 10, true },
    [11] = { RING_OP_ALLTOALLV, 11, false }, /* RCCL's */
};
_Static_assert(sizeof(functions) / sizeof(functions[0]) <= FUNCTION_CE && FUNCTION_CE < RECORD_FUNCTIONS,
               "the copy engines' counter is none of a function's");

/* By the letters in which the names differ: this runs at each event, and a table of names takes longer. */
static const struct function *function_named(const char *name)
{
    unsigned at = FUNCTION_NONE;

    if (!name)
        return &functions[FUNCTION_NONE];
    switch (name[0]) {
    case 'A': /* AllReduce, AllGather, AlltoAll, AlltoAllv */
        if (name[1] == 'l' && name[2] == 'l')
            at = name[3] == 'R' ? 5 : name[3] == 'G' ? 3 : name[3] == 't' || name[3] == 'T' ? 8 : 0;
        if (at == 3 && strnlen(name, 10) != 9) /* not AllGatherV */
            at = 0;
        if (at == 8 && strnlen(name, 10) != 8)
            at = strnlen(name, 10) == 9 && name[8] == 'v' ? 11 : 0;
        break;
    case 'B': /* Broadcast */
        at = name[1] == 'r' ? 1 : 0;
        break;
    case 'G': /* Gather */
        at = name[1] == 'a' ? 9 : 0;
        break;
    case 'R': /* Reduce, ReduceScatter, Recv */
        if (name[1] == 'e' && name[2] == 'c')
            at = 7;
        else if (!strncmp(name, "Reduce", 6))
            at = name[6] == '\0' ? 2 : name[6] == 'S' ? 4 : 0;
        break;
    case 'S': /* Send, Scatter; not SendRecv, which is several */
        if (name[1] == 'c')
            at = 10;
        else if (!strncmp(name, "Send", 4) && name[4] == '\0')
            at = 6;
        break;
    default:
        break;
    }
    return &functions[at];
}

/* Version 1 has NCCL's numbers: enum ncclFunc_t of 2.23. */
static const struct function *function_numbered(unsigned number)
{
    static const uint8_t at[] = { 1, 2, 3, 4, 5, 0, 6, 7 };

    return &functions[number < sizeof(at) ? at[number] : FUNCTION_NONE];
}

/* "ncclFloat32", "ncclInt8", "ncclFloat8e4m3": the first number is of bits.  0: not known. */
static uint64_t datatype_named(const char *name)
{
    uint64_t bits = 0;

    if (!name)
        return 0;
    for (unsigned i = 0; i < 16 && *name && (*name < '0' || *name > '9'); i++)
        name++;
    for (; *name >= '0' && *name <= '9' && bits < 100; name++)
        bits = bits * 10 + (uint64_t)(*name - '0');
    return bits / 8;
}

static uint64_t datatype_numbered(unsigned number)
{
    static const uint8_t bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2 };

    return number < sizeof(bytes) ? bytes[number] : 0;
}

/* ---- events ---- */

static uint64_t product_of(uint64_t count, uint64_t bytes)
{
    uint64_t product;

    return __builtin_mul_overflow(count, bytes, &product) ? 0 : product;
}

/* NCCL's kernels tell the end of a channel by their first thread, and do not wait for the others before (2.27
 * to 2.30).  In a ring all threads go through the same steps.  By the other algorithms, trees first of all,
 * some send up what others receive from above: the first one is through while the rank still waits for the
 * sum. */
static bool ends_early(const char *algorithm)
{
    return algorithm && strncmp(algorithm, "RING", 5);
}

/* what: of a collective seq (as NCCL counts) and root, of a message root (the other rank), and its parts. */
static void begin_operation(void *context, void **event, const struct function *f,
                            struct record_operation what, uint64_t count, uint64_t element_bytes)
{
    what.op = f->op;
    what.function = f->number;
    what.bytes = product_of(count, element_bytes);
    if (f->per_rank)
        what.bytes = product_of(what.bytes, record_ranks(context));
    switch (f->op) {
    case RING_OP_BCAST:
    case RING_OP_REDUCE:
    case RING_OP_GATHER:
    case RING_OP_SCATTER:
    case RING_OP_SEND:
    case RING_OP_RECV:
        break;
    default:
        what.root = -1;
    }
    if (f->number)
        *event = record_begin(context, &what);
}

static int start_v1(void *context, void **event, void *descriptor)
{
    const struct nccl_event_v1 *d = descriptor;

    *event = NULL;
    if (d->type == NCCL_EVENT_COLL) {
        record_name(context, d->coll.comm, (uint32_t)d->rank);
        begin_operation(context, event, function_numbered(d->coll.func),
                        (struct record_operation){ .seq = d->coll.seq, .root = d->coll.root }, d->coll.count,
                        datatype_numbered(d->coll.datatype));
    } else if (d->type == NCCL_EVENT_P2P) {
        record_name(context, d->p2p.comm, (uint32_t)d->rank);
        begin_operation(context, event, function_numbered(d->p2p.func),
                        (struct record_operation){ .root = d->p2p.peer }, d->p2p.count,
                        datatype_numbered(d->p2p.datatype));
    }
    return 0;
}

/* And of 3, which has KernelCh, but does not tell how many of them a collective will have: only how many at
 * most. */
static int start_v2(void *context, void **event, void *descriptor)
{
    const struct nccl_event_v2 *d = descriptor;

    *event = NULL;
    if (d->type == NCCL_EVENT_COLL) {
        record_name(context, d->coll.comm, (uint32_t)d->rank);
        begin_operation(context, event, function_named(d->coll.func),
                        (struct record_operation){ .seq = d->coll.seq, .root = d->coll.root }, d->coll.count,
                        datatype_named(d->coll.datatype));
    } else if (d->type == NCCL_EVENT_P2P) {
        record_name(context, d->p2p.comm, (uint32_t)d->rank);
        begin_operation(context, event, function_named(d->p2p.func),
                        (struct record_operation){ .root = d->p2p.peer }, d->p2p.count,
                        datatype_named(d->p2p.datatype));
    }
    return 0;
}

/* What NCCL gets for events that others belong to: it passes them on as those's parents, and stops them. */
#define GROUP    RECORD_OTHER(1)
#define CAPTURED RECORD_OTHER(2)

/* A graph enqueues what it has captured each time that it is launched.  NCCL counts these collectives only if
 * parts are reported, as then all ranks enqueue them on the host, and only in a group, or for a call, that
 * has a handle; otherwise just some ranks report them, all with the number of the next one. */
static bool is_uncounted(const void *parent)
{
    return parent == CAPTURED && !record_wants_parts();
}

/* From version 4 on: one of c, p and k is read, as the type says; ce_coll lies where coll does. */
static int start_event(void *context, void **event, uint64_t type, void *parent, const struct nccl_coll_v4 *c,
                       const struct nccl_p2p_v4 *p, const struct nccl_kernel_v4 *k)
{
    struct function f;

    *event = NULL;
    if (type == NCCL_EVENT_COLL && !is_uncounted(parent)) {
        begin_operation(context, event, function_named(c->func),
                        (struct record_operation){ .seq = c->seq,
                                                   .root = c->root,
                                                   .parts = c->channels,
                                                   .ends_early = ends_early(c->algorithm) },
                        c->count, datatype_named(c->datatype));
    } else if (type == NCCL_EVENT_P2P && !is_uncounted(parent)) {
        begin_operation(context, event, function_named(p->func),
                        (struct record_operation){ .root = p->peer, .parts = p->channels }, p->count,
                        datatype_named(p->datatype));
    } else if (type == NCCL_EVENT_KERNEL) {
        *event = record_part(context, parent, k->timer);
    } else if (type == NCCL_EVENT_CE_COLL && parent != CAPTURED) { /* launches of a graph tell of none */
        f = *function_named(c->func);
        if (f.number)
            f.number = FUNCTION_CE;
        /* Their number is that of the copy engines' last synchronisation, of which each has several. */
        begin_operation(context, event, &f, (struct record_operation){ .root = c->root, .uncounted = true },
                        c->count, datatype_named(c->datatype));
    } else if (type == NCCL_EVENT_GROUP && record_wants_parts()) {
        *event = GROUP;
    }
    return 0;
}

static int start_v4(void *context, void **event, void *descriptor)
{
    const struct nccl_event_v4 *d = descriptor;

    return start_event(context, event, d->type, d->parent, &d->coll, &d->p2p, &d->kernel);
}

static int start_v5(void *context, void **event, void *descriptor)
{
    const struct nccl_event_v5 *d = descriptor;

    if ((d->type == NCCL_EVENT_COLL_API && d->coll_api.captured) ||
        (d->type == NCCL_EVENT_P2P_API && d->p2p_api.captured)) {
        *event = CAPTURED;
        return 0;
    }
    return start_event(context, event, d->type, d->parent, &d->coll, &d->p2p, &d->kernel);
}

static int stop_event(void *event)
{
    if (event)
        record_end(event);
    return 0;
}

static int record_state(void *event, int state, void *arguments)
{
    (void)event;
    (void)state;
    (void)arguments;
    return 0;
}

static int record_state_v4(void *event, int state, void *arguments)
{
    const union nccl_state_v4 *a = arguments;

    if (state == NCCL_STATE_KERNEL_STOP && event && a)
        record_part_stop(event, a->kernel.timer);
    return 0;
}

/* ---- communicators ---- */

static int close_comm(void *context)
{
    record_close(context);
    return 0;
}

static int init_opened(void **context, int *mask, struct record_comm *c, int wanted)
{
    *context = c;
    if (c)
        *mask = record_wants_parts() ? wanted : wanted & ~NCCL_EVENT_KERNEL;
    return 0;
}

static int init_v1(void **context, int *mask)
{
    return init_opened(context, mask, record_open(0, 0, 0), NCCL_EVENT_COLL | NCCL_EVENT_P2P);
}

static int init_named(void **context, int *mask, uint64_t comm, int ranks, int rank, int wanted)
{
    struct record_comm *c = NULL;

    if (comm && ranks > 0 && rank >= 0 && rank < ranks)
        c = record_open(comm, (uint32_t)ranks, (uint32_t)rank);
    return init_opened(context, mask, c, NCCL_EVENT_COLL | NCCL_EVENT_P2P | NCCL_EVENT_KERNEL | wanted);
}

static int init_v4(void **context, int *mask, const char *comm_name, uint64_t comm, int nodes, int ranks,
                   int rank, void *log)
{
    (void)comm_name;
    (void)nodes;
    (void)log;
    return init_named(context, mask, comm, ranks, rank, 0);
}

static int init_v5(void **context, uint64_t comm, int *mask, const char *comm_name, int nodes, int ranks,
                   int rank, void *log)
{
    return init_v4(context, mask, comm_name, comm, nodes, ranks, rank, log);
}

static int init_v6(void **context, uint64_t comm, int *mask, const char *comm_name, int nodes, int ranks,
                   int rank, void *log)
{
    (void)comm_name;
    (void)nodes;
    (void)log;
    return init_named(context, mask, comm, ranks, rank, NCCL_EVENT_CE_COLL);
}

#define NAME "SyncGuard"

EXPORT const struct nccl_profiler_v1 ncclProfiler_v1 = { NAME,       init_v1,      start_v1,
                                                         stop_event, record_state, close_comm };
EXPORT const struct nccl_profiler_v1 ncclProfiler_v2 = { NAME,       init_v1,      start_v2,
                                                         stop_event, record_state, close_comm };
EXPORT const struct nccl_profiler_v1 ncclProfiler_v3 = { NAME,       init_v1,      start_v2,
                                                         stop_event, record_state, close_comm };
EXPORT const struct nccl_profiler_v4 ncclProfiler_v4 = { NAME,       init_v4,         start_v4,
                                                         stop_event, record_state_v4, close_comm };
EXPORT const struct nccl_profiler_v5 ncclProfiler_v5 = { NAME,       init_v5,         start_v5,
                                                         stop_event, record_state_v4, close_comm };
EXPORT const struct nccl_profiler_v5 ncclProfiler_v6 = { NAME,       init_v6,         start_v5,
                                                         stop_event, record_state_v4, close_comm };
EXPORT const struct nccl_profiler_v7 ncclProfiler_v7 = {
    { NAME, init_v6, start_v5, stop_event, record_state_v4, close_comm }, { NULL }
};
