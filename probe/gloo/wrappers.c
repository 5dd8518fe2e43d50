/* wrappers.c - the functions of Gloo and PyTorch that are recorded, under their names as C++ mangles them.
 *
 * All of them take numbers, pointers and references, and return nothing or a bool; a C++ object that is
 * passed by value and is not a plain number is passed by its address.  A wrapper reads what it needs, calls
 * the next definition (probe/next.h) and changes nothing. */
#include "gloo/collective.h"
#include "gloo/group.h"
#include "gloo/guest.h"
#include "gloo/inside.h"
#include "gloo/message.h"
#include "gloo/phase.h"
#include "gloo/unwind.h"
#include "probe/next.h"

/* ---- calls ---- */

/* The call that this thread is inside of: inside_leave() follows, one way or the other. */
static uintptr_t call(struct next *n, const uintptr_t arguments[6])
{
    return unwind_call((unwind_fn)next_get(n), arguments);
}

/* Any other. */
static uintptr_t pass(struct next *n, const uintptr_t a[6])
{
    return ((unwind_fn)next_get(n))(a[0], a[1], a[2], a[3], a[4], a[5]);
}

static const void *address_of(struct next *n)
{
    return (const void *)(uintptr_t)next_get(n);
}

#define ARGUMENT(x)    ((uintptr_t)(x))
#define ARGUMENTS(...) ((const uintptr_t[6]){ __VA_ARGS__ })

/* ---- collectives ---- */

static const struct gloo_buffer *first_of(const struct gloo_vector *v)
{
    return v->begin && v->end > v->begin && v->end - v->begin < 65536 ? *v->begin : NULL;
}

/* Is it of so many elements? */
static bool holds(const struct gloo_buffer *b, size_t elements, size_t element_bytes)
{
    size_t bytes;

    return b && !__builtin_mul_overflow(elements, element_bytes, &bytes) && b->bytes == bytes;
}

/* The rank's part is this buffer.  False: it is not of whole elements. */
static bool take_part(struct group_collective *c, const struct gloo_buffer *b, size_t element_bytes,
                      int32_t root, uint32_t tag)
{
    if (!b || !element_bytes || element_bytes > 64 || b->bytes % element_bytes)
        return false;
    *c = (struct group_collective){ .bytes = b->bytes, .root = root, .tag = tag };
    return true;
}

/* Read the options of a call.  False: they are not laid out as they should be. */
static bool read_allreduce(const void *options, struct group_collective *c)
{
    const struct gloo_allreduce *o = options;
    const struct gloo_buffer *b = first_of(&o->out);

    return holds(b, o->elements, o->element_bytes) && take_part(c, b, o->element_bytes, -1, o->tag);
}

static bool read_broadcast(const void *options, struct group_collective *c)
{
    const struct gloo_broadcast *o = options;
    const struct gloo_buffer *b = o->out ? o->out : o->in;

    return holds(b, o->elements, o->element_bytes) && take_part(c, b, o->element_bytes, o->root, o->tag);
}

static bool read_reduce(const void *options, struct group_collective *c)
{
    const struct gloo_reduce *o = options;
    const struct gloo_buffer *b = o->out ? o->out : o->in;

    return holds(b, o->elements, o->element_bytes) && take_part(c, b, o->element_bytes, o->root, o->tag);
}

/* Without an input a rank's part stands in its output already, among those of all. */
static bool read_allgather(const void *options, struct group_collective *c)
{
    const struct gloo_allgather *o = options;

    if (!take_part(c, o->out, o->element_bytes, -1, o->tag))
        return false;
    c->bytes = o->in ? o->in->bytes : o->out->bytes;
    c->of_all = !o->in;
    return true;
}

static bool read_allgatherv(const void *options, struct group_collective *c)
{
    const struct gloo_allgatherv *o = options;

    if (!take_part(c, o->out, o->element_bytes, -1, o->tag))
        return false;
    c->bytes = o->in ? o->in->bytes : 0;
    return true;
}

/* As for an allgather. */
static bool read_gather(const void *options, struct group_collective *c)
{
    const struct gloo_gather *o = options;

    if (!take_part(c, o->in ? o->in : o->out, o->element_bytes, o->root, o->tag))
        return false;
    c->of_all = !o->in;
    return true;
}

static bool read_scatter(const void *options, struct group_collective *c)
{
    const struct gloo_scatter *o = options;

    return take_part(c, o->out, o->element_bytes, o->root, o->tag);
}

static bool read_alltoall(const void *options, struct group_collective *c)
{
    const struct gloo_allgather *o = options;

    return take_part(c, o->in, o->element_bytes, -1, o->tag);
}

static bool read_alltoallv(const void *options, struct group_collective *c)
{
    const struct gloo_alltoallv *o = options;

    return take_part(c, o->in, o->element_bytes, -1, o->tag);
}

static bool read_barrier(const void *options, struct group_collective *c)
{
    const struct gloo_barrier *o = options;

    *c = (struct group_collective){ .bytes = 0, .root = -1, .tag = o->tag };
    return true;
}

static void collective(struct next *n, const void *options, enum ring_op op,
                       bool (*read)(const void *, struct group_collective *))
{
    struct group *g;
    struct group_collective c;

    if (inside.what != INSIDE_NOTHING) {
        pass(n, ARGUMENTS(ARGUMENT(options)));
        return;
    }
    inside.what = INSIDE_COLLECTIVE; /* recorded or not: its messages are not the program's */
    g = collective_group(((const struct gloo_shared *)options)->at);
    if (g && read(options, &c)) {
        c.op = (uint8_t)op;
        collective_enter(g, &c);
    } else {
        collective_missed();
        if (collective_recorded())
            guest_note(g ? "the Gloo of this program has its options laid out in another way"
                         : "a collective runs on a context that was not seen being made",
                       address_of(n));
    }
    call(n, ARGUMENTS(ARGUMENT(options)));
    inside_leave(true);
}

#define COLLECTIVE(symbol, op, read) \
    WRAPPER(void, symbol, (const void *options), collective, options, RING_OP_##op, read)

COLLECTIVE(_ZN4gloo9allreduceERKNS_16AllreduceOptionsE, ALLREDUCE, read_allreduce)
COLLECTIVE(_ZN4gloo9broadcastERNS_16BroadcastOptionsE, BCAST, read_broadcast)
COLLECTIVE(_ZN4gloo6reduceERNS_13ReduceOptionsE, REDUCE, read_reduce)
COLLECTIVE(_ZN4gloo9allgatherERNS_16AllgatherOptionsE, ALLGATHER, read_allgather)
COLLECTIVE(_ZN4gloo10allgathervERNS_17AllgathervOptionsE, ALLGATHERV, read_allgatherv)
COLLECTIVE(_ZN4gloo6gatherERNS_13GatherOptionsE, GATHER, read_gather)
COLLECTIVE(_ZN4gloo7scatterERNS_14ScatterOptionsE, SCATTER, read_scatter)
COLLECTIVE(_ZN4gloo8alltoallERNS_15AlltoallOptionsE, ALLTOALL, read_alltoall)
COLLECTIVE(_ZN4gloo9alltoallvERNS_16AlltoallvOptionsE, ALLTOALLV, read_alltoallv)
COLLECTIVE(_ZN4gloo7barrierERNS_14BarrierOptionsE, BARRIER, read_barrier)

/* ---- messages ---- */

/* bytes SIZE_MAX: all from the offset on. */
static void post_message(struct next *n, const struct gloo_buffer *b, uintptr_t peer, uint64_t slot,
                         size_t offset, size_t bytes, enum ring_op op, int32_t from)
{
    if (inside.what == INSIDE_NOTHING)
        message_posted(b, op, from, slot,
                       bytes != SIZE_MAX   ? bytes
                       : b->bytes > offset ? b->bytes - offset
                                           : 0);
    pass(n, ARGUMENTS(ARGUMENT(b), peer, slot, offset, bytes));
}

#define POST(symbol, op, type, from)                                                              \
    WRAPPER(void, symbol,                                                                         \
            (const struct gloo_buffer *b, type peer, uint64_t slot, size_t offset, size_t bytes), \
            post_message, b, ARGUMENT(peer), slot, offset, bytes, op, from)

POST(_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm, RING_OP_SEND, int32_t, peer)
POST(_ZN4gloo9transport3tcp13UnboundBuffer4recvEimmm, RING_OP_RECV, int32_t, peer)
POST(_ZN4gloo9transport3tcp13UnboundBuffer4recvESt6vectorIiSaIiEEmmm, RING_OP_RECV, const void *, -1)

static bool await_message(struct next *n, const struct gloo_buffer *b, int32_t *peer, int64_t timeout_ms,
                          enum ring_op op)
{
    bool done;

    if (inside.what != INSIDE_NOTHING || !message_await(b, op))
        return pass(n, ARGUMENTS(ARGUMENT(b), ARGUMENT(peer), (uintptr_t)timeout_ms)) & 1;
    inside.what = INSIDE_MESSAGE;
    inside.from = peer;
    done = call(n, ARGUMENTS(ARGUMENT(b), ARGUMENT(peer), (uintptr_t)timeout_ms)) & 1;
    inside_leave(done);
    return done;
}

#define AWAIT_MESSAGE(symbol, op)                                                                          \
    WRAPPER(bool, symbol, (const struct gloo_buffer *b, int32_t *peer, int64_t timeout_ms), await_message, \
            b, peer, timeout_ms, op)

AWAIT_MESSAGE(_ZN4gloo9transport3tcp13UnboundBuffer8waitSendEPiNSt6chrono8durationIlSt5ratioILl1ELl1000EEEE,
              RING_OP_SEND)
AWAIT_MESSAGE(_ZN4gloo9transport3tcp13UnboundBuffer8waitRecvEPiNSt6chrono8durationIlSt5ratioILl1ELl1000EEEE,
              RING_OP_RECV)

/* ---- the program waits ---- */

static uintptr_t await(struct next *n, const uintptr_t arguments[6])
{
    uintptr_t result;

    if (inside.what != INSIDE_NOTHING || !collective_await())
        return pass(n, arguments);
    inside.what = INSIDE_AWAIT;
    result = call(n, arguments);
    inside_leave(true);
    return result;
}

static bool await_work(struct next *n, void *work, int64_t timeout_ms)
{
    return await(n, ARGUMENTS(ARGUMENT(work), (uintptr_t)timeout_ms)) & 1;
}
WRAPPER(bool, _ZN4c10d4Work4waitENSt6chrono8durationIlSt5ratioILl1ELl1000EEEE,
        (void *work, int64_t timeout_ms), await_work, work, timeout_ms)

/* The end of a backward pass: DistributedDataParallel waits for all buckets, in another way than programs
 * wait. */
static void end_backward(struct next *n, void *reducer)
{
    phase_enter(reducer, MARKS_COMMUNICATION);
    await(n, ARGUMENTS(ARGUMENT(reducer)));
    phase_enter(reducer, MARKS_OTHER);
}
WRAPPER(void, _ZN4c10d7Reducer17finalize_backwardEv, (void *reducer), end_backward, reducer)

/* The forward pass of DistributedDataParallel begins, and ends. */
static void begin_forward(struct next *n, void *reducer)
{
    phase_enter(reducer, MARKS_FORWARD);
    pass(n, ARGUMENTS(ARGUMENT(reducer)));
}
WRAPPER(void, _ZN4c10d7Reducer19prepare_for_forwardEv, (void *reducer), begin_forward, reducer)

static void begin_backward(struct next *n, void *reducer, const void *outputs)
{
    pass(n, ARGUMENTS(ARGUMENT(reducer), ARGUMENT(outputs)));
    phase_enter(reducer, MARKS_BACKWARD);
}
WRAPPER(void, _ZN4c10d7Reducer20prepare_for_backwardERKSt6vectorIN2at6TensorESaIS3_EE,
        (void *reducer, const void *outputs), begin_backward, reducer, outputs)

/* ---- groups ---- */

#define PREFIX_MAX 65536u

static void make_store(struct next *n, void *store, const void *prefix, const struct gloo_shared *parent,
                       const char *text, size_t length)
{
    if (guest_wanted() && text && length <= PREFIX_MAX) {
        guest_lock_anyway();
        group_store(store, parent->at, text, length);
        guest_unlock();
    }
    pass(n, ARGUMENTS(ARGUMENT(store), ARGUMENT(prefix), ARGUMENT(parent)));
}

static size_t old_length(const struct gloo_old_string *s)
{
    return s->at ? ((const size_t *)(const void *)s->at)[-3] : 0;
}

#define STORE(symbol, string, length)                                                                   \
    WRAPPER(void, symbol, (void *store, const struct string *prefix, const struct gloo_shared *parent), \
            make_store, store, prefix, parent, prefix->at, length)

/* A reference to the prefix, until PyTorch 1; its value, which is passed as one, from 2.0.  Both as PyTorch's
 * wheels had them until 2.5. */
STORE(
    _ZN4c10d11PrefixStoreC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEN3c1013intrusive_ptrINS_5StoreENS9_6detail34intrusive_target_default_null_typeISB_EEEE,
    gloo_string, prefix->length)
STORE(
    _ZN4c10d11PrefixStoreC1ENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEN3c1013intrusive_ptrINS_5StoreENS7_6detail34intrusive_target_default_null_typeIS9_EEEE,
    gloo_string, prefix->length)
STORE(
    _ZN4c10d11PrefixStoreC1ERKSsN3c1013intrusive_ptrINS_5StoreENS3_6detail34intrusive_target_default_null_typeIS5_EEEE,
    gloo_old_string, old_length(prefix))
STORE(
    _ZN4c10d11PrefixStoreC1ESsN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEE,
    gloo_old_string, old_length(prefix))

static void make_group(struct next *n, void *group, const struct gloo_shared *store, int32_t rank,
                       int32_t size, void *options)
{
    const uintptr_t *arguments =
        ARGUMENTS(ARGUMENT(group), ARGUMENT(store), (uintptr_t)rank, (uintptr_t)size, ARGUMENT(options));

    if (inside.what != INSIDE_NOTHING || !guest_wanted() || size < 1 || rank < 0 || rank >= size) {
        pass(n, arguments);
        return;
    }
    guest_lock_anyway();
    inside.group = group_new(group, store->at, (uint32_t)rank, (uint32_t)size);
    guest_unlock();
    inside.what = INSIDE_GROUP;
    call(n, arguments);
    guest_lock_anyway();
    if (inside.group && !group_connected(inside.group))
        guest_note("the PyTorch of this program calls a Gloo whose functions cannot be reached",
                   address_of(n));
    guest_unlock();
    inside_leave(true);
}
WRAPPER(
    void,
    _ZN4c10d16ProcessGroupGlooC1ERKN3c1013intrusive_ptrINS_5StoreENS1_6detail34intrusive_target_default_null_typeIS3_EEEEiiNS2_INS0_7OptionsENS5_ISA_EEEE,
    (void *group, const struct gloo_shared *store, int32_t rank, int32_t size, void *options), make_group,
    group, store, rank, size, options)

static void make_context(struct next *n, void *context, int32_t rank, int32_t size, int32_t base)
{
    if (inside.what == INSIDE_GROUP && inside.group) {
        guest_lock_anyway();
        group_context(inside.group, context);
        guest_unlock();
    }
    pass(n, ARGUMENTS(ARGUMENT(context), (uintptr_t)rank, (uintptr_t)size, (uintptr_t)base));
}
WRAPPER(void, _ZN4gloo10rendezvous7ContextC1Eiii, (void *context, int32_t rank, int32_t size, int32_t base),
        make_context, context, rank, size, base)

/* Called when a collective is posted. */
static uint32_t take_tag(struct next *n, void *group)
{
    uint32_t tag = (uint32_t)pass(n, ARGUMENTS(ARGUMENT(group)));

    collective_posted(group, tag);
    return tag;
}
WRAPPER(uint32_t, _ZN4c10d16ProcessGroupGloo7nextTagEv, (void *group), take_tag, group)
