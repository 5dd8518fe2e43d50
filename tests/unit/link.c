/* Links against a munged of their own: the handshake, and everything a stranger on the way can do to one. */
#include "wire/link.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <sys/mman.h>

#include "tests/ends.h"
#include "tests/munge.h"
#include "tests/tap.h"
#include "wire/json.h"
#include "wire/loop.h"

static struct event_base *base;
static struct test_munge ours, theirs;

/* ---- one end of a link, and what happened to it ---- */

struct end {
    struct link *link;
    bool up, down, close_on_frame;
    int frames;
    struct end *close_other; /* at the first frame */
    size_t bytes;
    char last[64], why[400];
};

static void on_up(struct link *l, void *arg)
{
    ((struct end *)arg)->link = l;
    ((struct end *)arg)->up = true;
}

static void on_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct end *e = arg;

    e->frames++;
    e->bytes += bytes;
    snprintf(e->last, sizeof(e->last), "%d:%.*s", (int)type, bytes < 40 ? (int)bytes : 40,
             (const char *)data);
    if (e->close_other) {
        link_close(e->close_other->link);
        e->close_other->link = NULL;
        e->close_other = NULL;
    }
    if (e->close_on_frame) {
        link_close(l);
        e->link = NULL;
    }
}

static void on_down(struct link *l, const char *why, void *arg)
{
    struct end *e = arg;

    (void)l;
    e->down = true;
    e->link = NULL;
    snprintf(e->why, sizeof(e->why), "%s", why);
}

static const struct link_events events = { .up = on_up, .frame = on_frame, .down = on_down };

/* ---- the accepting side ---- */

static struct end server;
static struct test_end at_home, elsewhere; /* controllers of two clusters */
static const struct link_end *server_end;
static struct link_end client_end;
static char server_hosts[64];

static int port_of(evutil_socket_t fd)
{
    struct sockaddr_in sin;
    socklen_t len = sizeof(sin);

    getsockname(fd, (struct sockaddr *)&sin, &len);
    return ntohs(sin.sin_port);
}

static struct evconnlistener *listen_on(evconnlistener_cb cb, char *hosts)
{
    struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct evconnlistener *l = evconnlistener_new_bind(base, cb, NULL, LEV_OPT_CLOSE_ON_FREE, 5,
                                                       (struct sockaddr *)&sin, sizeof(sin));

    if (l)
        sprintf(hosts, "127.0.0.1:%d", port_of(evconnlistener_get_fd(l)));
    return l;
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len, void *arg)
{
    (void)l, (void)sa, (void)len, (void)arg;
    server.link = link_accept(base, fd, server_end, &events, &server, NULL);
}

/* ---- a stranger between the two, who forwards, and may do worse ---- */

static enum { FORWARD, TAMPER, REPLAY, GROW, STALL, CUT } mischief;
static char relay_hosts[64];
static uint8_t heard[65536]; /* what the connecting end sent */
static size_t heard_bytes;

struct relay {
    struct bufferevent *near, *far;
};

static void relay_close(struct relay *r)
{
    bufferevent_free(r->near);
    bufferevent_free(r->far);
    free(r);
}

static void relay_read(struct bufferevent *from, void *arg)
{
    struct relay *r = arg;
    struct bufferevent *to = from == r->near ? r->far : r->near;
    static uint8_t buf[1 << 16];
    size_t n;

    if (mischief == STALL)
        bufferevent_disable(from, EV_READ);
    if (mischief == CUT) {
        relay_close(r);
        return;
    }
    while (mischief != STALL && (n = bufferevent_read(from, buf, sizeof(buf))) > 0) {
        if (from == r->near && heard_bytes + n <= sizeof(heard)) {
            memcpy(heard + heard_bytes, buf, n);
            heard_bytes += n;
        }
        if (mischief == TAMPER)
            buf[n / 2] ^= 1;
        if (mischief == GROW)
            buf[3] = 0x7f;
        bufferevent_write(to, buf, n);
        if (mischief == REPLAY)
            bufferevent_write(to, buf, n);
    }
}

static void relay_event(struct bufferevent *bev, short what, void *arg)
{
    (void)bev;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
        relay_close(arg);
}

static void on_relay(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len, void *arg)
{
    struct relay *r = calloc(1, sizeof(*r));
    struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

    (void)l, (void)sa, (void)len, (void)arg;
    sin.sin_port = htons((uint16_t)atoi(strchr(server_hosts, ':') + 1));
    r->near = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    r->far = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(r->near, relay_read, NULL, relay_event, r);
    bufferevent_setcb(r->far, relay_read, NULL, relay_event, r);
    bufferevent_socket_connect(r->far, (struct sockaddr *)&sin, sizeof(sin));
    bufferevent_enable(r->near, EV_READ | EV_WRITE);
    bufferevent_enable(r->far, EV_READ | EV_WRITE);
}

/* ---- running ---- */

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

#define ENDS_S 120 /* a limit that nothing comes near */

/* Run the loop until *flag. */
static bool wait_for(const bool *flag)
{
    double until = now_s() + ENDS_S;
    struct event *tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);

    event_add(tick, &(struct timeval){ 0, 10000 });
    while (!*flag && now_s() < until)
        event_base_loop(base, EVLOOP_ONCE);
    event_free(tick);
    return *flag;
}

/* Run the loop for a while: whatever is due at once happens. */
static void turn(void)
{
    for (int i = 0; i < 100; i++)
        event_base_loop(base, EVLOOP_NONBLOCK);
}

static bool wait_frames(const struct end *e, int frames)
{
    struct event *tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);

    event_add(tick, &(struct timeval){ 0, 10000 });
    for (double until = now_s() + ENDS_S; e->frames < frames && !e->down && now_s() < until;)
        event_base_loop(base, EVLOOP_ONCE);
    event_free(tick);
    return e->frames >= frames;
}

static void forget(struct end *e)
{
    link_close(e->link);
    memset(e, 0, sizeof(*e));
}

/* Both ends up, through the relay. */
static bool meet(struct end *client, const char *hosts)
{
    struct err err;

    forget(client);
    forget(&server);
    mischief = FORWARD;
    heard_bytes = 0;
    server_end = &at_home.end;
    client->link = link_connect(base, hosts, 0, &client_end, &events, client, &err);
    return client->link && wait_for(&client->up) && wait_for(&server.up);
}

static void handshake(void)
{
    struct end client = { 0 };
    static char big[LINK_FRAME_MAX + 1];
    char named[128], named_peer[64];

    ok(meet(&client, server_hosts), "a link comes up at both ends");
    ok(link_uid(server.link) == getuid(), "the accepting end knows the uid of the peer");
    is_str(link_peer(client.link), server_hosts,
           "link_peer of the connecting end is the address it connected to");
    ok(!strncmp(link_peer(server.link), "127.0.0.1:", 10),
       "link_peer of the accepting end is the peer's address");
    link_send(client.link, LINK_JSON, "{}", 2);
    link_send(client.link, LINK_TELEMETRY, "abc", 3);
    link_send(server.link, LINK_JSON, "", 0);
    ok(wait_frames(&server, 2) && wait_frames(&client, 1), "frames arrive in both directions");
    is_str(server.last, "2:abc", "a frame arrives with its type and bytes");
    is_str(client.last, "1:", "an empty frame arrives with its type");
    is_int(link_send(client.link, LINK_TELEMETRY, big, LINK_FRAME_MAX + 1), -1,
           "link_send rejects a frame above LINK_FRAME_MAX");
    ok(!client.down, "a rejected frame does not close the link");
    link_send(client.link, LINK_TELEMETRY, big, LINK_FRAME_MAX);
    ok(wait_frames(&server, 3) && server.bytes == LINK_FRAME_MAX + 5, "the largest frame arrives");
    ok(link_pending_bytes(client.link) == 0, "no bytes are pending after the largest frame has arrived");
    link_close(client.link);
    client.link = NULL;
    ok(wait_for(&server.down) && !client.down, "link_close is reported to the other end only\n%s",
       server.why);

    snprintf(named_peer, sizeof(named_peer), "localhost%s", strchr(server_hosts, ':'));
    snprintf(named, sizeof(named), "%s,ignored.invalid", named_peer);
    ok(meet(&client, named), "a name from /etc/hosts is found\n%s", client.why);
    is_str(client.link ? link_peer(client.link) : "", named_peer,
           "a peer found by name is shown by its name");
    forget(&client);

    meet(&client, server_hosts);
    server.close_on_frame = true;
    link_send(client.link, LINK_JSON, "1", 1);
    link_send(client.link, LINK_JSON, "2", 1);
    ok(wait_for(&client.down) && server.frames == 1, "a link may be closed from inside its own frame");
    forget(&client);
}

/* A link that is not urgent is read a few frames at a time; what its peer sent before it left still arrives.
 */
static void many_frames(void)
{
    enum { FRAMES = 1000 };
    struct end client = { 0 };

    meet(&client, server_hosts);
    link_urgent(server.link, false);
    server.close_other = &client;
    for (int i = 0; i < FRAMES; i++)
        link_send(client.link, LINK_JSON, "{}", 2);
    wait_for(&server.down);
    is_int(server.frames, FRAMES, "all frames arrive that were sent before the link was closed");
    is_str(server.why, "closed by the peer", "then the link is closed");
    meet(&client, server_hosts);
    link_urgent(server.link, false);
    server.close_other = &client;
    server.close_on_frame = true;
    for (int i = 0; i < FRAMES; i++)
        link_send(client.link, LINK_JSON, "{}", 2);
    wait_frames(&server, 1);
    turn();
    is_int(server.frames, 1, "a link that its owner closed has no more frames");
    forget(&client);
}

/* Through the relay: each kind of mischief on a link that is up. */
static void strangers(void)
{
    static const struct {
        int mischief;
        const char *what, *why;
    } cases[] = {
        { TAMPER, "an altered frame", "not sealed" },
        { REPLAY, "a repeated frame", "not sealed" },
        { GROW, "a length of 2 GiB", "expected at most 1048576 bytes" },
        { CUT, "a cut", "closed by the peer" },
    };
    struct end client = { 0 };
    static char big[LINK_FRAME_MAX];
    int sent = 0;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        bool up = meet(&client, relay_hosts);

        mischief = cases[i].mischief;
        link_send(client.link, LINK_JSON, "{\"a\":1}", 7);
        ok(up && wait_for(&server.down) && strstr(server.why, cases[i].why), "%s closes the link\n%s",
           cases[i].what, server.why);
        ok(server.frames == (cases[i].mischief == REPLAY), "%s: only the genuine frame is delivered",
           cases[i].what);
        wait_for(&client.down);
    }
    meet(&client, relay_hosts);
    mischief = STALL;
    while (sent < 100 && !link_send(client.link, LINK_TELEMETRY, big, sizeof(big))) {
        sent++;
        turn();
    }
    printf("# %d MiB were accepted\n", sent);
    ok(sent >= 16 && sent < 30,
       "link_send accepts as much for a peer that does not read as LINK_PENDING_MAX and the kernel hold");
    is_int(link_send(client.link, LINK_JSON, "x", 1), -1,
           "link_send fails once the buffer for a peer is full");
    ok(wait_for(&client.down) && strstr(client.why, "too slow"),
       "the link to a peer that does not read goes down by itself\n%s", client.why);
    forget(&server);
}

/* ---- raw peers ---- */

static int raw_connect(void)
{
    struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    forget(&server);
    sin.sin_port = htons((uint16_t)atoi(strchr(server_hosts, ':') + 1));
    if (connect(fd, (struct sockaddr *)&sin, sizeof(sin)) < 0)
        return -1;
    return fd;
}

static void raw_send(int fd, const void *data, size_t bytes)
{
    if (send(fd, data, bytes, MSG_NOSIGNAL) < 0)
        perror("# send");
}

/* What the server told the raw peer before it closed, printable. */
static const char *raw_reason(int fd)
{
    static char text[512];
    ssize_t n;

    wait_for(&server.down);
    n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
    close(fd);
    if (n < 11)
        return "";
    text[n] = '\0';
    return text + 11;
}

#define KEY "0123456789abcdef0123456789abcdef"

static void raw_peers(void)
{
    static const char head_v1[] = "SGLK\x01\0\0\0\x01\x04\0abcd";
    static const char head_v9[] = "SGLK\x09\0\0\0\x01\x28\0" KEY "MUNGE:x:";
    static const char head_long[] = "SGLK\x02\0\0\0\x01\xff\xff";
    static const char head_kind[] = "SGLK\x02\0\0\0\x02\x00\0";
    static const char head_key[] = "SGLK\x02\0\0\0\x01\x08\0MUNGE:x:";
    static const char head_cred[] = "SGLK\x02\0\0\0\x01\x28\0" KEY "MUNGE:x:";
    struct end client = { 0 };
    struct link_end hasty = at_home.end;
    uint8_t greeting[4096];
    size_t n;
    int fd;

    server_end = &at_home.end;
    fd = raw_connect();
    raw_send(fd, "GET / HTTP/1.1\r\nHost: syncguard\r\n\r\n", 36);
    raw_reason(fd);
    ok(strstr(server.why, "does not speak our protocol"), "a peer that sends garbage is rejected\n%s",
       server.why);
    fd = raw_connect();
    raw_send(fd, head_v1, sizeof(head_v1) - 1);
    ok(strstr(raw_reason(fd), "protocol version 2, the peer version 1"),
       "a peer of another version gets both versions as the reason\n%s", server.why);
    fd = raw_connect();
    raw_send(fd, head_v9, sizeof(head_v9) - 1);
    ok(strstr(raw_reason(fd), "munge"),
       "a peer of a newer version is asked for its credential as others are\n%s", server.why);
    fd = raw_connect();
    raw_send(fd, head_long, sizeof(head_long) - 1);
    raw_reason(fd);
    ok(strstr(server.why, "message of 65535 bytes"), "an oversized greeting is rejected\n%s", server.why);
    fd = raw_connect();
    raw_send(fd, head_kind, sizeof(head_kind) - 1);
    raw_reason(fd);
    ok(strstr(server.why, "unexpected message"), "an answer without a greeting is rejected\n%s", server.why);
    fd = raw_connect();
    raw_send(fd, head_key, sizeof(head_key) - 1);
    raw_reason(fd);
    ok(strstr(server.why, "unexpected message 1 of 8 bytes"),
       "a greeting without room for a key is rejected\n%s", server.why);
    fd = raw_connect();
    raw_send(fd, head_cred, sizeof(head_cred) - 1);
    ok(strstr(raw_reason(fd), "munge"), "a forged credential is rejected\n%s", server.why);
    fd = raw_connect();
    raw_send(fd, head_cred, 13);
    turn();
    close(fd);
    ok(wait_for(&server.down) && strstr(server.why, "during the handshake"), "an early close\n%s",
       server.why);

    meet(&client, relay_hosts);
    n = 11 + (size_t)(heard[9] | heard[10] << 8);
    memcpy(greeting, heard, n);
    forget(&client);
    wait_for(&server.down);
    fd = raw_connect();
    raw_send(fd, greeting, n);
    raw_send(fd, heard + n, heard_bytes - n);
    raw_reason(fd);
    ok(!server.up && strstr(server.why, "not sealed"),
       "a recorded connection that is sent again is rejected\n%s", server.why);
    hasty.handshake_s = 0.2;
    server_end = &hasty;
    fd = raw_connect();
    raw_reason(fd);
    ok(strstr(server.why, "longer than 0.2 s"),
       "a peer that sends no greeting is closed at the handshake's time limit\n%s", server.why);
    server_end = &at_home.end;
}

/* ---- what the connecting end is told ---- */

static const char *reply;
static size_t reply_bytes;
static int raw_server = -1;

static void on_raw_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len,
                          void *arg)
{
    (void)l, (void)sa, (void)len, (void)arg;
    raw_send(fd, reply, reply_bytes);
    if (raw_server >= 0)
        close(raw_server);
    raw_server = fd; /* stays open: closing with unread bytes would take the reply back */
}

static void expect_down(const char *hosts, const struct link_end *end, const char *what, const char *why)
{
    struct end client = { 0 };
    struct err err = { "" };

    client.link = link_connect(base, hosts, 0, end, &events, &client, &err);
    if (client.link)
        wait_for(&client.down);
    ok(!client.up && strcasestr(client.link   ? ""
                                : client.down ? client.why
                                              : err.text,
                                why),
       "%s\n%s", what, client.down ? client.why : err.text);
    forget(&client);
}

static void reasons(void)
{
    char hosts[64], none[128];
    struct link_end nowhere = { 0 }, unknown = at_home.end, hasty = client_end;
    struct evconnlistener *raw = listen_on(on_raw_accept, hosts);

    reply = "SGLK\x07\0\0\0\x02\x01\0x";
    reply_bytes = 12;
    expect_down(hosts, &client_end, "a controller of another version",
                "the peer speaks protocol version 7, this end version 2");
    reply = "SGLK\x07\0\0\0\x03\x06\0no\x1b[2J";
    reply_bytes = 17;
    expect_down(hosts, &client_end, "a rejection is reported without its control characters", "no?[2J");
    reply = "SGLK\x02\0\0\0\x02\x28\0" KEY "MUNGE:x:";
    reply_bytes = 51;
    expect_down(hosts, &client_end, "a controller with a forged credential is not accepted",
                "not accepted as a controller");
    reply = "220 mail ready\r\n";
    reply_bytes = 16;
    expect_down(hosts, &client_end, "a service with another protocol is rejected",
                "does not speak our protocol");
    evconnlistener_free(raw);
    expect_down(hosts, &client_end, "a port without a listener is reported", "refused");

    server_end = &elsewhere.end;
    expect_down(server_hosts, &client_end, "a credential of another cluster's key is rejected",
                "invalid credential");
    wait_for(&server.down);
    ok(strcasestr(server.why, "invalid credential"),
       "the accepting end also reports the invalid credential\n%s", server.why);
    snprintf(none, sizeof(none), "%s/none", ours.dir);
    nowhere.munge_socket = none;
    expect_down(server_hosts, &nowhere, "connecting without munged is an error", "munge");
    unknown.identity = NULL;
    server_end = &unknown;
    expect_down(server_hosts, &client_end, "the controller's lack of munged is reported",
                "no credential yet");
    expect_down("a:b", &client_end, "a malformed list of hosts is rejected", "port must be");
    hasty.handshake_s = 1; /* a network that does not answer for its names is reported as well */
    expect_down("no-such-host.invalid", &hasty, "an unknown host name is reported", "");
}

/* An identity that another user vouches for; NULL where this process cannot become one. */
static struct identity *made_by(uid_t uid, enum identity_role role, const json_t *claims)
{
    int fd = memfd_create("identity", MFD_CLOEXEC), status = 1;
    struct identity *i = NULL;
    struct err err;
    pid_t pid = fork();

    if (pid == 0) {
        i = setuid(uid) < 0 ? NULL : identity_new(ours.socket, role, claims, &err);
        _exit(i ? identity_save(i, fd, &err) < 0 : 1);
    }
    if (waitpid(pid, &status, 0) == pid && !status)
        i = identity_load(fd, &err);
    close(fd);
    return i;
}

/* What is there instead of an identity is why there is none. */
static void no_identity(void)
{
    static const struct {
        const char *there, *reason;
    } cases[] = { { "", "no identity was handed over" },
                  { "munge: no socket\n/x failed\n", "munge: no socket" },
                  { "/x cannot be run\n", "/x cannot be run" } };
    struct err err;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int fd = memfd_create("identity", MFD_CLOEXEC);

        if (write(fd, cases[i].there, strlen(cases[i].there)) < 0 || identity_load(fd, &err))
            snprintf(err.text, sizeof(err.text), "an identity");
        is_str(err.text, cases[i].reason, "no identity: the reason is '%s'", cases[i].reason);
        close(fd);
    }
}

/* Whom an end takes the other for: by who vouches for it, and as what. */
static void identities(void)
{
    struct test_step step = {
        .uid = 4711, .job = 12, .step = 3, .tasks = 8, .nodes = 2, .node = "node2", .ranks = "4-7"
    };
    struct link_end controller = at_home.end, agent = client_end;
    struct identity *made = test_step_identity(ours.socket, &step);
    json_t *claims = json_pack("{s:i,s:s}", "uid", 0, "cluster", "one");
    struct end client = { 0 };

    agent.identity = made;
    for (int i = 0; i < 2; i++) { /* again, as after a lost connection */
        forget(&client);
        forget(&server);
        server_end = &at_home.end;
        client.link = link_connect(base, server_hosts, 0, &agent, &events, &client, NULL);
        ok(wait_for(&client.up) && wait_for(&server.up),
           "an agent connects with its step's credential, time %d\n%s", i + 1, client.why);
        ok(server.link && link_uid(server.link) == 4711, "its user is the one that is vouched for");
        ok(server.link && json_get_int(link_step(server.link), "job", 1, 100, 0) == 12, "and so is its job");
    }
    agent.identity = NULL;
    forget(&client);
    forget(&server);
    client.link = link_connect(base, server_hosts, 0, &agent, &events, &client, NULL);
    wait_for(&client.up);
    wait_for(&server.up);
    ok(server.link && !link_step(server.link) && link_uid(server.link) == getuid(),
       "nobody vouches for a step of a user's credential");
    forget(&client);
    forget(&server);

    agent.identity = at_home.identity;
    expect_down(server_hosts, &agent, "a controller's credential is not accepted from an agent",
                "a controller's credential");
    controller.identity = made;
    server_end = &controller;
    expect_down(server_hosts, &client_end, "who bears a step's credential is not accepted as a controller",
                "made for something else");
    identity_free(made);

    controller.identity = made = identity_new(ours.socket, IDENTITY_CONTROLLER, claims, NULL);
    agent = client_end;
    agent.cluster = "two";
    expect_down(server_hosts, &agent, "a controller of another cluster is not accepted",
                "cluster one, expected two");
    controller.identity = at_home.identity;
    controller.cluster = "one";
    expect_down(server_hosts, &agent, "an agent of another cluster is refused", "controller of cluster one");
    controller.cluster = NULL;
    identity_free(made);

    made = made_by(65534, IDENTITY_CONTROLLER, NULL);
    if (made) {
        controller.identity = made;
        expect_down(server_hosts, &client_end, "a controller of an ordinary user is not accepted",
                    "uid 65534 runs it");
        agent = client_end;
        agent.trusted[agent.n_trusted++] = 65534;
        client.link = link_connect(base, server_hosts, 0, &agent, &events, &client, NULL);
        ok(wait_for(&client.up), "unless that user is trusted\n%s", client.why);
        forget(&client);
        identity_free(made);
        agent = client_end;
        agent.identity = made = made_by(65534, IDENTITY_STEP, claims);
        server_end = &at_home.end;
        client.link = link_connect(base, server_hosts, 0, &agent, &events, &client, NULL);
        wait_for(&client.up);
        wait_for(&server.up);
        ok(server.link && !link_step(server.link) && link_uid(server.link) == 65534,
           "an ordinary user cannot vouch for a step, nor become root by it");
        forget(&client);
        forget(&server);
        identity_free(made);
    } else {
        puts("# this process cannot become another user");
    }
    json_decref(claims);
    server_end = &at_home.end;
}

/* An owner that leaves in the middle of everything.  What would still come has come when a later lookup and a
 * later handshake have ended. */
static void leaving(void)
{
    struct link_end hasty = client_end;
    struct end client = { 0 }, later = { 0 };

    hasty.handshake_s = 1;
    client.link = link_connect(base, "no-such-host.invalid", 0, &hasty, &events, &client, NULL);
    turn();
    forget(&client);
    client.link = link_connect(base, server_hosts, 0, &client_end, &events, &client, NULL);
    forget(&client);
    later.link = link_connect(base, "no-such-host.invalid", 0, &hasty, &events, &later, NULL);
    wait_for(&later.down);
    ok(meet(&later, server_hosts), "a link comes up after others were closed before they were up");
    ok(!client.down && !client.up, "a link closed before it is up calls no callback");
    forget(&later);
}

int main(void)
{
    struct evconnlistener *listener, *relay;

    if (!test_munge_start(&ours) || !test_munge_start(&theirs))
        return skip_all("munged is not there, or does not start");
    base = loop_new_priorities();
    client_end.munge_socket = ours.socket;
    if (!test_end_open(&at_home, base, ours.socket) || !test_end_open(&elsewhere, base, theirs.socket))
        return skip_all("munged does not answer");
    /* The program's own limit is for peers that keep it busy, not for a slow machine. */
    client_end.handshake_s = at_home.end.handshake_s = elsewhere.end.handshake_s = ENDS_S;
    listener = listen_on(on_accept, server_hosts);
    relay = listen_on(on_relay, relay_hosts);
    handshake();
    many_frames();
    strangers();
    raw_peers();
    reasons();
    no_identity();
    identities();
    leaving();
    forget(&server);
    evconnlistener_free(listener);
    evconnlistener_free(relay);
    turn();
    test_end_close(&at_home);
    test_end_close(&elsewhere);
    event_base_free(base);
    test_munge_stop(&ours);
    test_munge_stop(&theirs);
    return done_testing();
}
