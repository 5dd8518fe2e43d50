/* collective.c - wrappers of blocking, nonblocking and persistent collectives, generated from collective.def:
 * once for int counts, once for the large counts of MPI 4. */
#include "probe/call.h"

/* ---- sizes and roots that the table uses ---- */

static inline bool in_place(const void *buf)
{
    return buf == probe.abi.in_place;
}

static inline bool is_root(const struct comm *c, int root)
{
    return !(c->flags & RING_EVENT_INTER) && root == c->rank;
}

/* In a broadcast between two groups the root passes MPI_ROOT and the other members of its group
 * MPI_PROC_NULL; only the latter have no buffer. */
static inline bool root_is_null(int root)
{
    return root == probe.abi.proc_null;
}

static inline uint32_t group_size(const struct comm *c)
{
    return c->flags & RING_EVENT_INTER ? c->size - c->peers : c->size;
}

/* n: an array of int or, for large counts, of int64_t; size: that of an element. */
static int64_t count_at(const void *n, size_t size, uint32_t i)
{
    return size == sizeof(int) ? ((const int *)n)[i] : ((const int64_t *)n)[i];
}

static int64_t sum(const void *n, size_t size, uint32_t count)
{
    int64_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += count_at(n, size, i);
    return total;
}

static uint64_t sum_types(const void *n, size_t size, const void *types, uint32_t count)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < count; i++)
        total += bytes_of(count_at(n, size, i), handle_at(types, (int)i));
    return total;
}

/* In the table `accepted` tells whether the library has accepted the arguments: only then are arrays read. */
#define BYTES(count, type)         (accepted ? bytes_of(count, type) : bytes_before(count, type))
#define AT(n, i)                   (accepted ? count_at(n, sizeof(*(n)), (uint32_t)(i)) : 0)
#define SUM(n, count)              (accepted ? sum(n, sizeof(*(n)), count) : 0)
#define SUM_TYPES(n, types, count) (accepted ? sum_types(n, sizeof(*(n)), types, count) : 0)

/* ---- the wrappers ---- */

#define LIST(...) __VA_ARGS__

/* The contribution where it was not known before the call. */
#define CONTRIBUTED(bytes)                                          \
    if (!contributed && !rc && k.ring) {                            \
        const struct comm *c = k.comm;                              \
        const bool accepted = true;                                 \
                                                                    \
        if (c->name == k.event.comm) /* no callback has freed it */ \
            contributed = bytes;                                    \
        (void)accepted;                                             \
    }

#define BLOCKING(symbol, ring_op, params, args, bytes, root) \
    EXPORTED(int symbol params)                              \
    {                                                        \
        static struct next next = { #symbol, NULL };         \
        uint64_t contributed;                                \
        struct collective k;                                 \
        int rc;                                              \
                                                             \
        if (!call_begin(&k, comm, ENTRY(symbol))) {          \
            rc = ((int(*) params)next_get(&next))args;       \
            call_unwind(&k, rc);                             \
            return rc;                                       \
        }                                                    \
        {                                                    \
            const struct comm *c = k.comm;                   \
            const bool accepted = false;                     \
                                                             \
            (void)c, (void)accepted;                         \
            contributed = bytes;                             \
            call_enter(&k, ring_op, 0, contributed, root);   \
        }                                                    \
        call_pace(&k, false);                                \
        rc = ((int(*) params)next_get(&next))args;           \
        CONTRIBUTED(bytes)                                   \
        call_leave(&k, rc, contributed);                     \
        return rc;                                           \
    }

#define NONBLOCKING(symbol, ring_op, params, args, bytes, root)                        \
    EXPORTED(int symbol(LIST params, void *request))                                   \
    {                                                                                  \
        static struct next next = { #symbol, NULL };                                   \
        uint64_t contributed = 0;                                                      \
        struct collective k;                                                           \
        int rc;                                                                        \
                                                                                       \
        if (call_begin_shared(&k, comm, ENTRY(symbol))) {                              \
            const struct comm *c = k.comm;                                             \
            const bool accepted = false;                                               \
                                                                                       \
            (void)c, (void)accepted;                                                   \
            contributed = bytes;                                                       \
            call_enter_shared(&k, ring_op, RING_EVENT_NONBLOCKING, contributed, root); \
            call_pace_shared(&k, true);                                                \
        }                                                                              \
        rc = ((int (*)(LIST params, void *))next_get(&next))(LIST args, request);      \
        CONTRIBUTED(bytes)                                                             \
        call_posted(&k, rc, contributed, request);                                     \
        return rc;                                                                     \
    }

/* Making a persistent request is local: it has no event and no sequence number.  Its arguments are read even
 * while recording is off, because recording may be on when it starts. */
#define PERSISTENT(symbol, ring_op, params, args, bytes_, root_)                                \
    EXPORTED(int symbol(LIST params, handle info, void *request))                               \
    {                                                                                           \
        static struct next next = { #symbol, NULL };                                            \
        struct collective k;                                                                    \
        int rc;                                                                                 \
                                                                                                \
        call_begin_shared(&k, comm, ENTRY(symbol));                                             \
        rc = ((int (*)(LIST params, handle, void *))next_get(&next))(LIST args, info, request); \
        if (k.comm) {                                                                           \
            const struct comm *c = k.comm;                                                      \
            const bool accepted = true;                                                         \
            int at_root = (root_) < 0 ? -1 : (root_);                                           \
                                                                                                \
            (void)accepted;                                                                     \
            if (!rc)                                                                            \
                request_made(handle_at(request, 0), k.comm,                                     \
                             &(struct ring_event){ .comm = c->name,                             \
                                                   .bytes = bytes_,                             \
                                                   .root = at_root,                             \
                                                   .op = ring_op,                               \
                                                   .flags = c->flags | RING_EVENT_NONBLOCKING | \
                                                            RING_EVENT_PERSISTENT },            \
                             false);                                                            \
            call_over();                                                                        \
        }                                                                                       \
        return rc;                                                                              \
    }

/* MPI_X with int counts; Open MPI 4's persistent ones are called MPIX. */
#define COUNT int
#define DISPL int
#define COLLECTIVE(name, lower, op, params, args, bytes, root)              \
    BOTH(BLOCKING, name, RING_OP_##op, params, args, bytes, root)           \
    BOTH(NONBLOCKING, I##lower, RING_OP_##op, params, args, bytes, root)    \
    BOTH(PERSISTENT, name##_init, RING_OP_##op, params, args, bytes, root)  \
    PERSISTENT(MPIX_##name##_init, RING_OP_##op, params, args, bytes, root) \
    PERSISTENT(PMPIX_##name##_init, RING_OP_##op, params, args, bytes, root)
#include "probe/collective.def"
#undef COLLECTIVE
#undef DISPL
#undef COUNT

/* MPI_X_c: MPI_Count for counts, MPI_Aint for displacements. */
#define LARGE
#define COUNT int64_t
#define DISPL intptr_t
#define COLLECTIVE(name, lower, op, params, args, bytes, root)               \
    BOTH(BLOCKING, name##_c, RING_OP_##op, params, args, bytes, root)        \
    BOTH(NONBLOCKING, I##lower##_c, RING_OP_##op, params, args, bytes, root) \
    BOTH(PERSISTENT, name##_init_c, RING_OP_##op, params, args, bytes, root)
#include "probe/collective.def"
