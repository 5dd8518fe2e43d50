/* p2p.c - wrappers of the calls that send, receive and probe messages.
 *
 * A message is recorded at both ends with the stretch in which it held the rank: a blocking call, or the wait that
 * completed its request (wait.c).  A message that a probe has matched keeps its number until it is received. */
#include "probe/p2p.h"

#include "probe/message.h"
#include "probe/request.h"

/* The call that p2p_show_message() showed for a message has returned at time now.  received: its bytes are known by now.
 * False: it is not recorded. */
HOT bool ended_shown(const struct p2p *p, bool received, uint64_t bytes, uint64_t now)
{
    if (__builtin_expect(!hot_is_shown(p->ring, p->at, p->enter), 0)) {
        ring_message_missed(p->ring);
        return false;
    }
    return hot_leave_message(p->ring, p->at, received, bytes, now);
}

/* The same with the whole event.  wild: it was incomplete when it was shown. */
HOT bool ended(const struct p2p *p, struct ring_event *e, uint64_t now, bool wild)
{
    if (!p->ring || e->op == RING_OP_NONE)
        return false;
    if (!wild)
        return ended_shown(p, e->op == RING_OP_RECV, e->bytes, now);
    e->enter = p->enter;
    e->leave = now;
    return hot_message(p->ring, e);
}

/* ---- what happens after a call ---- */

/* A message that was sent while recording is off is counted in its stream. */
static __attribute__((noinline)) void sent_unrecorded(const struct comm *c, int to, int tag, int rc)
{
    struct ring_event e;

    if (!rc)
        message_begin(&e, c, RING_OP_SEND, to, tag);
    call_over();
}

/* The message was not sent; its event is where the call is shown. */
static __attribute__((noinline)) void sent_undo(const struct p2p *p)
{
    struct ring_event e;

    if (!hot_is_shown(p->ring, p->at, p->enter) || p->at->op != RING_OP_SEND)
        return;
    e = *p->at;
    message_undo(&e);
}

/* Little is kept in registers while the library is at work: the event is in the ring.  message: there is one. */
HOT void sent(struct p2p *p, uint64_t bytes, bool message, int rc)
{
    uint64_t now = p2p_leave(p, bytes);

    if (__builtin_expect(rc, 0))
        sent_undo(p);
    if (__builtin_expect(rc || !message || !ended_shown(p, false, 0, now), 0))
        p2p_over(p, now);
}

/* The call received with an error or a wildcard, has no message, or is not recorded. */
static __attribute__((noinline)) void received_rare(struct p2p *p, int from, int tag, int rc,
                                                    const void *status, uint64_t now)
{
    struct ring_event e;

    message_prepare(&e, p->comm, RING_OP_RECV, from, tag);
    if (!rc)
        message_status(&e, p->comm, status);
    if (rc || !ended(p, &e, now, true))
        p2p_over(p, now);
}

/* plain: there is a message, and its partner and tag were known before. */
HOT void received(struct p2p *p, bool plain, int from, int tag, int rc, const void *status)
{
    uint64_t now = p2p_leave(p, 0);

    if (__builtin_expect(rc || !plain || !p->ring, 0))
        received_rare(p, from, tag, rc, status, now);
    else if (!ended_shown(p, true, status_bytes(status), now))
        p2p_over(p, now);
}

/* The same for a message that a probe matched. */
static void received_matched(struct p2p *p, struct ring_event *e, int rc, const void *status)
{
    uint64_t now = p2p_leave(p, 0);

    if (!rc)
        message_status(e, p->comm, status);
    if (rc || !ended(p, e, now, false))
        p2p_over(p, now);
}

/* The message was not posted. */
static __attribute__((noinline)) void posted_undo(struct hot_message m)
{
    struct ring_event e;

    hot_message_set(&e, 0, &m);
    message_undo(&e);
}

/* A nonblocking operation was posted.  Of receives with a wildcard the request is kept even if they are not
 * recorded, because their stream counts them when they complete. */
HOT void posted(struct p2p *p, struct hot_message m, uint64_t bytes, int rc, const void *request)
{
    p2p_posted(p, bytes);
    if (__builtin_expect(rc, 0)) {
        posted_undo(m);
        return;
    }
    if (__builtin_expect(!m.tag_op || (!p->ring && !hot_message_wild(m)), 0))
        return;
    request_post_message(p->ring, handle_at(request, 0), p->enter, m, p->comm);
}

/* What is posted, in as few registers as possible while the library is at work; all 0: no message. */
HOT struct hot_message to_post(struct ring_event *e)
{
    if (__builtin_expect(e->op == RING_OP_NONE, 0))
        return (struct hot_message){ 0 };
    e->flags |= RING_EVENT_NONBLOCKING;
    return hot_message_new(e);
}

HOT uint64_t bytes_sent(const struct p2p *p, int64_t n, handle type)
{
    return p->ring ? bytes_of(n, type) : 0;
}

#define NEXT(params) ((int(*) params)next_get(&next))

/* BOTH for int counts, and for the large counts of MPI 4. */
#define ALL(DEFINE, name)   \
    BOTH(DEFINE, name, int) \
    BOTH(DEFINE, name##_c, int64_t)

/* ---- sending ---- */

#define SEND_PARAMS(COUNT) (const void *buf, COUNT n, handle type, int to, int tag, handle comm)

#define SEND(symbol, COUNT)                                               \
    EXPORT int symbol SEND_PARAMS(COUNT);                                 \
    int symbol SEND_PARAMS(COUNT)                                         \
    {                                                                     \
        static struct next next = { #symbol, NULL };                      \
        struct ring_event e;                                              \
        struct p2p p;                                                     \
        int rc;                                                           \
                                                                          \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                          \
            return NEXT(SEND_PARAMS(COUNT))(buf, n, type, to, tag, comm); \
        if (__builtin_expect(!p.ring, 0)) {                               \
            rc = NEXT(SEND_PARAMS(COUNT))(buf, n, type, to, tag, comm);   \
            sent_unrecorded(p.comm, to, tag, rc);                         \
            return rc;                                                    \
        }                                                                 \
        message_begin(&e, p.comm, RING_OP_SEND, to, tag);                 \
        e.bytes = bytes_sent(&p, n, type);                                \
        p2p_show_message(&p, &e);                                         \
        rc = NEXT(SEND_PARAMS(COUNT))(buf, n, type, to, tag, comm);       \
        sent(&p, e.bytes, e.op != RING_OP_NONE, rc);                      \
        return rc;                                                        \
    }
ALL(SEND, Send)
ALL(SEND, Bsend)
ALL(SEND, Ssend)
ALL(SEND, Rsend)

#define ISEND_PARAMS(COUNT) \
    (const void *buf, COUNT n, handle type, int to, int tag, handle comm, void *request)

#define ISEND(symbol, COUNT)                                                        \
    EXPORT int symbol ISEND_PARAMS(COUNT);                                          \
    int symbol ISEND_PARAMS(COUNT)                                                  \
    {                                                                               \
        static struct next next = { #symbol, NULL };                                \
        struct hot_message m;                                                       \
        struct ring_event e;                                                        \
        struct p2p p;                                                               \
        int rc;                                                                     \
                                                                                    \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                                    \
            return NEXT(ISEND_PARAMS(COUNT))(buf, n, type, to, tag, comm, request); \
        message_begin(&e, p.comm, RING_OP_SEND, to, tag);                           \
        e.bytes = bytes_sent(&p, n, type);                                          \
        m = to_post(&e);                                                            \
        rc = NEXT(ISEND_PARAMS(COUNT))(buf, n, type, to, tag, comm, request);       \
        posted(&p, m, e.bytes, rc, request);                                        \
        return rc;                                                                  \
    }
ALL(ISEND, Isend)
ALL(ISEND, Ibsend)
ALL(ISEND, Issend)
ALL(ISEND, Irsend)

/* ---- receiving ---- */

#define RECV_PARAMS(COUNT) (void *buf, COUNT n, handle type, int from, int tag, handle comm, void *status)

#define RECV(symbol, COUNT)                                                             \
    EXPORT int symbol RECV_PARAMS(COUNT);                                               \
    int symbol RECV_PARAMS(COUNT)                                                       \
    {                                                                                   \
        static struct next next = { #symbol, NULL };                                    \
        struct ring_event e;                                                            \
        struct status own;                                                              \
        struct p2p p;                                                                   \
        int rc;                                                                         \
                                                                                        \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                                        \
            return NEXT(RECV_PARAMS(COUNT))(buf, n, type, from, tag, comm, status);     \
        status = status_wanted(status, &own);                                           \
        message_begin(&e, p.comm, RING_OP_RECV, from, tag);                             \
        p2p_show_message(&p, &e);                                                       \
        rc = NEXT(RECV_PARAMS(COUNT))(buf, n, type, from, tag, comm, status);           \
        received(&p, e.op != RING_OP_NONE && !message_wild(&e), from, tag, rc, status); \
        return rc;                                                                      \
    }
ALL(RECV, Recv)

#define IRECV_PARAMS(COUNT) (void *buf, COUNT n, handle type, int from, int tag, handle comm, void *request)

#define IRECV(symbol, COUNT)                                                          \
    EXPORT int symbol IRECV_PARAMS(COUNT);                                            \
    int symbol IRECV_PARAMS(COUNT)                                                    \
    {                                                                                 \
        static struct next next = { #symbol, NULL };                                  \
        struct hot_message m;                                                         \
        struct ring_event e;                                                          \
        struct p2p p;                                                                 \
        int rc;                                                                       \
                                                                                      \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                                      \
            return NEXT(IRECV_PARAMS(COUNT))(buf, n, type, from, tag, comm, request); \
        message_begin(&e, p.comm, RING_OP_RECV, from, tag);                           \
        m = to_post(&e);                                                              \
        rc = NEXT(IRECV_PARAMS(COUNT))(buf, n, type, from, tag, comm, request);       \
        posted(&p, m, 0, rc, request);                                                \
        return rc;                                                                    \
    }
ALL(IRECV, Irecv)

/* ---- both at once ---- */

/* last: the status, or the request. */
#define EXCHANGE_PARAMS(COUNT)                                                                             \
    (const void *buf, COUNT n, handle type, int to, int tag, void *rbuf, COUNT rn, handle rtype, int from, \
     int rtag, handle comm, void *last)
#define EXCHANGE_ARGS (buf, n, type, to, tag, rbuf, rn, rtype, from, rtag, comm, last)
#define REPLACE_PARAMS(COUNT) \
    (void *buf, COUNT n, handle type, int to, int tag, int from, int rtag, handle comm, void *last)
#define REPLACE_ARGS (buf, n, type, to, tag, from, rtag, comm, last)

/* The call is shown without its messages, because it may last for either of them. */
HOT void exchanged(struct p2p *p, struct ring_event *e, struct ring_event *in, int rc, const void *status)
{
    uint64_t now = p2p_leave(p, e->bytes);
    bool sent = !rc && ended(p, e, now, true), received = false;

    if (!rc) {
        message_status(in, p->comm, status);
        in->enter = p->enter;
        in->leave = now;
        received = p->ring && in->op != RING_OP_NONE && hot_message(p->ring, in);
    }
    if (!sent && !received)
        p2p_over(p, now);
}

#define EXCHANGE_AS(symbol, passes, params, args)             \
    EXPORT int symbol params;                                 \
    int symbol params                                         \
    {                                                         \
        static struct next next = { #symbol, NULL };          \
        struct ring_event e, in;                              \
        struct status own;                                    \
        struct p2p p;                                         \
        int rc;                                               \
                                                              \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))              \
            return NEXT(params) args;                         \
        if (passes)                                           \
            call_passes(ENTRY(symbol), comm);                 \
        last = status_wanted(last, &own);                     \
        message_begin(&e, p.comm, RING_OP_SEND, to, tag);     \
        message_begin(&in, p.comm, RING_OP_RECV, from, rtag); \
        e.bytes = bytes_sent(&p, n, type);                    \
        p2p_show(&p, e.bytes);                                \
        rc = NEXT(params) args;                               \
        exchanged(&p, &e, &in, rc, last);                     \
        return rc;                                            \
    }
#define EXCHANGE(symbol, COUNT) EXCHANGE_AS(symbol, false, EXCHANGE_PARAMS(COUNT), EXCHANGE_ARGS)
#define REPLACE(symbol, COUNT)  EXCHANGE_AS(symbol, true, REPLACE_PARAMS(COUNT), REPLACE_ARGS)
ALL(EXCHANGE, Sendrecv)
ALL(REPLACE, Sendrecv_replace)

/* One request for two messages: it stands for the one received; the one sent is recorded with the call that posts
 * it. */
static void exchange_posted(struct p2p *p, struct ring_event *e, struct ring_event *in, int rc,
                            const void *request)
{
    posted(p, to_post(in), e->bytes, rc, request);
    if (!rc && p->ring && e->op != RING_OP_NONE) {
        e->flags |= RING_EVENT_NONBLOCKING | RING_EVENT_UNWAITED;
        e->enter = e->leave = p->enter;
        hot_message(p->ring, e);
    }
}

#define IEXCHANGE_AS(symbol, params, args)                    \
    EXPORT int symbol params;                                 \
    int symbol params                                         \
    {                                                         \
        static struct next next = { #symbol, NULL };          \
        struct ring_event e, in;                              \
        struct p2p p;                                         \
        int rc;                                               \
                                                              \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))              \
            return NEXT(params) args;                         \
        message_begin(&e, p.comm, RING_OP_SEND, to, tag);     \
        message_begin(&in, p.comm, RING_OP_RECV, from, rtag); \
        e.bytes = bytes_sent(&p, n, type);                    \
        rc = NEXT(params) args;                               \
        exchange_posted(&p, &e, &in, rc, last);               \
        return rc;                                            \
    }
#define IEXCHANGE(symbol, COUNT) IEXCHANGE_AS(symbol, EXCHANGE_PARAMS(COUNT), EXCHANGE_ARGS)
#define IREPLACE(symbol, COUNT)  IEXCHANGE_AS(symbol, REPLACE_PARAMS(COUNT), REPLACE_ARGS)
ALL(IEXCHANGE, Isendrecv)
ALL(IREPLACE, Isendrecv_replace)

/* ---- persistent requests ---- */

/* Made locally: nothing is counted before the request starts, and the arguments are read even while recording is off,
 * because recording may be on when it starts. */
static void made(struct p2p *p, enum ring_op op, int peer, int tag, uint64_t bytes, int rc,
                 const void *request)
{
    struct ring_event e;

    call_over();
    if (rc)
        return;
    message_prepare(&e, p->comm, op, peer, tag);
    if (e.op == RING_OP_NONE)
        return;
    e.bytes = bytes;
    e.flags |= RING_EVENT_NONBLOCKING | RING_EVENT_PERSISTENT;
    request_made(handle_at(request, 0), p->comm, &e);
}

#define PERSISTENT_AS(symbol, op, peer, bytes, params, args)    \
    EXPORT int symbol params;                                   \
    int symbol params                                           \
    {                                                           \
        static struct next next = { #symbol, NULL };            \
        struct p2p p;                                           \
        int rc;                                                 \
                                                                \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                \
            return NEXT(params) args;                           \
        rc = NEXT(params) args;                                 \
        made(&p, op, peer, tag, rc ? 0 : (bytes), rc, request); \
        return rc;                                              \
    }
#define SEND_INIT(symbol, COUNT)                                                    \
    PERSISTENT_AS(symbol, RING_OP_SEND, to, bytes_of(n, type), ISEND_PARAMS(COUNT), \
                  (buf, n, type, to, tag, comm, request))
#define RECV_INIT(symbol, COUNT)                                      \
    PERSISTENT_AS(symbol, RING_OP_RECV, from, 0, IRECV_PARAMS(COUNT), \
                  (buf, n, type, from, tag, comm, request))
ALL(SEND_INIT, Send_init)
ALL(SEND_INIT, Bsend_init)
ALL(SEND_INIT, Ssend_init)
ALL(SEND_INIT, Rsend_init)
ALL(RECV_INIT, Recv_init)

/* ---- probing ---- */

#define PROBE(symbol)                                                         \
    EXPORT int symbol(int from, int tag, handle comm, void *status);          \
    int symbol(int from, int tag, handle comm, void *status)                  \
    {                                                                         \
        static struct next next = { #symbol, NULL };                          \
        struct p2p p;                                                         \
        int rc;                                                               \
                                                                              \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                              \
            return NEXT((int, int, handle, void *))(from, tag, comm, status); \
        p2p_show(&p, 0);                                                      \
        rc = NEXT((int, int, handle, void *))(from, tag, comm, status);       \
        p2p_over(&p, p2p_leave(&p, 0));                                       \
        return rc;                                                            \
    }
BOTH(PROBE, Probe)

/* A probe took a message out of its stream, to be received by MPI_Mrecv. */
static void matched(struct p2p *p, int from, int tag, const void *message, const void *status)
{
    struct ring_event e;

    message_begin(&e, p->comm, RING_OP_RECV, from, tag);
    message_status(&e, p->comm, status);
    if (e.op != RING_OP_NONE)
        request_made(handle_at(message, 0), p->comm, &e);
}

#define MPROBE(symbol)                                                                         \
    EXPORT int symbol(int from, int tag, handle comm, void *message, void *status);            \
    int symbol(int from, int tag, handle comm, void *message, void *status)                    \
    {                                                                                          \
        static struct next next = { #symbol, NULL };                                           \
        struct status own;                                                                     \
        struct p2p p;                                                                          \
        int rc;                                                                                \
                                                                                               \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                                               \
            return NEXT((int, int, handle, void *, void *))(from, tag, comm, message, status); \
        status = status_wanted(status, &own);                                                  \
        p2p_show(&p, 0);                                                                       \
        rc = NEXT((int, int, handle, void *, void *))(from, tag, comm, message, status);       \
        p2p_over(&p, p2p_leave(&p, 0));                                                        \
        if (!rc)                                                                               \
            matched(&p, from, tag, message, status);                                           \
        return rc;                                                                             \
    }
BOTH(MPROBE, Mprobe)

/* Never blocks, and takes no part in the sums. */
#define IMPROBE(symbol)                                                                                     \
    EXPORT int symbol(int from, int tag, handle comm, int *flag, void *message, void *status);              \
    int symbol(int from, int tag, handle comm, int *flag, void *message, void *status)                      \
    {                                                                                                       \
        static struct next next = { #symbol, NULL };                                                        \
        struct status own;                                                                                  \
        struct p2p p;                                                                                       \
        int rc;                                                                                             \
                                                                                                            \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                                                            \
            return NEXT((int, int, handle, int *, void *, void *))(from, tag, comm, flag, message, status); \
        status = status_wanted(status, &own);                                                               \
        rc = NEXT((int, int, handle, int *, void *, void *))(from, tag, comm, flag, message, status);       \
        call_over();                                                                                        \
        if (!rc && *flag)                                                                                   \
            matched(&p, from, tag, message, status);                                                        \
        return rc;                                                                                          \
    }
BOTH(IMPROBE, Improbe)

/* What the probe knows of a message that was matched. */
static void take_matched(struct p2p *p, struct ring_event *e, const void *message)
{
    struct ring_event known;
    struct comm *c = request_matched(handle_at(message, 0), &known);

    e->op = RING_OP_NONE;
    if (!c)
        return;
    *e = known;
    p->comm = c;
}

#define MRECV_PARAMS(COUNT) (void *buf, COUNT n, handle type, void *message, void *last)

#define MRECV(symbol, COUNT)                                               \
    EXPORT int symbol MRECV_PARAMS(COUNT);                                 \
    int symbol MRECV_PARAMS(COUNT)                                         \
    {                                                                      \
        static struct next next = { #symbol, NULL };                       \
        struct ring_event e;                                               \
        struct status own;                                                 \
        struct p2p p;                                                      \
        int rc;                                                            \
                                                                           \
        if (!p2p_begin(&p, NULL, ENTRY(symbol)))                           \
            return NEXT(MRECV_PARAMS(COUNT))(buf, n, type, message, last); \
        last = status_wanted(last, &own);                                  \
        take_matched(&p, &e, message);                                     \
        p2p_show_message(&p, &e);                                          \
        rc = NEXT(MRECV_PARAMS(COUNT))(buf, n, type, message, last);       \
        received_matched(&p, &e, rc, last);                                \
        return rc;                                                         \
    }
ALL(MRECV, Mrecv)

#define IMRECV(symbol, COUNT)                                              \
    EXPORT int symbol MRECV_PARAMS(COUNT);                                 \
    int symbol MRECV_PARAMS(COUNT)                                         \
    {                                                                      \
        static struct next next = { #symbol, NULL };                       \
        struct ring_event e;                                               \
        struct p2p p;                                                      \
        int rc;                                                            \
                                                                           \
        if (!p2p_begin(&p, NULL, ENTRY(symbol)))                           \
            return NEXT(MRECV_PARAMS(COUNT))(buf, n, type, message, last); \
        take_matched(&p, &e, message);                                     \
        rc = NEXT(MRECV_PARAMS(COUNT))(buf, n, type, message, last);       \
        posted(&p, to_post(&e), 0, rc, last);                              \
        return rc;                                                         \
    }
ALL(IMRECV, Imrecv)
