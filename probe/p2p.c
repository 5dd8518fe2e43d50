/* p2p.c - wrappers of the calls that send, receive and probe messages.
 *
 * A message is recorded at both ends with the stretch in which it held the rank: a blocking call, or the wait
 * that completed its request (wait.c).  A message that a probe has matched keeps its number until it is
 * received. */
#include "probe/p2p.h"

#include "probe/message.h"
#include "probe/request.h"

/* Another call took the place of the event of this one's message, see nested.h. */
static __attribute__((noinline)) bool ended_nested(const struct p2p *p, uint32_t number, uint64_t bytes,
                                                   uint64_t now)
{
    struct ring_event e;

    if (!nested_take(p->enter, &e)) {
        ring_message_missed(p->ring);
        return false;
    }
    e.seq = number;
    e.bytes = bytes;
    e.leave = now;
    return hot_message(p->ring, &e);
}

/* The call that p2p_show_message() showed for a message has returned at time now.  False: it has no event. */
HOT bool ended_shown(const struct p2p *p, uint32_t number, uint64_t bytes, uint64_t now)
{
    if (__builtin_expect(!hot_is_shown(p->ring, p->at, p->enter), 0))
        return ended_nested(p, number, bytes, now);
    return hot_leave_message(p->ring, p->at, number, bytes, now);
}

/* The same of a message that was not shown, or not with its partner. */
HOT bool ended(const struct p2p *p, struct ring_event *e, uint64_t now)
{
    if (!p->ring || e->op == RING_OP_NONE)
        return false;
    e->enter = p->enter;
    e->leave = now;
    return hot_message(p->ring, e);
}

/* ---- what happens after a call ---- */

/* The call failed.  Where the message was passed all the same (MPI_ERR_TRUNCATE), its stream counts it. */
static __attribute__((noinline)) void failed(struct number n, int rc)
{
    if (!n.key || !call_took_part(rc))
        return;
    number_count(n);
    ring_message_missed(probe.main);
}

/* A message that was sent while recording is off is counted in its stream. */
static __attribute__((noinline)) void sent_unrecorded(const struct comm *c, int to, int tag, int rc)
{
    struct ring_event e;
    struct number n = message_begin(&e, c, RING_OP_SEND, to, tag);

    call_over();
    if (rc)
        failed(n, rc);
    else if (n.key)
        number_count(n);
}

/* Little is kept in registers while the library is at work: the event is in the ring. */
HOT void sent(struct p2p *p, struct number n, uint64_t bytes, int rc)
{
    uint64_t now = p2p_leave(p, rc ? 0 : bytes);

    if (__builtin_expect(rc, 0))
        failed(n, rc);
    if (__builtin_expect(rc || !n.key || !ended_shown(p, number_count(n), bytes, now), 0))
        p2p_over(p, now);
}

/* The call received with an error or a wildcard, has no message, or is not recorded. */
static __attribute__((noinline)) void received_rare(struct p2p *p, struct number n, int from, int tag, int rc,
                                                    const void *status, uint64_t now)
{
    struct ring_event e;

    if (rc) {
        failed(n, rc);
        p2p_over(p, now);
        return;
    }
    message_prepare(&e, p->comm, RING_OP_RECV, from, tag);
    if (n.key)
        e.seq = number_count(n);
    message_status(&e, p->comm, status);
    if (!ended(p, &e, now))
        p2p_over(p, now);
}

/* A message that was received while recording is off is counted in its stream. */
static __attribute__((noinline)) void received_unrecorded(struct comm *c, int from, int tag, int rc,
                                                          const void *status)
{
    struct p2p p = { .comm = c };
    struct ring_event e;

    call_over();
    received_rare(&p, message_unnumbered(&e, c, RING_OP_RECV, from, tag), from, tag, rc, status, 0);
}

/* n.key: there is a message, and its partner and tag were known before. */
HOT void received(struct p2p *p, struct number n, int from, int tag, int rc, const void *status)
{
    uint64_t now = p2p_leave(p, 0);

    if (__builtin_expect(rc || !n.key, 0))
        received_rare(p, n, from, tag, rc, status, now);
    else if (!ended_shown(p, number_count(n), status_bytes(status), now))
        p2p_over(p, now);
}

/* The same for a message that a probe matched, and counted. */
static void received_matched(struct p2p *p, struct ring_event *e, int rc, const void *status)
{
    uint64_t now = p2p_leave(p, 0);

    if (!rc)
        message_status(e, p->comm, status);
    if (rc || !p->ring || e->op == RING_OP_NONE || !ended_shown(p, e->seq, e->bytes, now))
        p2p_over(p, now);
}

/* A nonblocking operation was posted.  Of receives with a wildcard the request is kept even if they are not
 * recorded, because their stream counts them when they complete. */
HOT void posted(struct p2p *p, struct hot_message m, struct number n, uint64_t bytes, int rc,
                const void *request)
{
    p2p_posted(p, rc ? 0 : bytes);
    if (__builtin_expect(rc, 0)) {
        failed(n, rc);
        return;
    }
    if (n.key)
        m.number_partner = (m.number_partner & ~(uint64_t)UINT32_MAX) | number_count(n);
    if (__builtin_expect(!m.tag_op || (!p->ring && !hot_message_wild(m)), 0))
        return;
    m.bytes = bytes;
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

/* The library refused it. */
static __attribute__((noinline)) void not_posted(struct ring *r, struct number n, int rc)
{
    if (r)
        hot_p2p_posted(r, 0);
    call_over();
    failed(n, rc);
}

/* The same while recording is off; out of the way of what is recorded, which knows its ring. */
static __attribute__((noinline)) void posted_unrecorded(struct comm *c, enum ring_op op, int peer, int tag,
                                                        int rc, const void *request)
{
    struct p2p p = { .comm = c };
    struct ring_event e;
    struct number n = message_unnumbered(&e, c, op, peer, tag);

    posted(&p, to_post(&e), n, 0, rc, request);
}

/* Before the library has accepted the arguments: 0 where they are not known yet. */
HOT uint64_t bytes_to_send(const struct p2p *p, int64_t count, handle type)
{
    return p->ring ? bytes_before(count, type) : 0;
}

HOT uint64_t bytes_sent(const struct p2p *p, uint64_t before, int64_t count, handle type, int rc)
{
    return __builtin_expect(before || rc || !p->ring, 1) ? before : bytes_of(count, type);
}

#define NEXT(params) ((int(*) params)next_get(&next))

/* BOTH for int counts, and for the large counts of MPI 4. */
#define ALL(DEFINE, name)   \
    BOTH(DEFINE, name, int) \
    BOTH(DEFINE, name##_c, int64_t)

/* ---- sending ---- */

#define SEND_PARAMS(COUNT) (const void *buf, COUNT n, handle type, int to, int tag, handle comm)

#define SEND(symbol, COUNT)                                               \
    EXPORTED(int symbol SEND_PARAMS(COUNT))                               \
    {                                                                     \
        static struct next next = { #symbol, NULL };                      \
        struct ring_event e;                                              \
        struct number number;                                             \
        uint64_t bytes;                                                   \
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
        number = message_begin(&e, p.comm, RING_OP_SEND, to, tag);        \
        bytes = e.bytes = bytes_to_send(&p, n, type);                     \
        p2p_show_message(&p, &e);                                         \
        rc = NEXT(SEND_PARAMS(COUNT))(buf, n, type, to, tag, comm);       \
        sent(&p, number, bytes_sent(&p, bytes, n, type, rc), rc);         \
        return rc;                                                        \
    }
ALL(SEND, Send)
ALL(SEND, Bsend)
ALL(SEND, Ssend)
ALL(SEND, Rsend)

#define ISEND_PARAMS(COUNT) \
    (const void *buf, COUNT n, handle type, int to, int tag, handle comm, void *request)

/* before, after: the bytes sent, as they are known before the call and after it. */
#define POST_AS(symbol, op, peer, before, after, params, args)     \
    EXPORTED(int symbol params)                                    \
    {                                                              \
        static struct next next = { #symbol, NULL };               \
        struct hot_message m;                                      \
        struct ring_event e;                                       \
        struct number number;                                      \
        uint64_t bytes;                                            \
        struct p2p p;                                              \
        int rc;                                                    \
                                                                   \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                   \
            return NEXT(params) args;                              \
        if (__builtin_expect(!p.ring, 0)) {                        \
            rc = NEXT(params) args;                                \
            posted_unrecorded(p.comm, op, peer, tag, rc, request); \
            return rc;                                             \
        }                                                          \
        number = message_unnumbered(&e, p.comm, op, peer, tag);    \
        bytes = before;                                            \
        m = to_post(&e);                                           \
        rc = NEXT(params) args;                                    \
        if (__builtin_expect(rc, 0))                               \
            not_posted(p.ring, number, rc);                        \
        else                                                       \
            posted(&p, m, number, after, 0, request);              \
        return rc;                                                 \
    }
#define ISEND(symbol, COUNT)                                                                          \
    POST_AS(symbol, RING_OP_SEND, to, bytes_to_send(&p, n, type), bytes_sent(&p, bytes, n, type, rc), \
            ISEND_PARAMS(COUNT), (buf, n, type, to, tag, comm, request))
ALL(ISEND, Isend)
ALL(ISEND, Ibsend)
ALL(ISEND, Issend)
ALL(ISEND, Irsend)

/* ---- receiving ---- */

#define RECV_PARAMS(COUNT) (void *buf, COUNT n, handle type, int from, int tag, handle comm, void *status)

#define RECV(symbol, COUNT)                                                         \
    EXPORTED(int symbol RECV_PARAMS(COUNT))                                         \
    {                                                                               \
        static struct next next = { #symbol, NULL };                                \
        struct ring_event e;                                                        \
        struct number number;                                                       \
        struct status own;                                                          \
        struct p2p p;                                                               \
        int rc;                                                                     \
                                                                                    \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                                    \
            return NEXT(RECV_PARAMS(COUNT))(buf, n, type, from, tag, comm, status); \
        status = status_wanted(status, &own);                                       \
        if (__builtin_expect(!p.ring, 0)) {                                         \
            rc = NEXT(RECV_PARAMS(COUNT))(buf, n, type, from, tag, comm, status);   \
            received_unrecorded(p.comm, from, tag, rc, status);                     \
            return rc;                                                              \
        }                                                                           \
        number = message_begin(&e, p.comm, RING_OP_RECV, from, tag);                \
        p2p_show_message(&p, &e);                                                   \
        rc = NEXT(RECV_PARAMS(COUNT))(buf, n, type, from, tag, comm, status);       \
        received(&p, number, from, tag, rc, status);                                \
        return rc;                                                                  \
    }
ALL(RECV, Recv)

#define IRECV_PARAMS(COUNT) (void *buf, COUNT n, handle type, int from, int tag, handle comm, void *request)

#define IRECV(symbol, COUNT)                                           \
    POST_AS(symbol, RING_OP_RECV, from, 0, bytes, IRECV_PARAMS(COUNT), \
            (buf, n, type, from, tag, comm, request))
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

/* The two messages of a call. */
struct exchange {
    struct ring_event out, in;
    struct number out_number, in_number;
};

HOT void exchange_begin(struct exchange *x, const struct p2p *p, int to, int tag, int from, int rtag)
{
    x->out_number = message_begin(&x->out, p->comm, RING_OP_SEND, to, tag);
    x->in_number = message_begin(&x->in, p->comm, RING_OP_RECV, from, rtag);
}

/* The call is shown without its messages, because it may last for either of them. */
HOT void exchanged(struct p2p *p, struct exchange *x, int rc, const void *status)
{
    uint64_t now = p2p_leave(p, rc ? 0 : x->out.bytes);
    bool sent, received;

    if (rc) {
        failed(x->out_number, rc);
        failed(x->in_number, rc);
        p2p_over(p, now);
        return;
    }
    if (x->out_number.key)
        x->out.seq = number_count(x->out_number);
    if (x->in_number.key)
        x->in.seq = number_count(x->in_number);
    message_status(&x->in, p->comm, status);
    sent = ended(p, &x->out, now);
    received = ended(p, &x->in, now);
    if (!sent && !received)
        p2p_over(p, now);
}

#define EXCHANGE_AS(symbol, passes, params, args)     \
    EXPORTED(int symbol params)                       \
    {                                                 \
        static struct next next = { #symbol, NULL };  \
        struct exchange x;                            \
        struct status own;                            \
        struct p2p p;                                 \
        int rc;                                       \
                                                      \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))      \
            return NEXT(params) args;                 \
        if (passes)                                   \
            call_passes(ENTRY(symbol), comm);         \
        last = status_wanted(last, &own);             \
        exchange_begin(&x, &p, to, tag, from, rtag);  \
        p2p_show(&p, bytes_to_send(&p, n, type));     \
        rc = NEXT(params) args;                       \
        x.out.bytes = bytes_sent(&p, 0, n, type, rc); \
        exchanged(&p, &x, rc, last);                  \
        return rc;                                    \
    }
#define EXCHANGE(symbol, COUNT) EXCHANGE_AS(symbol, false, EXCHANGE_PARAMS(COUNT), EXCHANGE_ARGS)
#define REPLACE(symbol, COUNT)  EXCHANGE_AS(symbol, true, REPLACE_PARAMS(COUNT), REPLACE_ARGS)
ALL(EXCHANGE, Sendrecv)
ALL(REPLACE, Sendrecv_replace)

/* One request for two messages: it stands for the one received; the one sent is recorded with the call that
 * posts it. */
static void exchange_posted(struct p2p *p, struct exchange *x, uint64_t bytes, int rc, const void *request)
{
    if (rc)
        failed(x->out_number, rc);
    else if (x->out_number.key)
        x->out.seq = number_count(x->out_number);
    posted(p, to_post(&x->in), x->in_number, bytes, rc, request);
    if (!rc && p->ring && x->out.op != RING_OP_NONE) {
        x->out.bytes = bytes;
        x->out.flags |= RING_EVENT_NONBLOCKING | RING_EVENT_UNWAITED;
        x->out.enter = x->out.leave = p->enter;
        hot_message(p->ring, &x->out);
    }
}

#define IEXCHANGE_AS(symbol, params, args)                                 \
    EXPORTED(int symbol params)                                            \
    {                                                                      \
        static struct next next = { #symbol, NULL };                       \
        struct exchange x;                                                 \
        struct p2p p;                                                      \
        int rc;                                                            \
                                                                           \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                           \
            return NEXT(params) args;                                      \
        exchange_begin(&x, &p, to, tag, from, rtag);                       \
        rc = NEXT(params) args;                                            \
        exchange_posted(&p, &x, bytes_sent(&p, 0, n, type, rc), rc, last); \
        return rc;                                                         \
    }
#define IEXCHANGE(symbol, COUNT) IEXCHANGE_AS(symbol, EXCHANGE_PARAMS(COUNT), EXCHANGE_ARGS)
#define IREPLACE(symbol, COUNT)  IEXCHANGE_AS(symbol, REPLACE_PARAMS(COUNT), REPLACE_ARGS)
ALL(IEXCHANGE, Isendrecv)
ALL(IREPLACE, Isendrecv_replace)

/* ---- persistent requests ---- */

/* Made locally: nothing is counted before the request starts, and the arguments are read even while recording
 * is off, because recording may be on when it starts. */
static void made(struct p2p *p, enum ring_op op, bool partitioned, int peer, int tag, uint64_t bytes, int rc,
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
    request_made(handle_at(request, 0), p->comm, &e, partitioned);
}

#define PERSISTENT_AS(symbol, op, partitioned, peer, bytes, params, args)    \
    EXPORTED(int symbol params)                                              \
    {                                                                        \
        static struct next next = { #symbol, NULL };                         \
        struct p2p p;                                                        \
        int rc;                                                              \
                                                                             \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))                             \
            return NEXT(params) args;                                        \
        rc = NEXT(params) args;                                              \
        made(&p, op, partitioned, peer, tag, rc ? 0 : (bytes), rc, request); \
        return rc;                                                           \
    }
#define SEND_INIT(symbol, COUNT)                                                           \
    PERSISTENT_AS(symbol, RING_OP_SEND, false, to, bytes_of(n, type), ISEND_PARAMS(COUNT), \
                  (buf, n, type, to, tag, comm, request))
#define RECV_INIT(symbol, COUNT)                                             \
    PERSISTENT_AS(symbol, RING_OP_RECV, false, from, 0, IRECV_PARAMS(COUNT), \
                  (buf, n, type, from, tag, comm, request))
ALL(SEND_INIT, Send_init)
ALL(SEND_INIT, Bsend_init)
ALL(SEND_INIT, Ssend_init)
ALL(SEND_INIT, Rsend_init)
ALL(RECV_INIT, Recv_init)

/* A message in parts: its bytes are those of all parts, at both ends, however each divides it. */
#define PARTED(symbol, op)                                                                       \
    PERSISTENT_AS(symbol, op, true, peer, bytes_of((int64_t)parts *n, type),                     \
                  (void *buf, int parts, int64_t n, handle type, int peer, int tag, handle comm, \
                   handle info, void *request),                                                  \
                  (buf, parts, n, type, peer, tag, comm, info, request))
#define PSEND_INIT(symbol) PARTED(symbol, RING_OP_SEND)
#define PRECV_INIT(symbol) PARTED(symbol, RING_OP_RECV)
BOTH(PSEND_INIT, Psend_init)
BOTH(PRECV_INIT, Precv_init)

/* ---- probing ---- */

BOTH(SHOWN, Probe, comm, 0, (int from, int tag, handle comm, void *status), (from, tag, comm, status))

/* A probe took a message out of its stream, to be received by MPI_Mrecv. */
static void matched(struct p2p *p, int from, int tag, const void *message, const void *status)
{
    struct ring_event e;
    struct number n = message_begin(&e, p->comm, RING_OP_RECV, from, tag);

    if (n.key)
        e.seq = number_count(n);
    message_status(&e, p->comm, status);
    if (e.op != RING_OP_NONE)
        request_made(handle_at(message, 0), p->comm, &e, false);
}

/* blocks: else the call takes no part in the sums. */
#define MPROBE(symbol, blocks, found, params, args)  \
    EXPORTED(int symbol params)                      \
    {                                                \
        static struct next next = { #symbol, NULL }; \
        struct status own;                           \
        struct p2p p;                                \
        int rc;                                      \
                                                     \
        if (!p2p_begin(&p, comm, ENTRY(symbol)))     \
            return NEXT(params) args;                \
        status = status_wanted(status, &own);        \
        if (blocks)                                  \
            p2p_show(&p, 0);                         \
        rc = NEXT(params) args;                      \
        if (blocks)                                  \
            p2p_over(&p, p2p_leave(&p, 0));          \
        else                                         \
            call_over();                             \
        if (!rc && (found))                          \
            matched(&p, from, tag, message, status); \
        return rc;                                   \
    }
BOTH(MPROBE, Mprobe, true, true, (int from, int tag, handle comm, void *message, void *status),
     (from, tag, comm, message, status))
BOTH(MPROBE, Improbe, false, *flag, (int from, int tag, handle comm, int *flag, void *message, void *status),
     (from, tag, comm, flag, message, status))

/* What the probe knows of a message that was matched. */
static void take_matched(struct p2p *p, struct ring_event *e, const void *message)
{
    struct comm *c;

    *e = (struct ring_event){ .op = RING_OP_NONE };
    c = request_matched(handle_at(message, 0), e);
    if (c)
        p->comm = c;
}

#define MRECV_PARAMS(COUNT) (void *buf, COUNT n, handle type, void *message, void *last)

#define MRECV(symbol, COUNT)                                               \
    EXPORTED(int symbol MRECV_PARAMS(COUNT))                               \
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
    EXPORTED(int symbol MRECV_PARAMS(COUNT))                               \
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
        posted(&p, to_post(&e), (struct number){ 0, NULL }, 0, rc, last);  \
        return rc;                                                         \
    }
ALL(IMRECV, Imrecv)
