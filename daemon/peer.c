#include "daemon/peer.h"

#include <stdlib.h>
#include <string.h>

#include "job/pacing.h"
#include "job/record.h"

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

    if (text && strlen(text) <= LINK_FRAME_MAX) {
        link_send(p->link, LINK_JSON, text, strlen(text));
    } else if (text) {
        static const char large[] = "{\"error\":\"" PEER_TOO_LARGE "\"}";

        link_send(p->link, LINK_JSON, large, sizeof(large) - 1);
    }
    free(text);
    json_decref(o);
}

void peer_instruct(struct peer *p)
{
    const struct job *j = p->job;

    peer_send(p,
              json_pack("{s:{s:b,s:f,s:o,s:o}}", "control", "record", 1, "rate_hz", j->params.sample_rate_hz,
                        "calls", sampling_json(&j->sampling, recording(j)), "pace", pacing_control_json(&j->params)));
}

void peers_instruct(struct controller *c, struct job *j)
{
    for (struct peer *p = c->peers; p; p = p->next)
        if (p->job == j && p->agent)
            peer_instruct(p);
}
