#include "wire/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pwd.h>
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
#include "wire/json.h"
#include "wire/lookup.h"
#include "wire/loop.h"
#include "wire/seal.h"
#include "wire/verifier.h"

/* The handshake, little-endian, before frames are sealed:
 *     "SGLK" | u32 version | u8 kind | u16 bytes | bytes
 * The connecting end sends a greeting with the newest version that it speaks, the accepting end an answer
 * with the one that both will speak, or a refusal.  Greeting and answer are the public key that the end made
 * for this connection, and its credential.  Each end's first sealed frame is empty and proves that it holds
 * its keys; the link is up when the other end's has arrived. */
#define MAGIC         "SGLK"
#define HEAD_BYTES    11u
#define HANDSHAKE_MAX (SEAL_KEY_BYTES + IDENTITY_CREDENTIAL_MAX)
/* held of a peer that nobody knows yet */
#define HANDSHAKE_READ_MAX (HEAD_BYTES + HANDSHAKE_MAX)
#define REASON_MAX         200u
#define FRAMES_AT_ONCE     4  /* of one link, before others have their turn */
#define FRAME_PROOF        0u /* not in enum link_frame, and never passed to the owner */

enum message { MESSAGE_GREETING = 1, MESSAGE_ANSWER, MESSAGE_REFUSAL };

enum phase {
    PHASE_RESOLVING,
    PHASE_CONNECTING,
    PHASE_GREETING,
    PHASE_CHECKING, /* munge is asked about the peer's credential */
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
    const struct link_end *end;
    struct identity *made; /* for this connection; NULL: the owner's is used */
    struct verification *checking;
    struct link_events events;
    void *arg;
    enum phase phase;
    bool accepting;
    uint32_t version;                 /* that both ends speak; 0: not known yet */
    struct seal_pair pair;            /* of this connection */
    uint8_t peer_key[SEAL_KEY_BYTES]; /* the peer's, of this connection */
    struct seal seal;
    struct identity_check other; /* who the peer is, once it has proven it */
    struct in6_addr from;        /* accepting: the peer's address, 0 for a local socket */
    char peer[300];
    char why[400];
    int busy;        /* inside a callback of the owner: free later */
    bool closed;     /* by the owner, meanwhile */
    bool ignored;    /* by the owner: nothing is read any more */
    size_t arriving; /* as reported last */
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
    verification_cancel(l->checking);
    identity_free(l->made);
    identity_check_clear(&l->other);
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

__attribute__((format(printf, 2, 3))) static void fail_link(struct link *l, const char *fmt, ...)
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

static double handshake_s(const struct link *l)
{
    return l->end->handshake_s > 0 ? l->end->handshake_s : LINK_HANDSHAKE_S;
}

static void set_deadline(struct link *l)
{
    struct timeval limit = loop_timeval(handshake_s(l));

    event_add(l->deadline, &limit);
}

static void send_message(struct link *l, enum message kind, const void *data, size_t bytes)
{
    uint8_t head[HEAD_BYTES];

    memcpy(head, MAGIC, 4);
    seal_u32_put(head + 4, l->version ? l->version : LINK_VERSION);
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

static const struct identity *own_identity(const struct link *l)
{
    return l->made ? l->made : l->end->identity;
}

/* Greeting or answer. */
static void send_keys(struct link *l, enum message kind)
{
    const char *credential = own_identity(l)->credential;
    size_t n = strlen(credential);
    uint8_t body[HANDSHAKE_MAX];

    memcpy(body, l->pair.public_key, SEAL_KEY_BYTES);
    memcpy(body + SEAL_KEY_BYTES, credential, n);
    send_message(l, kind, body, SEAL_KEY_BYTES + n);
}

static void send_greeting(struct link *l)
{
    struct err err;

    if (!l->end->identity) {
        json_t *claims = json_pack("{s:s}", "cluster", l->end->cluster ? l->end->cluster : "");

        l->made = identity_new(l->end->munge_socket, IDENTITY_USER, claims, &err);
        json_decref(claims);
        if (!l->made) {
            fail_link(l, "%s", err.text);
            return;
        }
    }
    send_keys(l, MESSAGE_GREETING);
    if (l->phase == PHASE_CONNECTING)
        l->phase = PHASE_GREETING;
}

/* Both ends have each other's key now. */
static void begin_proof(struct link *l)
{
    struct seal_end end = { .identity = &own_identity(l)->pair, .ephemeral = &l->pair };
    struct seal_peer peer;

    memcpy(peer.identity, l->other.public_key, SEAL_KEY_BYTES);
    memcpy(peer.ephemeral, l->peer_key, SEAL_KEY_BYTES);
    if (seal_init(&l->seal, &end, &peer, l->accepting) < 0 || put_frame(l, FRAME_PROOF, NULL, 0) < 0)
        fail_link(l, "handshake: invalid key");
    else
        l->phase = PHASE_PROVING;
}

static bool trusts(const struct link *l, uid_t uid)
{
    if (uid == 0 || uid == geteuid())
        return true;
    for (size_t i = 0; i < l->end->n_trusted; i++)
        if (l->end->trusted[i] == uid)
            return true;
    return false;
}

/* Whether the ends may be of one cluster. */
static bool same_cluster(const struct link *l)
{
    const char *ours = l->end->cluster ? l->end->cluster : "",
               *theirs = json_get_word(l->other.claims, "cluster");

    return !*ours || !*theirs || !strcmp(ours, theirs);
}

/* Send the reason to the peer, and close when it is sent. */
__attribute__((format(printf, 2, 3))) static void refuse_peer(struct link *l, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(l->why, sizeof(l->why), fmt, ap);
    va_end(ap);
    send_message(l, MESSAGE_REFUSAL, l->why, strnlen(l->why, REASON_MAX));
    l->phase = PHASE_REFUSING;
}

static void on_checked(struct identity_check *check, const char *why, void *arg)
{
    struct link *l = arg;

    l->checking = NULL;
    if (l->phase != PHASE_CHECKING) /* failed meanwhile */
        return;
    l->other = *check;
    check->claims = NULL;
    if (why)
        refuse_peer(l, "refused: %s", why);
    else if (l->other.role == IDENTITY_CONTROLLER)
        refuse_peer(l, "refused: a controller's credential");
    else if (!same_cluster(l))
        refuse_peer(l, "refused: this is the controller of cluster %s", l->end->cluster);
    else if (!l->end->identity)
        refuse_peer(l, "refused: the controller has no credential yet: is munged running there?");
    if (l->phase != PHASE_CHECKING)
        return;
    send_keys(l, MESSAGE_ANSWER);
    begin_proof(l);
    event_active(l->again, EV_TIMEOUT, 0);
}

static void handle_greeting(struct link *l, const uint8_t *data, size_t bytes)
{
    memcpy(l->peer_key, data, SEAL_KEY_BYTES);
    l->phase = PHASE_CHECKING;
    l->checking = verifier_begin(l->end->verifier, &l->from, (const char *)data + SEAL_KEY_BYTES,
                                 bytes - SEAL_KEY_BYTES, on_checked, l);
}

static void handle_answer(struct link *l, const uint8_t *data, size_t bytes)
{
    struct err err;

    memcpy(l->peer_key, data, SEAL_KEY_BYTES);
    if (identity_check(l->end->munge_socket, (const char *)data + SEAL_KEY_BYTES, bytes - SEAL_KEY_BYTES,
                       &l->other, &err) < 0)
        fail_link(l, "not accepted as a controller: %s", err.text);
    else if (l->other.role != IDENTITY_CONTROLLER)
        fail_link(l, "not accepted as a controller: its credential was made for something else");
    else if (!trusts(l, l->other.maker))
        fail_link(l,
                  "not accepted as a controller: uid %u runs it, expected root, SlurmUser or ControllerUser",
                  (unsigned)l->other.maker);
    else if (!same_cluster(l))
        fail_link(l, "the controller is of cluster %.64s, expected %s",
                  json_get_word(l->other.claims, "cluster"), l->end->cluster);
    else
        begin_proof(l);
}

/* The reason comes from an unauthenticated peer: log only printable characters. */
static void handle_refusal(struct link *l, const uint8_t *data, size_t bytes)
{
    char text[REASON_MAX + 1];
    size_t n = bytes < REASON_MAX ? bytes : REASON_MAX;

    for (size_t i = 0; i < n; i++)
        text[i] = data[i] >= ' ' && data[i] <= '~' ? (char)data[i] : '?';
    text[n] = '\0';
    fail_link(l, "%s", n ? text : "refused");
}

/* "version 2", "versions 2 to 3" */
static const char *own_versions(char *buf, size_t size)
{
    if (LINK_VERSION_OLDEST < LINK_VERSION)
        snprintf(buf, size, "versions %u to %u", LINK_VERSION_OLDEST, LINK_VERSION);
    else
        snprintf(buf, size, "version %u", LINK_VERSION);
    return buf;
}

/* Is there a version that both ends speak?  The accepting end answers a newer one with its own, and the newer
 * end knows whether it speaks that. */
static bool agree_on_version(struct link *l, uint32_t version)
{
    if (version < LINK_VERSION_OLDEST || (version > LINK_VERSION && !l->accepting))
        return false;
    l->version = version < LINK_VERSION ? version : LINK_VERSION;
    return true;
}

/* Whether a message may follow this head. */
static bool check_head(struct link *l, const uint8_t *head, size_t bytes)
{
    uint32_t version = seal_u32_get(head + 4);
    char own[40];

    if (memcmp(head, MAGIC, 4))
        fail_link(l, "handshake: the peer does not speak our protocol");
    else if (!l->accepting && head[8] == MESSAGE_REFUSAL && bytes <= REASON_MAX)
        return true; /* of any version: the version may be the reason */
    else if (bytes > HANDSHAKE_MAX)
        fail_link(l, "handshake: message of %zu bytes, expected at most %u", bytes, HANDSHAKE_MAX);
    else if (!agree_on_version(l, version) && l->accepting)
        refuse_peer(l, "refused: this end speaks protocol %s, the peer version %u",
                    own_versions(own, sizeof(own)), version);
    else if (!l->version)
        fail_link(l, "the peer speaks protocol version %u, this end %s", version,
                  own_versions(own, sizeof(own)));
    else
        return true;
    return false;
}

/* 1: a message was handled; 0: more bytes are needed, or it was the last. */
static int read_message(struct link *l, struct evbuffer *in)
{
    const uint8_t *p;
    size_t bytes;
    bool keys;

    if (evbuffer_get_length(in) < HEAD_BYTES)
        return 0;
    p = evbuffer_pullup(in, HEAD_BYTES);
    bytes = (size_t)p[9] | (size_t)p[10] << 8;
    if (!check_head(l, p, bytes) || evbuffer_get_length(in) < HEAD_BYTES + bytes)
        return 0;
    p = evbuffer_pullup(in, (ev_ssize_t)(HEAD_BYTES + bytes));
    keys = bytes > SEAL_KEY_BYTES;
    if (l->accepting && p[8] == MESSAGE_GREETING && keys)
        handle_greeting(l, p + HEAD_BYTES, bytes);
    else if (!l->accepting && p[8] == MESSAGE_REFUSAL)
        handle_refusal(l, p + HEAD_BYTES, bytes);
    else if (!l->accepting && p[8] == MESSAGE_ANSWER && keys)
        handle_answer(l, p + HEAD_BYTES, bytes);
    else
        fail_link(l, "handshake: unexpected message %d of %zu bytes", p[8], bytes);
    evbuffer_drain(in, HEAD_BYTES + bytes);
    return l->phase == PHASE_PROVING;
}

/* ---- sealed frames ---- */

static void handle_frame(struct link *l, uint8_t type, const uint8_t *data, size_t bytes)
{
    if (l->phase == PHASE_PROVING) {
        if (type != FRAME_PROOF || bytes) {
            fail_link(l, "handshake: the first frame is not a proof of the keys");
            return;
        }
        event_del(l->deadline);
        l->phase = PHASE_UP;
        /* One whole frame must fit; the rest stays in the kernel and slows the peer down. */
        bufferevent_setwatermark(l->bev, EV_READ, 0, LINK_FRAME_MAX + SEAL_OVERHEAD);
        l->events.up(l, l->arg);
    } else if (type == LINK_JSON || type == LINK_TELEMETRY) {
        l->events.frame(l, type, data, bytes, l->arg);
    } else {
        fail_link(l, "frame of unknown type %u", type);
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
        fail_link(l, "invalid frame size, expected at most %zu bytes", max);
        return 0;
    }
    if (evbuffer_get_length(in) < (size_t)total)
        return 0;
    p = evbuffer_pullup(in, total);
    if (!p || seal_get(&l->seal, p, (size_t)total, &type, &data, &bytes) < 0) {
        fail_link(l, "frame not sealed by the peer: altered, replayed or out of order");
        return 0;
    }
    handle_frame(l, type, data, bytes);
    evbuffer_drain(in, (size_t)total);
    return 1;
}

/* Handle what has arrived, at most max messages or frames.  True: there may be more. */
static bool handle_some(struct link *l, unsigned max)
{
    struct evbuffer *in = bufferevent_get_input(l->bev);
    int more = 1;

    while (more && l->phase != PHASE_DOWN && !l->ignored) {
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
    size_t bytes;

    (void)bev;
    l->busy++;
    if (handle_some(l, FRAMES_AT_ONCE))
        event_active(l->again, EV_TIMEOUT, 0);
    bytes = l->phase == PHASE_UP ? evbuffer_get_length(bufferevent_get_input(l->bev)) : 0;
    if (bytes != l->arriving && !l->closed && l->events.arriving) {
        l->arriving = bytes;
        l->events.arriving(l, bytes, l->arg);
    }
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
        fail_link(l, "%s", why);
    }
}

/* ---- connecting ---- */

static void set_options(evutil_socket_t fd)
{
    int on = 1, idle_s = 10, interval_s = 5, probes = 4, stuck_ms = 30000;

    evutil_make_socket_closeonexec(fd);
    /* Detect a dead machine, whose link would otherwise stay open for minutes.  Some kinds of socket lack
     * these options, which does no harm. */
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
    bufferevent_setwatermark(l->bev, EV_READ, 0, HANDSHAKE_READ_MAX); /* the rest stays in the kernel */
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
        fail_link(l, l->phase == PHASE_UP ? "closed by the peer" : "closed by the peer during the handshake");
    else
        fail_link(l, "%s", strerror(e));
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
        fail_link(l, "cannot resolve the host name within %g s", handshake_s(l));
    else if (l->phase == PHASE_CONNECTING)
        fail_link(l, "no connection within %g s", handshake_s(l));
    else
        fail_link(l, "the handshake takes longer than %g s", handshake_s(l));
}

static void on_addresses(struct addrinfo *addresses, const char *why, void *arg)
{
    struct link *l = arg;

    l->lookup = NULL;
    l->addresses = l->next = addresses;
    if (l->phase == PHASE_DOWN) /* failed meanwhile */
        return;
    if (!addresses) {
        fail_link(l, "%s", why);
        return;
    }
    l->phase = PHASE_CONNECTING;
    if (connect_next(l) < 0)
        fail_link(l, "%s", strerror(errno));
}

static struct link *new_link(struct event_base *base, const struct link_end *end,
                             const struct link_events *events, void *arg, struct err *err)
{
    struct link *l = xcalloc(1, sizeof(*l));

    l->base = base;
    l->end = end;
    l->events = *events;
    l->arg = arg;
    l->other.maker = (uid_t)-1;
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
                          const struct link_end *end, const struct link_events *events, void *arg,
                          struct err *err)
{
    struct host host;
    struct link *l;

    if (hosts_pick(hosts, index, CONFIG_DEFAULT_PORT, &host, err) < 0)
        return NULL;
    l = new_link(base, end, events, arg, err);
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
        l->from.s6_addr[10] = l->from.s6_addr[11] = 0xff;
        memcpy(&l->from.s6_addr[12], &v4->sin_addr, 4);
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
        snprintf(l->peer, sizeof(l->peer), "%s:%u", text, ntohs(v4->sin_port));
    } else if (ss.ss_family == AF_INET6) {
        l->from = v6->sin6_addr;
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
        snprintf(l->peer, sizeof(l->peer), "[%s]:%u", text, ntohs(v6->sin6_port));
    }
}

struct link *link_accept(struct event_base *base, int fd, const struct link_end *end,
                         const struct link_events *events, void *arg, struct err *err)
{
    struct link *l = new_link(base, end, events, arg, err);

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

/* ---- who is trusted ---- */

void link_end_trust(struct link_end *end, const char *user)
{
    const struct passwd *pw = *user ? getpwnam(user) : NULL;

    if (pw && end->n_trusted < LINK_TRUSTED_MAX)
        end->trusted[end->n_trusted++] = pw->pw_uid;
}

void link_end_configure(struct link_end *end, const struct config *c)
{
    end->munge_socket = *c->munge_socket ? c->munge_socket : NULL;
    end->cluster = c->cluster;
    end->n_trusted = 0;
    link_end_trust(end, c->slurm_user);
    link_end_trust(end, c->controller_user);
}

/* ---- sending ---- */

int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes)
{
    if (l->phase != PHASE_UP || bytes > LINK_FRAME_MAX)
        return -1;
    if (link_pending_bytes(l) + bytes + SEAL_OVERHEAD > LINK_PENDING_MAX) {
        fail_link(l, "the peer is too slow: more than %u MiB pending", LINK_PENDING_MAX >> 20);
        return -1;
    }
    if (put_frame(l, (uint8_t)type, data, bytes) < 0) {
        fail_link(l, "out of memory for a frame of %zu bytes", bytes);
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

void link_ignore(struct link *l)
{
    l->ignored = true;
    if (l->bev)
        bufferevent_disable(l->bev, EV_READ);
}

const json_t *link_step(const struct link *l)
{
    return l->other.role == IDENTITY_STEP && trusts(l, l->other.maker) ? l->other.claims : NULL;
}

/* The agent of a step is its user's, whoever vouches for the step. */
uid_t link_uid(const struct link *l)
{
    const json_t *step = link_step(l);

    return step ? (uid_t)json_get_int(step, "uid", 0, UINT32_MAX - 1, UINT32_MAX) : l->other.maker;
}

const char *link_peer(const struct link *l)
{
    return l->peer;
}
