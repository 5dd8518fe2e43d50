#include "wire/client.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "common/config.h"
#include "common/hosts.h"
#include "common/now.h"
#include "common/xalloc.h"
#include "wire/json.h"
#include "wire/loop.h"
#include "wire/pages.h"

#define AGAIN_EVERY_S 0.003 /* a flood from this address leaves few openings */

void client_key(char key[CLIENT_KEY_BYTES])
{
    uint64_t random[2];

    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        random[0] = (uint64_t)time(NULL), random[1] = (uint64_t)getpid();
    snprintf(key, CLIENT_KEY_BYTES, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
}

static json_t *parse_answer(enum link_frame type, const void *data, size_t bytes, struct err *err)
{
    json_error_t at;
    json_t *answer;

    if (type != LINK_JSON) {
        err_set(err, "unexpected frame from the controller");
        return NULL;
    }
    answer = json_loadb(data, bytes, 0, &at);
    if (answer && json_is_object(answer))
        return answer;
    json_decref(answer);
    err_set(err, "the controller's answer is not a JSON object");
    return NULL;
}

/* ---- questions that are waited for ---- */

struct client_call {
    struct event_base *base;
    struct link *link;
    const json_t *question; /* sent when the link is up */
    json_t *answer;
    struct err err; /* for this host */
    struct host host;
    bool up, failed;
};

static void call_up(struct link *l, void *arg)
{
    struct client_call *c = arg;

    c->up = true;
    if (link_send_json(l, c->question) == 0)
        return;
    c->failed = true;
    err_set(&c->err, "the query is too large");
    event_base_loopbreak(c->base);
}

static void call_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct client_call *c = arg;

    (void)l;
    if (!c->answer)
        c->answer = parse_answer(type, data, bytes, &c->err);
    c->failed = !c->answer;
    event_base_loopbreak(c->base);
}

static void call_down(struct link *l, const char *why, void *arg)
{
    struct client_call *c = arg;

    (void)l;
    c->link = NULL;
    c->failed = true;
    err_set(&c->err, "%s", why);
    event_base_loopbreak(c->base);
}

/* A time limit of an earlier question may end a turn of the loop early. */
static void call_wait(struct client_call *c, double timeout_s)
{
    double until_s = now_s() + timeout_s, left_s = timeout_s;

    err_set(&c->err, "no answer within %.3g s", timeout_s);
    c->failed = false;
    while (!c->answer && !c->failed && left_s > 0) {
        struct timeval limit = loop_timeval(left_s);

        event_base_loopexit(c->base, &limit);
        event_base_dispatch(c->base);
        left_s = until_s - now_s();
    }
}

/* The answer, which the caller releases; NULL with the reason: none came, or it is an error. */
static json_t *call_answer(struct client_call *c, struct err *err)
{
    json_t *answer = c->answer;
    const char *refusal = json_get_string(answer, "error");

    c->answer = NULL;
    if (!answer)
        err_set(err, "%s", c->err.text);
    if (!refusal)
        return answer;
    err_set(err, "%s", refusal);
    json_decref(answer);
    return NULL;
}

void client_call_end(struct client_call *c)
{
    if (!c)
        return;
    link_close(c->link);
    json_decref(c->answer);
    if (c->base) {
        event_base_loop(c->base, EVLOOP_NONBLOCK); /* a cancelled name lookup ends here */
        event_base_free(c->base);
    }
    free(c);
}

/* Ask the index-th host. */
static struct client_call *call_host(const struct client_options *o, unsigned index, const json_t *question,
                                     double timeout_s)
{
    static const struct link_events events = { .up = call_up, .frame = call_frame, .down = call_down };
    struct client_call *c = xcalloc(1, sizeof(*c));

    c->question = question;
    if (hosts_pick(o->hosts, index, CONFIG_DEFAULT_PORT, &c->host, &c->err) < 0)
        return c;
    c->base = loop_new();
    if (!c->base)
        err_set(&c->err, "cannot create an event loop");
    else if ((c->link = link_connect(c->base, o->hosts, index, &o->end, &events, c, &c->err)))
        call_wait(c, timeout_s);
    return c;
}

/* Whether it does no harm when it is carried out twice. */
static bool only_asks(const json_t *question)
{
    static const char *const asking[] = { "status",     "jobs",  "job",  "nodes",  "node",    "scaling",
                                          "strategies", "audit", "step", "lemons", "earlier", "actions" };
    const char *query = json_get_string(question, "query");

    for (size_t i = 0; query && i < ARRAY_SIZE(asking); i++)
        if (!strcmp(query, asking[i]))
            return true;
    return false;
}

/* A controller that has to refuse many connections from this address closes some of them at once.  It may do
 * so after its part of the handshake, when this end is up already, and the question was sent in vain. */
static bool turned_away(const struct client_call *c)
{
    return !c->answer && (!c->up || only_asks(c->question)) &&
           (strstr(c->err.text, strerror(ECONNRESET)) || strstr(c->err.text, "closed by the peer"));
}

/* Ask the index-th host, again and again while it turns us away. */
static struct client_call *call_patiently(const struct client_options *o, unsigned index,
                                          const json_t *question, double timeout_s)
{
    double begin_s = now_s(), until_s = begin_s + timeout_s;
    struct client_call *c = call_host(o, index, question, timeout_s);

    while (turned_away(c) && now_s() + AGAIN_EVERY_S < until_s) {
        client_call_end(c);
        nanosleep(&(struct timespec){ .tv_nsec = (long)(AGAIN_EVERY_S * 1e9) }, NULL);
        c = call_host(o, index, question, until_s - now_s());
    }
    return c;
}

static json_t *call_once(struct client_call *c, const json_t *question, double timeout_s, struct err *err)
{
    if (!c->link || link_send_json(c->link, question) < 0) {
        err_set(err, "controller %s:%d: the connection is lost", c->host.name, c->host.port);
        return NULL;
    }
    call_wait(c, timeout_s);
    if (!c->answer)
        err_prefix(&c->err, "controller %s:%d", c->host.name, c->host.port);
    return call_answer(c, err);
}

/* All of a list whose first page came; takes that. */
static json_t *call_pages(struct client_call *c, const json_t *question, json_t *page, double until_s,
                          struct err *err)
{
    struct pages p = { 0 };
    json_t *whole;
    int more = page ? pages_take(&p, question, page, err) : -1;

    while (more > 0) {
        json_decref(page);
        page = call_once(c, p.question, fmax(0, until_s - now_s()), err);
        more = page ? pages_take(&p, question, page, err) : -1;
    }
    json_decref(page);
    whole = more == 0 ? json_incref(p.answer) : NULL;
    pages_free(&p);
    return whole;
}

json_t *client_call(struct client_call **call, const struct client_options *o, const json_t *question,
                    double timeout_s, struct err *err)
{
    double until_s = now_s() + timeout_s;
    int n = hosts_pick(o->hosts, 0, CONFIG_DEFAULT_PORT, NULL, err);
    struct err all = { "" };
    json_t *answer;

    *call = NULL;
    for (int i = 0; i < n && (!*call || !(*call)->answer); i++) {
        double left_s = until_s - now_s();

        client_call_end(*call);
        *call = call_patiently(o, (unsigned)i, question, left_s > 0 ? left_s / (n - i) : 0);
        if (all.text[0])
            err_prefix(&(*call)->err, "%s; %s:%d", all.text, (*call)->host.name, (*call)->host.port);
        else
            err_prefix(&(*call)->err, "%s:%d", (*call)->host.name, (*call)->host.port);
        all = (*call)->err;
    }
    if (n < 0)
        return NULL;
    if (!(*call)->answer)
        err_set(&(*call)->err, "controller %s", all.text);
    answer = call_pages(*call, question, call_answer(*call, err), until_s, err);
    if (answer)
        return answer;
    client_call_end(*call);
    *call = NULL;
    return NULL;
}

json_t *client_call_ask(struct client_call *c, const json_t *question, double timeout_s, struct err *err)
{
    double until_s = now_s() + timeout_s;

    return call_pages(c, question, call_once(c, question, timeout_s, err), until_s, err);
}

json_t *client_ask(const struct client_options *o, const json_t *question, double timeout_s, struct err *err)
{
    struct client_call *call;
    json_t *answer = client_call(&call, o, question, timeout_s, err);

    client_call_end(call);
    return answer;
}

/* ---- a standing connection ---- */

struct client {
    struct event_base *base;
    char *hosts, *munge_socket, *cluster;
    struct link_end end;
    struct client_events events;
    void *arg;
    struct event *retry;
    struct link *link;
    bool up;
    int n_hosts;
    unsigned index, failures,
        earlier; /* failures in a row; the same before the last frame that was understood */
};

/* Must be last, here and below: the callback may free c. */
static void try_later(struct client *c, const char *why)
{
    struct timeval tv;

    c->link = NULL;
    c->up = false;
    c->failures++;
    c->index++;
    /* The clock's last digits are chance enough. */
    tv = loop_timeval(hosts_retry_s(c->failures, c->n_hosts, (double)(now_ns() % 1000) / 1000));
    event_add(c->retry, &tv);
    c->events.state(c, false, why, c->arg);
}

void client_reject(struct client *c, const char *why)
{
    struct err err;

    err_set(&err, "%s: %s", link_peer(c->link), why);
    link_close(c->link);
    c->failures += c->earlier;
    try_later(c, err.text);
}

static void on_up(struct link *l, void *arg)
{
    struct client *c = arg;

    (void)l;
    c->up = true;
    c->events.state(c, true, "connected", c->arg);
}

static void on_down(struct link *l, const char *why, void *arg)
{
    struct client *c = arg;
    struct err err;

    err_set(&err, "%s: %s", link_peer(l), why);
    try_later(c, err.text);
}

static void on_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct client *c = arg;
    struct err err;
    json_t *answer = parse_answer(type, data, bytes, &err);

    (void)l;
    c->earlier = answer ? c->failures : 0;
    if (!answer) {
        client_reject(c, err.text);
        return;
    }
    c->failures = 0;
    c->events.answer(c, answer, c->arg);
    json_decref(answer);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
    static const struct link_events events = { .up = on_up, .frame = on_frame, .down = on_down };
    struct client *c = arg;
    struct err err;

    (void)fd;
    (void)what;
    c->link = link_connect(c->base, c->hosts, c->index, &c->end, &events, c, &err);
    if (!c->link)
        try_later(c, err.text);
}

struct client *client_new(struct event_base *base, const struct client_options *o,
                          const struct client_events *events, void *arg)
{
    struct client *c = xcalloc(1, sizeof(*c));

    c->base = base;
    c->hosts = xstrdup(o->hosts);
    c->end = o->end;
    c->end.munge_socket = c->munge_socket = xstrdup(o->end.munge_socket);
    c->end.cluster = c->cluster = xstrdup(o->end.cluster);
    c->events = *events;
    c->arg = arg;
    c->n_hosts = hosts_pick(o->hosts, 0, CONFIG_DEFAULT_PORT, NULL, NULL);
    c->retry = evtimer_new(base, on_retry, c);
    if (!c->retry) {
        client_free(c);
        return NULL;
    }
    event_active(c->retry, EV_TIMEOUT, 0); /* the first attempt, made from the loop like all others */
    return c;
}

int client_send(struct client *c, const json_t *question)
{
    return c->up ? link_send_json(c->link, question) : -1;
}

struct link *client_link(struct client *c)
{
    return c->up ? c->link : NULL;
}

void client_free(struct client *c)
{
    if (!c)
        return;
    link_close(c->link);
    if (c->retry)
        event_free(c->retry);
    free(c->hosts);
    free(c->munge_socket);
    free(c->cluster);
    free(c);
}
