/* peers.c - fuzz target: whatever agents and terminals say to the controller, a frame a line, in any order.
 * The first character of a line, 0 to 3, is who says it.  Takes the place of wire/link.c. */
#include <event2/event.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/xalloc.h"
#include "daemon/bounds.h"
#include "daemon/control.h"
#include "daemon/query_action.h"
#include "daemon/server.h"
#include "history/audit.h"
#include "history/history.h"
#include "job/cadence.h"

#define LINES_MAX 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- links ---- */

struct link {
    uid_t uid;
};
/* root's agents, a user's agents, that user's terminal, another's */
static struct link link_of[] = { { 0 }, { 1000 }, { 1000 }, { 1001 } };
static unsigned sent;

/* A job's report tells all that it promises, whatever bytes it was made of. */
static void check_report(const json_t *o)
{
    static const char *const keys[] = { "id", "name", "user", "partition", "sentence", "notes", "events" };

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
        if (!json_object_get(o, keys[i]))
            abort();
}

int link_send(struct link *l, enum link_frame type, const void *data, size_t bytes)
{
    json_t *o = type == LINK_JSON ? json_loadb(data, bytes, 0, NULL) : NULL;

    (void)l;
    if (!json_is_object(o))
        abort(); /* we speak as we want to be spoken to */
    if (json_object_get(o, "rank_table"))
        check_report(o);
    json_decref(o);
    sent++;
    return 0;
}

size_t link_pending_bytes(const struct link *l)
{
    (void)l;
    return 0;
}

void link_ignore(struct link *l)
{
    (void)l;
}

void link_urgent(struct link *l, bool urgent)
{
    (void)l;
    (void)urgent;
}

void link_end_configure(struct link_end *end, const struct config *c)
{
    (void)end;
    (void)c;
}

void link_end_trust(struct link_end *end, const char *user)
{
    (void)end;
    (void)user;
}

const json_t *link_step(const struct link *l)
{
    (void)l;
    return NULL;
}

uid_t link_uid(const struct link *l)
{
    return l->uid;
}

const char *link_peer(const struct link *l)
{
    (void)l;
    return "peer";
}

void link_close(struct link *l)
{
    (void)l;
}

struct link *link_accept(struct event_base *base, int fd, const struct link_end *end,
                         const struct link_events *events, void *arg, struct err *err)
{
    (void)base;
    (void)fd;
    (void)end;
    (void)events;
    (void)arg;
    err_set(err, "nobody connects here");
    return NULL;
}

/* ---- the controller ---- */

static const char conf[] =
    "StateDir=/nonexistent/syncguard\n" /* in memory */
    "Policy=p Checkpoint=request\n"
    "PolicyFor=p User=u Override=no\n"
    "Rule=slow Policy=p When=\"class == straggler or quiet_s < 1s\" Hold=0 CoolDown=0 Action=job_comment\n"
    "Rule=rare Policy=p When=\"synchronisation_ratio > 5% and samples_per_s < 10\" Action=signal Signal=USR1\n";

static struct config config;

static struct controller *begin(void)
{
    struct controller *s = xcalloc(1, sizeof(*s));
    struct err err;

    s->base = event_base_new();
    s->config = config;
    s->gone = server_gone;
    s->bounds = bounds_new();
    bounds_configure(s->bounds, &s->config);
    s->start_s = controller_now_s();
    s->batches_per_s = s->cpu_ratio = NAN;
    s->history = history_new(NULL);
    s->audit = audit_open(config.state_dir, &err);
    query_actions_start(s);
    s->controls = controls_new(s, &config, &err);
    if (!s->controls)
        abort();
    return s;
}

/* Who speaks over that link: as who connects anew, when the one before was dropped. */
static struct peer *peer_of(struct controller *s, struct link *l)
{
    struct peer *p = s->peers;

    while (p && p->link != l)
        p = p->next;
    if (p)
        return p;
    p = xcalloc(1, sizeof(*p));
    p->link = l;
    peer_add(s, p);
    peer_up(p);
    return p;
}

/* A question has an answer, and be it that it is none. */
static void line(struct controller *s, const char *text, size_t bytes)
{
    size_t who = bytes && *text >= '0' && *text <= '3' ? (size_t)(*text - '0') : 0;
    struct peer *p = peer_of(s, &link_of[who]);
    bool agent = p->agent != NULL;
    unsigned before = sent;

    if (bytes) {
        text++;
        bytes--;
    }
    server_frame(p, text, bytes);
    if (!agent && sent == before)
        abort();
    for (size_t i = 0; i < s->jobs.n; i++) {
        job_tick(s->jobs.job[i], controller_now_s(), NULL, NULL);
        cadence_tick(s->jobs.job[i], controller_now_s());
        controls_tick(s->controls, s->jobs.job[i], controller_now_s());
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size, *next;
    struct event_base *base;
    struct controller *s;
    struct err err;

    if (!config.n_policies && (config_parse(&config, "fuzz", conf, strlen(conf), &err) < 0 ||
                               log_open("fuzz", "/dev/null", LOG_LEVEL_ERROR, &err) < 0)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    s = begin();
    base = s->base;
    for (int i = 0; at < end && i < LINES_MAX; i++, at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next : end;
        line(s, at, (size_t)(next - at));
    }
    server_free(s);
    event_base_free(base);
    return 0;
}
