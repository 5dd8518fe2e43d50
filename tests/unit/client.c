/* Questions to a small controller: answers, errors, several hosts, one that goes and comes back. */
#include "wire/client.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <signal.h>
#include <sys/prctl.h>

#include "common/now.h"
#include "tests/ends.h"
#include "tests/munge.h"
#include "tests/tap.h"
#include "wire/link.h"

static struct test_munge mung;

/* ---- the controller, a process of its own: client_ask has the loop of its caller ---- */

static struct event_base *serving;

static void turn_away(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    link_close(arg);
}

static void answer(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    json_t *q = json_loadb(data, bytes, 0, NULL);
    const char *name = json_string_value(json_object_get(q, "query"));
    const char *text = "{\"jobs\":3}";
    static int turned_away; /* of lemons, the first two; of actions all */

    (void)type, (void)arg;
    if (name && (!strcmp(name, "action") || (!strcmp(name, "lemons") && turned_away++ < 2))) {
        event_base_once(serving, -1, EV_TIMEOUT, turn_away, l, NULL);
        text = NULL;
    } else if (name && !strcmp(name, "secret"))
        text = "{\"error\":\"not yours\"}";
    else if (name && !strcmp(name, "garbage"))
        text = "[1,";
    else if (name && !strcmp(name, "silence"))
        text = NULL;
    else if (name && !strcmp(name, "leave"))
        _exit(0);
    if (text)
        link_send(l, LINK_JSON, text, strlen(text));
    json_decref(q);
}

static void nothing(struct link *l, void *arg)
{
    (void)l, (void)arg;
}

static void gone(struct link *l, const char *why, void *arg)
{
    (void)l, (void)why, (void)arg;
}

static struct test_end test_end;

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len, void *arg)
{
    static const struct link_events events = { .up = nothing, .frame = answer, .down = gone };

    (void)sa, (void)len, (void)arg;
    serving = evconnlistener_get_base(l);
    link_accept(serving, fd, &test_end.end, &events, NULL, NULL);
}

/* A port of our own while the socket is open: connections to it are refused unless a second socket listens on
 * it. */
static int bound_socket(int port)
{
    struct sockaddr_in sin = { .sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&sin, sizeof(sin)) < 0)
        return -1;
    return fd;
}

static int listen_socket(int port)
{
    int fd = bound_socket(port);

    return fd < 0 || listen(fd, 5) < 0 ? -1 : fd;
}

static pid_t start_controller(int fd)
{
    struct event_base *base;
    pid_t pid = fork();

    if (pid) {
        close(fd);
        return pid;
    }
    base = event_base_new();
    test_end_open(&test_end, base, mung.socket);
    evconnlistener_new(base, on_accept, NULL, LEV_OPT_CLOSE_ON_FREE, 0, fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that crashes leaves no controller behind */
    event_base_dispatch(base);
    _exit(0);
}

static int port_of(int fd)
{
    struct sockaddr_in sin;
    socklen_t len = sizeof(sin);

    getsockname(fd, (struct sockaddr *)&sin, &len);
    return ntohs(sin.sin_port);
}

/* ---- asking ---- */

#define ANSWER_S  60  /* a limit that no answer comes near */
#define SILENCE_S 0.3 /* how long an answer that never comes is waited for */

/* An error as the test expects it, whose words hold ports. */
static void is_error(const struct err *err, const char *words, const char *what)
{
    ok(strstr(err->text, words), "%s", what);
    printf("# %s\n", err->text);
}

static json_t *ask(const char *hosts, const char *query, double timeout_s, struct err *err)
{
    struct client_options o = { .hosts = hosts, .end = { .munge_socket = mung.socket } };
    json_t *q = json_pack("{s:s}", "query", query);
    json_t *a = client_ask(&o, q, timeout_s, err);

    json_decref(q);
    return a;
}

static void asking(int port, int closed_port)
{
    struct err err = { "" };
    char hosts[64], both[128];
    double begin_s;
    json_t *a;

    snprintf(hosts, sizeof(hosts), "127.0.0.1:%d", port);
    snprintf(both, sizeof(both), "127.0.0.1:%d,127.0.0.1:%d", closed_port, port);
    a = ask(hosts, "status", ANSWER_S, &err);
    is_int(json_integer_value(json_object_get(a, "jobs")), 3, "a query is answered by the controller");
    json_decref(a);
    a = ask(both, "status", ANSWER_S, &err);
    ok(a != NULL, "the second host answers when the first is not reachable");
    json_decref(a);
    ok(!ask(hosts, "secret", ANSWER_S, &err), "a query that the controller rejects returns an error");
    is_str(err.text, "not yours", "the error is the controller's text");
    ok(!ask(hosts, "garbage", ANSWER_S, &err), "a query whose answer is not JSON fails");
    is_error(&err, "not a JSON object", "an answer that is not JSON is an error");
    a = ask(hosts, "lemons", ANSWER_S, &err);
    is_int(json_integer_value(json_object_get(a, "jobs")), 3,
           "a question is asked again when the connection is closed instead of an answer");
    json_decref(a);
    ok(!ask(hosts, "action", ANSWER_S, &err), "what may have been carried out is not asked for again");
    is_error(&err, "closed by the peer", "and the error says that the connection was closed");
    begin_s = now_s();
    ok(!ask(hosts, "silence", SILENCE_S, &err), "a query that is not answered returns at its timeout");
    ok(now_s() - begin_s >= SILENCE_S, "a query that is not answered does not return before its timeout");
    is_error(&err, "no answer within ", "the lack of an answer within the timeout is an error");
    snprintf(both, sizeof(both), "127.0.0.1:%d,127.0.0.1:%d", closed_port, closed_port);
    ok(!ask(both, "status", ANSWER_S, &err), "without a reachable host a query fails");
    is_error(&err, "; 127.0.0.1", "without a reachable host the error names each");
    ok(!ask("", "status", ANSWER_S, &err) && *err.text, "an empty list of hosts is an error");
}

static json_t *ask_on(struct client_call *call, const char *query, double timeout_s, struct err *err)
{
    json_t *q = json_pack("{s:s}", "query", query);
    json_t *a = client_call_ask(call, q, timeout_s, err);

    json_decref(q);
    return a;
}

static void several(int port)
{
    struct err err = { "" };
    char hosts[64];
    struct client_options o = { .hosts = hosts, .end = { .munge_socket = mung.socket } };
    json_t *q = json_pack("{s:s}", "query", "status"), *a;
    struct client_call *call;
    double limit_s = 0.25;

    snprintf(hosts, sizeof(hosts), "127.0.0.1:%d", port);
    /* as short as this machine allows: it is waited for below */
    while (!(a = client_call(&call, &o, q, limit_s, &err)) && limit_s < ANSWER_S)
        limit_s *= 2;
    if (!ok(a && call, "the first query of several is answered"))
        printf("# %s\n", err.text);
    json_decref(a);
    a = ask_on(call, "status", ANSWER_S, &err);
    ok(a, "the second query is answered on the same connection");
    json_decref(a);
    usleep((useconds_t)(1.2e6 * limit_s));
    a = ask_on(call, "status", ANSWER_S, &err);
    ok(a, "the time limit of the first query does not end a later one");
    json_decref(a);
    ok(!ask_on(call, "secret", ANSWER_S, &err), "a later query can be rejected");
    is_str(err.text, "not yours", "the error of a later query is the controller's text");
    ok(!ask_on(call, "silence", SILENCE_S, &err),
       "a later query that is not answered returns at its timeout");
    is_error(&err, "no answer within 0.3 s",
             "the error of a later query that is not answered has its timeout");
    client_call_end(call);
    json_decref(q);
    q = json_pack("{s:s}", "query", "secret");
    ok(!client_call(&call, &o, q, ANSWER_S, &err) && !call,
       "a first query that is rejected leaves no connection");
    json_decref(q);
}

/* The controller leaves for good. */
static void several_lost(int port)
{
    struct err err = { "" };
    char hosts[64];
    struct client_options o = { .hosts = hosts, .end = { .munge_socket = mung.socket } };
    json_t *q = json_pack("{s:s}", "query", "status"), *a;
    struct client_call *call;

    snprintf(hosts, sizeof(hosts), "127.0.0.1:%d", port);
    a = client_call(&call, &o, q, ANSWER_S, &err);
    json_decref(a);
    ok(!ask_on(call, "leave", ANSWER_S, &err), "a query whose connection is lost before the answer fails");
    is_error(&err, "closed by the peer", "a connection that is lost before the answer is an error");
    ok(!ask_on(call, "status", ANSWER_S, &err), "on a lost connection nothing more can be asked");
    is_error(&err, "the connection is lost", "the error on a lost connection says so");
    client_call_end(call);
    json_decref(q);
}

/* ---- standing ---- */

static struct {
    int ups, downs, answers;
    bool free_in_answer;
    struct client *client;
    char why[512];
} seen;

static void on_answer(struct client *c, json_t *a, void *arg)
{
    (void)a, (void)arg;
    seen.answers++;
    if (seen.free_in_answer) {
        client_free(c);
        seen.client = NULL;
    }
}

static void on_state(struct client *c, bool up, const char *why, void *arg)
{
    (void)c, (void)arg;
    *(up ? &seen.ups : &seen.downs) += 1;
    snprintf(seen.why, sizeof(seen.why), "%s", why);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

static bool reaches(struct event_base *base, const int *counter, int value)
{
    struct event *tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);
    double until = now_s() + ANSWER_S;

    event_add(tick, &(struct timeval){ 0, 10000 });
    while (*counter < value && now_s() < until)
        event_base_loop(base, EVLOOP_ONCE);
    event_free(tick);
    return *counter >= value;
}

static bool send_query(const char *query)
{
    json_t *q = json_pack("{s:s}", "query", query);
    int rc = client_send(seen.client, q);

    json_decref(q);
    return !rc;
}

static void standing(int port, pid_t *controller)
{
    static const struct client_events events = { on_answer, on_state };
    struct event_base *base = event_base_new();
    char hosts[64];
    struct client_options o = { .hosts = hosts, .end = { .munge_socket = mung.socket } };
    int downs;

    snprintf(hosts, sizeof(hosts), "127.0.0.1:%d", port);
    seen.client = client_new(base, &o, &events, NULL);
    ok(!send_query("status"), "client_send before the connection is up is rejected");
    ok(reaches(base, &seen.ups, 1) && send_query("status") && reaches(base, &seen.answers, 1),
       "the client connects, and its query is answered");
    ok(send_query("secret") && reaches(base, &seen.answers, 2) && seen.downs == 0,
       "an error is delivered as an answer, the connection stays up");
    send_query("leave");
    ok(reaches(base, &seen.downs, 1), "the client reports that the controller closed the connection");
    printf("# %s\n", seen.why);
    waitpid(*controller, NULL, 0);
    ok(reaches(base, &seen.downs, 3), "the client tries to connect again");
    printf("# %s\n", seen.why);
    *controller = start_controller(listen_socket(port));
    ok(reaches(base, &seen.ups, 2) && send_query("status") && reaches(base, &seen.answers, 3),
       "the client connects again when the controller is back");
    downs = seen.downs; /* the more, the longer the controller took to come back */
    ok(send_query("garbage") && reaches(base, &seen.downs, downs + 1) && reaches(base, &seen.ups, 3),
       "an answer that is not JSON closes the connection, and the client reconnects");
    seen.free_in_answer = true;
    ok(send_query("status") && reaches(base, &seen.answers, 4) && !seen.client,
       "client_close inside the callback of an answer is safe");
    client_free(seen.client);
    event_base_free(base);
}

int main(void)
{
    int kept, closed, port, closed_port;
    pid_t controller;

    if (!test_munge_start(&mung))
        return skip_all("munged is not there, or does not start");
    kept = bound_socket(0); /* so that the port stays ours while no controller has it */
    closed = bound_socket(0);
    port = port_of(kept);
    closed_port = port_of(closed);
    controller = start_controller(listen_socket(port));
    asking(port, closed_port);
    several(port);
    standing(port, &controller);
    several_lost(port);
    kill(controller, SIGTERM);
    waitpid(controller, NULL, 0);
    test_munge_stop(&mung);
    return done_testing();
}
