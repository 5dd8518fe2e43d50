#include "wire/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include "common/config.h"
#include "common/hosts.h"
#include "common/xalloc.h"
#include "wire/auth.h"
#include "wire/lookup.h"
#include "wire/loop.h"
#include "wire/seal.h"

/* The handshake, little-endian, before frames are sealed:
 *     "SGLK" | u32 LINK_VERSION | u8 kind | u16 bytes | bytes
 * The connecting end sends a greeting, the accepting end an answer or a refusal.  Each end's first sealed frame is
 * empty and proves that it holds the key; the link is up when the other end's has arrived.  Only holders of the
 * cluster's munge key can read the public key in the greeting, so only they can answer.  The connection's keys are
 * forgotten with it, so a credential that is decoded later reveals nothing. */
#define MAGIC               "SGLK"
#define HEAD_BYTES          11u
#define HANDSHAKE_MAX       2048u
#define HANDSHAKE_TIMEOUT_S 5
#define REASON_MAX          200u
#define FRAMES_AT_ONCE      4  /* of one link, before others have their turn */
#define FRAME_PROOF         0u /* not in enum link_frame, and never passed to the owner */

enum message { MESSAGE_GREETING = 1, MESSAGE_ANSWER, MESSAGE_REFUSAL };

/* The payload inside the munge credential. */
struct greeting {
    char magic[4];
    uint8_t version[4];
    uint8_t public_key[SEAL_KEY_BYTES];
};

enum phase {
    PHASE_RESOLVING,
    PHASE_CONNECTING,
    PHASE_GREETING,
    PHASE_PROVING,
    PHASE_UP,
    PHASE_REFUSING,
    PHASE_DOWN
};

struct link {
    struct event_base *base;
    struct bufferevent *bev;
    struct lookup *lookup;
    struct addrinfo *addresses, *next; /* of the host; next: still to be tried */
    struct event *deadline, *doom; /* doom: calls down from the loop, never from inside a call of the owner */
    struct event *again;           /* there are frames left that have arrived */
    char *munge_socket;
    struct link_events events;
    void *arg;
    enum phase phase;
    bool accepting;
    struct seal_pair pair;
    struct seal seal;
    uid_t uid;
    char peer[300];
    char why[400];
    int busy;    /* inside a callback of the owner: free later */
    bool closed; /* by the owner, meanwhile */
};

/* ---- the end of a link ---- */

static void free_link(struct link *l)
{
    lookup_cancel(l->lookup);
    if (l->bev)
        bufferevent_free(l->bev);
    if (l->deadline)
        event_free(l->deadline);
    if (l->doom)
        event_free(l->doom);
    if (l->again)
        event_free(l->again);
    if (l->addresses)
        evutil_freeaddrinfo(l->addresses);
    free(l->munge_socket);
    seal_wipe(&l->pair, sizeof(l->pair));
    seal_wipe(&l->seal, sizeof(l->seal));
    free(l);
}

void link_close(struct link *l)
{
    if (!l)
        return;
    l->closed = true;
    l->phase = PHASE_DOWN;
    if (!l->busy)
        free_link(l);
}

__attribute__((format(printf, 2, 3))) static void fail(struct link *l, const char *fmt, ...)
{
    va_list ap;

    if (l->phase == PHASE_DOWN)
        return;
    l->phase = PHASE_DOWN;
    va_start(ap, fmt);
    vsnprintf(l->why, sizeof(l->why), fmt, ap);
    va_end(ap);
    if (l->bev)
        bufferevent_disable(l->bev, EV_READ | EV_WRITE);
    event_del(l->deadline);
    event_active(l->doom, EV_TIMEOUT, 0);
}

static void on_doom(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;

    (void)fd;
    (void)what;
    l->busy++;
    l->events.down(l, l->why, l->arg);
    free_link(l);
}

/* ---- handshake ---- */

static void set_deadline(struct link *l)
{
    event_add(l->deadline, &(struct timeval){ HANDSHAKE_TIMEOUT_S, 0 });
}

static void send_message(struct link *l, enum message kind, const void *data, size_t bytes)
{
    uint8_t head[HEAD_BYTES];

    memcpy(head, MAGIC, 4);
    seal_u32_put(head + 4, LINK_VERSION);
    head[8] = (uint8_t)kind;
    head[9] = (uint8_t)bytes;
    head[10] = (uint8_t)(bytes >> 8);
    bufferevent_write(l->bev, head, sizeof(head));
    bufferevent_write(l->bev, data, bytes);
}

static int put_frame(struct link *l, uint8_t type, const void *data, size_t bytes)
{
    struct evbuffer *out = bufferevent_get_output(l->bev);
    struct evbuffer_iovec room;
    size_t n = bytes + SEAL_OVERHEAD;

    if (evbuffer_reserve_space(out, (ev_ssize_t)n, &room, 1) < 1)
        return -1;
    seal_put(&l->seal, type, data, bytes, room.iov_base);
    room.iov_len = n;
    return evbuffer_commit_space(out, &room, 1);
}

static void send_greeting(struct link *l)
{
    struct greeting g = { .magic = MAGIC };
    struct err err;
    char *credential;

    seal_u32_put(g.version, LINK_VERSION);
    memcpy(g.public_key, l->pair.public_key, sizeof(g.public_key));
    credential = auth_encode(l->munge_socket, &g, sizeof(g), &err);
    if (!credential) {
        fail(l, "%s", err.text);
        return;
    }
    if (strlen(credential) <= HANDSHAKE_MAX)
        send_message(l, MESSAGE_GREETING, credential, strlen(credential));
    else
        fail(l, "munge: credential too large: %zu bytes", strlen(credential));
    free(credential);
    if (l->phase == PHASE_CONNECTING)
        l->phase = PHASE_GREETING;
}

/* Both ends have each other's key now. */
static int begin_proof(struct link *l, const uint8_t *peer_key)
{
    if (seal_init(&l->seal, &l->pair, peer_key, l->accepting) < 0 || put_frame(l, FRAME_PROOF, NULL, 0) < 0)
        return -1;
    l->phase = PHASE_PROVING;
    return 0;
}

/* Send the reason to the peer, and close when it is sent. */
__attribute__((format(printf, 2, 3))) static void refuse(struct link *l, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(l->why, sizeof(l->why), fmt, ap);
    va_end(ap);
    send_message(l, MESSAGE_REFUSAL, l->why, strnlen(l->why, REASON_MAX));
    l->phase = PHASE_REFUSING;
}

static void handle_greeting(struct link *l, const uint8_t *data, size_t bytes)
{
    char credential[HANDSHAKE_MAX + 1];
    struct greeting g;
    struct err err;

    memcpy(credential, data, bytes);
    credential[bytes] = '\0';
    if (auth_decode(l->munge_socket, credential, &g, sizeof(g), &l->uid, &err) < 0) {
        refuse(l, "refused: %s", err.text);
        return;
    }
    if (memcmp(g.magic, MAGIC, sizeof(g.magic)) || seal_u32_get(g.version) != LINK_VERSION) {
        refuse(l, "refused: the credential was made for something else");
        return;
    }
    send_message(l, MESSAGE_ANSWER, l->pair.public_key, sizeof(l->pair.public_key));
    if (begin_proof(l, g.public_key) < 0)
        fail(l, "handshake: invalid key");
}

/* The reason comes from an unauthenticated peer: log only printable characters. */
static void handle_refusal(struct link *l, const uint8_t *data, size_t bytes)
{
    char text[REASON_MAX + 1];
    size_t n = bytes < REASON_MAX ? bytes : REASON_MAX;

    for (size_t i = 0; i < n; i++)
        text[i] = data[i] >= ' ' && data[i] <= '~' ? (char)data[i] : '?';
    text[n] = '\0';
    fail(l, "%s", n ? text : "refused");
}

static void handle_message(struct link *l, enum message kind, const uint8_t *data, size_t bytes)
{
    if (l->accepting && kind == MESSAGE_GREETING)
        handle_greeting(l, data, bytes);
    else if (!l->accepting && kind == MESSAGE_REFUSAL)
        handle_refusal(l, data, bytes);
    else if (l->accepting || kind != MESSAGE_ANSWER)
        fail(l, "handshake: unexpected message %d", kind);
    else if (bytes != SEAL_KEY_BYTES || begin_proof(l, data) < 0)
        fail(l, "handshake: invalid key in the answer");
}

/* Whether a message may follow this head. */
static bool check_head(struct link *l, const uint8_t *head, size_t bytes)
{
    uint32_t version = seal_u32_get(head + 4);

    if (memcmp(head, MAGIC, 4))
        fail(l, "handshake: the peer does not speak our protocol");
    else if (!l->accepting && head[8] == MESSAGE_REFUSAL && bytes <= REASON_MAX)
        return true; /* of any version: the version may be the reason */
    else if (version != LINK_VERSION && l->accepting)
        refuse(l, "refused: this end speaks protocol version %u, the peer version %u", LINK_VERSION, version);
    else if (version != LINK_VERSION)
        fail(l, "the peer speaks protocol version %u, this end version %u", version, LINK_VERSION);
    else if (bytes > HANDSHAKE_MAX)
        fail(l, "handshake: message of %zu bytes, expected at most %u", bytes, HANDSHAKE_MAX);
    else
        return true;
    return false;
}

/* 1: a message was handled; 0: more bytes are needed, or it was the last. */
static int read_message(struct link *l, struct evbuffer *in)
{
    const uint8_t *p;
    size_t bytes;

    if (evbuffer_get_length(in) < HEAD_BYTES)
        return 0;
    p = evbuffer_pullup(in, HEAD_BYTES);
    bytes = (size_t)p[9] | (size_t)p[10] << 8;
    if (!check_head(l, p, bytes) || evbuffer_get_length(in) < HEAD_BYTES + bytes)
        return 0;
    p = evbuffer_pullup(in, (ev_ssize_t)(HEAD_BYTES + bytes));
    handle_message(l, p[8], p + HEAD_BYTES, bytes);
    evbuffer_drain(in, HEAD_BYTES + bytes);
    return l->phase == PHASE_PROVING;
}

/* ---- sealed frames ---- */

static void handle_frame(struct link *l, uint8_t type, const uint8_t *data, size_t bytes)
{
    if (l->phase == PHASE_PROVING) {
        if (type != FRAME_PROOF || bytes) {
            fail(l, "handshake: the first frame is not a proof of the keys");
            return;
        }
        event_del(l->deadline);
        l->phase = PHASE_UP;
        l->events.up(l, l->arg);
    } else if (type == LINK_JSON || type == LINK_TELEMETRY) {
        l->events.frame(l, type, data, bytes, l->arg);
    } else {
        fail(l, "frame of unknown type %u", type);
    }
}

/* 1: a frame was handled; 0: more bytes are needed. */
static int read_frame(struct link *l, struct evbuffer *in)
{
    size_t max = l->phase == PHASE_UP ? LINK_FRAME_MAX : 0;
    const uint8_t *data;
    uint8_t *p, type;
    int64_t total;
    size_t bytes;

    if (evbuffer_get_length(in) < SEAL_LENGTH_BYTES)
        return 0;
    total = seal_frame_bytes(evbuffer_pullup(in, SEAL_LENGTH_BYTES), max);
    if (total < 0) {
        fail(l, "invalid frame size, expected at most %zu bytes", max);
        return 0;
    }
    if (evbuffer_get_length(in) < (size_t)total)
        return 0;
    p = evbuffer_pullup(in, total);
    if (!p || seal_get(&l->seal, p, (size_t)total, &type, &data, &bytes) < 0) {
        fail(l, "frame not sealed by the peer: altered, replayed or out of order");
        return 0;
    }
    handle_frame(l, type, data, bytes);
    evbuffer_drain(in, (size_t)total);
    return 1;
}

/* Handle what has arrived, at most so many messages or frames.  True: there may be more. */
static bool handle_some(struct link *l, unsigned max)
{
    struct evbuffer *in = bufferevent_get_input(l->bev);
    int more = 1;

    while (more && l->phase != PHASE_DOWN) {
        if (!max--)
            return true;
        if (l->phase == PHASE_GREETING)
            more = read_message(l, in);
        else if (l->phase == PHASE_PROVING || l->phase == PHASE_UP)
            more = read_frame(l, in);
        else
            more = 0; /* the peer is being refused: ignore what it sends */
    }
    return false;
}

static void on_readable(struct bufferevent *bev, void *arg)
{
    struct link *l = arg;

    (void)bev;
    l->busy++;
    if (handle_some(l, FRAMES_AT_ONCE))
        event_active(l->again, EV_TIMEOUT, 0);
    l->busy--;
    if (l->closed)
        free_link(l);
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;

    (void)fd;
    (void)what;
    if (l->phase != PHASE_DOWN)
        on_readable(l->bev, l);
}

static void on_written(struct bufferevent *bev, void *arg)
{
    struct link *l = arg;

    (void)bev;
    if (l->phase == PHASE_REFUSING) {
        char why[sizeof(l->why)];

        memcpy(why, l->why, sizeof(why));
        fail(l, "%s", why);
    }
}

/* ---- connecting ---- */

static void set_options(evutil_socket_t fd)
{
    int on = 1, idle_s = 10, interval_s = 5, probes = 4, stuck_ms = 30000;

    evutil_make_socket_closeonexec(fd);
    /* Detect a dead machine, whose link would otherwise stay open for minutes.  Some kinds of socket lack these options,
     * which does no harm. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stuck_ms, sizeof(stuck_ms));
}

static void on_event(struct bufferevent *bev, short what, void *arg);

static int open_bufferevent(struct link *l, evutil_socket_t fd)
{
    l->bev = bufferevent_socket_new(l->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (!l->bev)
        return -1;
    bufferevent_setcb(l->bev, on_readable, on_written, on_event, l);
    /* One whole frame must fit; the rest stays in the kernel and slows the peer down. */
    bufferevent_setwatermark(l->bev, EV_READ, 0, LINK_FRAME_MAX + SEAL_OVERHEAD);
    bufferevent_set_max_single_read(l->bev, 64 << 10);
    return bufferevent_enable(l->bev, EV_READ | EV_WRITE);
}

/* Try the host's next address; -1 when there is none left. */
static int connect_next(struct link *l)
{
    while (l->next) {
        struct addrinfo *a = l->next;

        l->next = a->ai_next;
        if (l->bev)
            bufferevent_free(l->bev);
        l->bev = NULL;
        if (open_bufferevent(l, -1) < 0)
            return -1;
        if (!bufferevent_socket_connect(l->bev, a->ai_addr, (int)a->ai_addrlen))
            return 0;
    }
    return -1;
}

/* The peer is gone; the frames that it sent before are handled. */
static void on_gone(struct link *l, short what, int e)
{
    l->busy++;
    if (l->phase == PHASE_UP)
        handle_some(l, UINT_MAX);
    if (what & BEV_EVENT_EOF)
        fail(l, l->phase == PHASE_UP ? "closed by the peer" : "closed by the peer during the handshake");
    else
        fail(l, "%s", strerror(e));
    l->busy--;
    if (l->closed)
        free_link(l);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
    struct link *l = arg;
    int e = EVUTIL_SOCKET_ERROR();

    (void)bev;
    if (what & BEV_EVENT_CONNECTED) {
        set_options(bufferevent_getfd(l->bev));
        send_greeting(l);
    } else if (l->phase == PHASE_CONNECTING && !connect_next(l)) {
        return;
    } else if (l->phase == PHASE_REFUSING) {
        on_written(l->bev, l);
    } else {
        on_gone(l, l->phase == PHASE_CONNECTING ? 0 : what, e);
    }
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct link *l = arg;

    (void)fd;
    (void)what;
    if (l->phase == PHASE_RESOLVING)
        fail(l, "cannot resolve the host name within %d s", HANDSHAKE_TIMEOUT_S);
    else if (l->phase == PHASE_CONNECTING)
        fail(l, "no connection within %d s", HANDSHAKE_TIMEOUT_S);
    else
        fail(l, "the handshake takes longer than %d s", HANDSHAKE_TIMEOUT_S);
}

static void on_addresses(struct addrinfo *addresses, const char *why, void *arg)
{
    struct link *l = arg;

    l->lookup = NULL;
    l->addresses = l->next = addresses;
    if (l->phase == PHASE_DOWN) /* failed meanwhile */
        return;
    if (!addresses) {
        fail(l, "%s", why);
        return;
    }
    l->phase = PHASE_CONNECTING;
    if (connect_next(l) < 0)
        fail(l, "%s", strerror(errno));
}

static struct link *new_link(struct event_base *base, const char *munge_socket,
                             const struct link_events *events, void *arg, struct err *err)
{
    struct link *l = xcalloc(1, sizeof(*l));

    l->base = base;
    l->munge_socket = xstrdup(munge_socket);
    l->events = *events;
    l->arg = arg;
    l->uid = (uid_t)-1;
    l->deadline = evtimer_new(base, on_deadline, l);
    l->doom = evtimer_new(base, on_doom, l);
    l->again = evtimer_new(base, on_again, l);
    if (l->deadline && l->doom && l->again && !seal_pair_new(&l->pair))
        return l;
    err_set(err, "link: cannot create events or keys");
    free_link(l);
    return NULL;
}

struct link *link_connect(struct event_base *base, const char *hosts, unsigned index,
                          const char *munge_socket, const struct link_events *events, void *arg,
                          struct err *err)
{
    struct host host;
    struct link *l;

    if (hosts_pick(hosts, index, CONFIG_DEFAULT_PORT, &host, err) < 0)
        return NULL;
    l = new_link(base, munge_socket, events, arg, err);
    if (!l)
        return NULL;
    snprintf(l->peer, sizeof(l->peer), strchr(host.name, ':') ? "[%s]:%d" : "%s:%d", host.name, host.port);
    l->phase = PHASE_RESOLVING;
    l->lookup = lookup_start(base, host.name, host.port, on_addresses, l);
    if (!l->lookup) {
        err_set(err, "%s: cannot start the lookup", l->peer);
        free_link(l);
        return NULL;
    }
    set_deadline(l);
    return l;
}

static void name_peer(struct link *l, int fd)
{
    struct sockaddr_storage ss;
    socklen_t len = sizeof(ss);
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&ss;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&ss;
    char text[INET6_ADDRSTRLEN] = "?";

    snprintf(l->peer, sizeof(l->peer), "local");
    if (getpeername(fd, (struct sockaddr *)&ss, &len) < 0)
        return;
    if (ss.ss_family == AF_INET) {
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
        snprintf(l->peer, sizeof(l->peer), "%s:%u", text, ntohs(v4->sin_port));
    } else if (ss.ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
        snprintf(l->peer, sizeof(l->peer), "[%s]:%u", text, ntohs(v6->sin6_port));
    }
}

struct link *link_accept(struct event_base *base, int fd, const char *munge_socket,
                         const struct link_events *events, void *arg, struct err *err)
{
    struct link *l = new_link(base, munge_socket, events, arg, err);

    if (!l) {
        close(fd);
        return NULL;
    }
    l->accepting = true;
    l->phase = PHASE_GREETING;
    name_peer(l, fd);
    set_options(fd);
    if (evutil_make_socket_nonblocking(fd) < 0 || open_bufferevent(l, fd) < 0) {
        err_set(err, "%s: cannot take over the connection", l->peer);
        if (!l->bev)
            close(fd);
        free_link(l);
        return NULL;
    }
    set_deadline(l);
    return l;
}

/* ---- sending ---- */

int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes)
{
    if (l->phase != PHASE_UP || bytes > LINK_FRAME_MAX)
        return -1;
    if (link_pending_bytes(l) + bytes + SEAL_OVERHEAD > LINK_PENDING_MAX) {
        fail(l, "the peer is too slow: more than %u MiB pending", LINK_PENDING_MAX >> 20);
        return -1;
    }
    if (put_frame(l, (uint8_t)type, data, bytes) < 0) {
        fail(l, "out of memory for a frame of %zu bytes", bytes);
        return -1;
    }
    return 0;
}

void link_urgent(struct link *l, bool urgent)
{
    int priority = urgent ? LOOP_URGENT : LOOP_BULK;

    if (!l->bev || event_base_get_npriorities(l->base) <= LOOP_BULK)
        return;
    bufferevent_priority_set(l->bev, priority);
    event_priority_set(l->again, priority);
}

size_t link_pending_bytes(const struct link *l)
{
    return l->bev ? evbuffer_get_length(bufferevent_get_output(l->bev)) : 0;
}

uid_t link_uid(const struct link *l)
{
    return l->uid;
}

const char *link_peer(const struct link *l)
{
    return l->peer;
}
