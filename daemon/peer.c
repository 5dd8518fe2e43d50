#include "daemon/peer.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "daemon/bounds.h"
#include "job/pacing.h"
#include "job/record.h"
#include "wire/pages.h"

#define PEER_BYTES 16384.0 /* with its link, and an agent's state */

void peer_up(struct peer *p)
{
    struct bounds *b = p->controller->bounds;
    struct bounds_user *u = bounds_user(b, link_uid(p->link));
    struct err err;

    p->up = true;
    if (p->address)
        p->address->unfinished--;
    p->address = NULL;
    u->free = operators_has(&p->controller->operators, u->uid);
    if (bounds_connection(b, u, &err) < 0) {
        bounds_refused(b);
        log_warn("%s: connection refused: %s", link_peer(p->link), err.text);
        peer_refuse(p, err.text);
    }
    p->user = u;
    u->connections++;
    bounds_holds(b, u, PEER_BYTES);
}

void peer_refuse(struct peer *p, const char *why)
{
    peer_send(p, json_pack("{s:s}", "error", why));
    p->refused = true;
}

void peer_add(struct controller *c, struct peer *p)
{
    p->controller = c;
    p->next = c->peers;
    p->back = &c->peers;
    if (p->next)
        p->next->back = &p->next;
    c->peers = p;
    c->n_peers++;
}

void peer_forget(struct peer *p)
{
    *p->back = p->next;
    if (p->next)
        p->next->back = p->back;
    p->controller->n_peers--;
    if (p->address)
        p->address->unfinished--;
    if (p->user) {
        p->user->connections--;
        p->user->arriving_bytes -= p->arriving;
        bounds_holds(p->controller->bounds, p->user, -PEER_BYTES);
    }
    p->controller->gone(p);
    free(p->order);
    free(p);
}

void peer_drop(struct peer *p)
{
    link_close(p->link);
    peer_forget(p);
}

void peer_send(struct peer *p, json_t *o)
{
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    if (text && strlen(text) > LINK_FRAME_MAX && pages_cut(o, LINK_FRAME_MAX)) {
        free(text);
        text = json_dumps(o, JSON_COMPACT);
    }
    if (text && p->user && !p->agent)
        p->user->waiting_bytes += (double)strlen(text);
    if (text && strlen(text) <= LINK_FRAME_MAX) {
        link_send(p->link, LINK_JSON, text, strlen(text));
    } else if (text) {
        static const char large[] = "{\"error\":\"the answer is too large\"}";

        link_send(p->link, LINK_JSON, large, sizeof(large) - 1);
    }
    free(text);
    json_decref(o);
}

void peer_instruct(struct peer *p)
{
    const struct job *j = p->job;

    peer_send(p, json_pack("{s:{s:b,s:f,s:o,s:o}}", "control", "record", 1, "rate_hz",
                           j->params.sample_rate_hz, "calls", sampling_json(&j->sampling, recording(j)),
                           "pace", pacing_control_json(&j->params, job_hold(j) != NULL)));
}

void peers_instruct(struct controller *c, struct job *j)
{
    for (struct peer *p = c->peers; p; p = p->next)
        if (p->job == j && p->agent)
            peer_instruct(p);
}
