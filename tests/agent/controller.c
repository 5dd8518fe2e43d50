#include "tests/agent/controller.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/listener.h>

#include "wire/link.h"

double clock_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
}

bool wait_until(struct controller *c, bool (*check)(const struct controller *c), double seconds)
{
    struct event *tick = event_new(c->base, -1, EV_PERSIST, on_tick, NULL);
    double until = clock_s() + seconds;
    bool good;

    event_add(tick, &(struct timeval){ 0, 10000 });
    while (!(good = check && check(c)) && clock_s() < until)
        event_base_loop(c->base, EVLOOP_ONCE);
    event_free(tick);
    return good;
}

void run_for(struct controller *c, double seconds)
{
    wait_until(c, NULL, seconds);
}

void controller_send(struct controller *c, const char *text)
{
    if (c->link)
        link_send(c->link, LINK_JSON, text, strlen(text));
}

static void take_hello(struct controller *c, json_t *message)
{
    const char *instance = json_string_value(json_object_get(message, "agent"));
    char text[160], items[32] = "";

    c->hellos++;
    if (!instance || strcmp(instance, c->instance)) {
        snprintf(c->instance, sizeof(c->instance), "%s", instance ? instance : "");
        c->batch = 0;
    }
    json_decref(c->hello);
    c->hello = json_incref(message);
    if (c->newest_item)
        snprintf(items, sizeof(items), ",\"items\":%d", c->newest_item);
    snprintf(text, sizeof(text), "{\"welcome\":\"agent\",\"controller\":\"%s\",\"batch\":%llu%s}", c->id,
             (unsigned long long)c->batch, items);
    controller_send(c, text);
}

static void take_ranks(struct controller *c, json_t *list)
{
    json_t *rank;
    char key[32];
    size_t i;

    json_array_foreach(list, i, rank) {
        snprintf(key, sizeof(key), "%d.%d", (int)json_integer_value(json_object_get(rank, "rank")),
                 (int)json_integer_value(json_object_get(rank, "app")));
        json_object_set(c->ranks, key, rank);
    }
}

static void take_json(struct controller *c, json_t *m)
{
    if (json_object_get(m, "hello"))
        take_hello(c, m);
    if (json_object_get(m, "ranks"))
        take_ranks(c, json_object_get(m, "ranks"));
    if (json_object_get(m, "agent_stats"))
        json_object_update(c->stats, json_object_get(m, "agent_stats"));
    if (json_object_get(m, "note"))
        json_array_append(c->notes, json_object_get(m, "note"));
    if (json_object_get(m, "bye"))
        c->bye = true;
}

static void take_batch(struct controller *c, const void *data, size_t bytes)
{
    struct telemetry_reader r;
    struct telemetry_item item;
    struct err err;
    char text[64];

    if (telemetry_open(&r, data, bytes, &err) < 0) {
        printf("# %s\n", err.text);
        c->bad++;
        return;
    }
    c->batches++;
    if (r.header.batch <= c->batch)
        return;
    c->gaps += r.header.batch != c->batch + 1;
    while (telemetry_next(&r, &item))
        if (c->n_items < SEEN_ITEMS_MAX)
            c->items[c->n_items++] = item;
    c->batch = r.header.batch;
    snprintf(text, sizeof(text), "{\"ack\":%llu}", (unsigned long long)c->batch);
    if (!c->no_acks)
        controller_send(c, text);
}

static void on_up(struct link *l, void *arg)
{
    (void)l, (void)arg;
}

static void on_frame(struct link *l, enum link_frame type, const void *data, size_t bytes, void *arg)
{
    struct controller *c = arg;
    json_t *m;

    c->link = l;
    if (type == LINK_TELEMETRY) {
        take_batch(c, data, bytes);
        return;
    }
    m = json_loadb(data, bytes, 0, NULL);
    if (m)
        take_json(c, m);
    else
        c->bad++;
    json_decref(m);
}

static void on_down(struct link *l, const char *why, void *arg)
{
    struct controller *c = arg;

    (void)why;
    if (c->link == l)
        c->link = NULL;
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len, void *arg)
{
    static const struct link_events events = { .up = on_up, .frame = on_frame, .down = on_down };
    struct controller *c = arg;

    (void)l, (void)sa, (void)len;
    link_close(c->link);
    c->link = link_accept(c->base, fd, &c->end.end, &events, c, NULL);
}

bool controller_up(struct controller *c, const char *id)
{
    struct sockaddr_in sin = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(sin);
    const char *colon = strchr(c->hosts, ':');

    if (id) {
        snprintf(c->id, sizeof(c->id), "%s", id);
        c->batch = 0;
    }
    sin.sin_port = htons((uint16_t)(colon ? atoi(colon + 1) : 0));
    c->listener = evconnlistener_new_bind(c->base, on_accept, c,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC,
                                          5, (struct sockaddr *)&sin, sizeof(sin));
    if (!c->listener)
        return false;
    getsockname(evconnlistener_get_fd(c->listener), (struct sockaddr *)&sin, &len);
    snprintf(c->hosts, sizeof(c->hosts), "127.0.0.1:%d", ntohs(sin.sin_port));
    return true;
}

void controller_down(struct controller *c)
{
    link_close(c->link);
    c->link = NULL;
    if (c->listener)
        evconnlistener_free(c->listener);
    c->listener = NULL;
}

void controller_forget(struct controller *c)
{
    c->n_items = 0;
    c->hellos = c->batches = c->gaps = c->bad = 0;
    c->bye = false;
    json_object_clear(c->ranks);
    json_object_clear(c->stats);
    json_array_clear(c->notes);
}

void controller_init(struct controller *c, struct event_base *base, const char *munge_socket)
{
    memset(c, 0, sizeof(*c));
    c->base = base;
    test_end_open(&c->end, base, munge_socket);
    c->ranks = json_object();
    c->stats = json_object();
    c->notes = json_array();
    c->items = calloc(SEEN_ITEMS_MAX, sizeof(*c->items));
}

void controller_free(struct controller *c)
{
    controller_down(c);
    test_end_close(&c->end);
    json_decref(c->hello);
    json_decref(c->ranks);
    json_decref(c->stats);
    json_decref(c->notes);
    free(c->items);
}
