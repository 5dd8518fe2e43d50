#include "wire/lookup.h"

#include <stdio.h>
#include <stdlib.h>

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>

#include "common/xalloc.h"

struct lookup {
    struct event
        *turn; /* starts the lookup and later frees it, because evdns must not be freed in its own callback */
    struct event_base *base;
    struct evdns_base *dns;
    struct evdns_getaddrinfo_request *request;
    char *host, port[8];
    lookup_done *done; /* NULL: cancelled */
    void *arg;
    enum { BEGIN, WAITING, OVER } stage;
};

static void free_lookup(struct lookup *lk)
{
    if (lk->dns)
        evdns_base_free(lk->dns, 0);
    event_free(lk->turn);
    free(lk->host);
    free(lk);
}

static void finish_lookup(struct lookup *lk, struct addrinfo *addresses, const char *why)
{
    lookup_done *done = lk->done;

    lk->stage = OVER;
    lk->done = NULL;
    event_active(lk->turn, EV_TIMEOUT, 0);
    if (done)
        done(addresses, why, lk->arg);
    else if (addresses)
        evutil_freeaddrinfo(addresses);
}

static void on_answer(int rc, struct addrinfo *addresses, void *arg)
{
    struct lookup *lk = arg;

    lk->request = NULL;
    if (!rc && addresses)
        finish_lookup(lk, addresses, NULL);
    else
        finish_lookup(lk, NULL, rc ? evutil_gai_strerror(rc) : "no address");
}

static void begin_lookup(struct lookup *lk)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_protocol = IPPROTO_TCP,
                              .ai_flags = EVUTIL_AI_NUMERICHOST };
    struct addrinfo *numeric = NULL;

    lk->stage = WAITING;
    if (!evutil_getaddrinfo(lk->host, lk->port, &hints, &numeric) && numeric) {
        finish_lookup(lk, numeric, NULL);
        return;
    }
    lk->dns = evdns_base_new(lk->base, EVDNS_BASE_INITIALIZE_NAMESERVERS | EVDNS_BASE_DISABLE_WHEN_INACTIVE);
    if (!lk->dns && (lk->dns = evdns_base_new(lk->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE)))
        evdns_base_load_hosts(lk->dns, "/etc/hosts"); /* no usable resolv.conf */
    if (!lk->dns) {
        finish_lookup(lk, NULL, "the resolver cannot be set up");
        return;
    }
    hints.ai_flags = 0;
    lk->request = evdns_getaddrinfo(lk->dns, lk->host, lk->port, &hints, on_answer, lk);
    /* Without a name server the request would never end. */
    if (lk->request && !evdns_base_count_nameservers(lk->dns)) {
        lookup_done *done = lk->done;

        lookup_cancel(lk);
        done(NULL, "not in /etc/hosts, and no name server is configured", lk->arg);
    }
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
    struct lookup *lk = arg;

    (void)fd;
    (void)what;
    if (lk->stage == OVER)
        free_lookup(lk);
    else if (lk->stage == BEGIN)
        begin_lookup(lk);
}

struct lookup *lookup_start(struct event_base *base, const char *host, int port, lookup_done *done, void *arg)
{
    struct lookup *lk = xcalloc(1, sizeof(*lk));

    lk->turn = event_new(base, -1, 0, on_turn, lk);
    if (!lk->turn) {
        free(lk);
        return NULL;
    }
    lk->base = base;
    lk->host = xstrdup(host);
    snprintf(lk->port, sizeof(lk->port), "%d", port);
    lk->done = done;
    lk->arg = arg;
    event_active(lk->turn, EV_TIMEOUT, 0);
    return lk;
}

void lookup_cancel(struct lookup *lk)
{
    if (!lk)
        return;
    lk->done = NULL;
    if (lk->stage == BEGIN)
        free_lookup(lk);
    else if (lk->request)
        evdns_getaddrinfo_cancel(lk->request); /* the loop still calls on_answer() */
}
