#include "network/gate_queues.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"

struct gate {
    uint32_t limit, inside;
    double gap_s, last_s; /* last_s: the newest entry; -INFINITY: none */
    uint32_t *waiting;    /* queue, from `first` on */
    size_t cap, first, end;
};

struct gate_queues {
    uint32_t links, gates;
    struct gate **of_link; /* NULL: none */
};

struct gate_queues *gate_queues_new(uint32_t links)
{
    struct gate_queues *g = xcalloc(1, sizeof(*g));

    g->links = links;
    g->of_link = xcalloc(links, sizeof(struct gate *));
    return g;
}

static void gate_free(struct gate *gate)
{
    if (gate)
        free(gate->waiting);
    free(gate);
}

void gate_queues_free(struct gate_queues *g)
{
    if (!g)
        return;
    for (uint32_t l = 0; l < g->links; l++)
        gate_free(g->of_link[l]);
    free(g->of_link);
    free(g);
}

/* The time at which the next message may enter; now_s: at once; INFINITY: not before one has left. */
static double gate_opens_s(const struct gate *gate, double now_s)
{
    return gate->limit && gate->inside >= gate->limit ? INFINITY : fmax(now_s, gate->last_s + gate->gap_s);
}

void gate_queues_set(struct gate_queues *g, uint32_t link, uint32_t limit, double gap_s)
{
    g->gates -= g->of_link[link] != NULL;
    gate_free(g->of_link[link]);
    g->of_link[link] = NULL;
    if (!limit && gap_s <= 0)
        return;
    g->of_link[link] = xcalloc(1, sizeof(struct gate));
    *g->of_link[link] = (struct gate){ .limit = limit, .gap_s = gap_s, .last_s = -INFINITY };
    g->gates++;
}

bool gate_queues_any(const struct gate_queues *g)
{
    return g && g->gates;
}

void gate_queues_clear(struct gate_queues *g)
{
    for (uint32_t l = 0; l < g->links; l++) {
        struct gate *gate = g->of_link[l];

        if (!gate)
            continue;
        gate->inside = 0;
        gate->last_s = -INFINITY;
        gate->first = gate->end = 0;
    }
}

bool gate_queues_enter(struct gate_queues *g, const uint32_t *link, uint32_t hops, uint32_t id, double now_s,
                       double *again_s)
{
    double opens_s = now_s;

    for (uint32_t h = 0; h < hops; h++) {
        struct gate *gate = g->of_link[link[h]];
        double at_s = gate ? gate_opens_s(gate, now_s) : now_s;

        if (isinf(at_s)) {
            if (gate->first == gate->end)
                gate->first = gate->end = 0;
            gate->waiting = xgrow(gate->waiting, &gate->cap, gate->end + 1, sizeof(*gate->waiting));
            gate->waiting[gate->end++] = id;
            *again_s = INFINITY;
            return false;
        }
        opens_s = fmax(opens_s, at_s);
    }
    *again_s = opens_s;
    if (opens_s > now_s)
        return false;
    for (uint32_t h = 0; h < hops; h++) {
        struct gate *gate = g->of_link[link[h]];

        if (!gate)
            continue;
        gate->inside++;
        gate->last_s = now_s;
    }
    return true;
}

void gate_queues_leave(struct gate_queues *g, const uint32_t *link, uint32_t hops)
{
    for (uint32_t h = 0; h < hops; h++)
        if (g->of_link[link[h]])
            g->of_link[link[h]]->inside--;
}

bool gate_queues_next(struct gate_queues *g, const uint32_t *link, uint32_t hops, double now_s, uint32_t *id)
{
    for (uint32_t h = 0; h < hops; h++) {
        struct gate *gate = g->of_link[link[h]];

        if (!gate || gate->first == gate->end || isinf(gate_opens_s(gate, now_s)))
            continue;
        *id = gate->waiting[gate->first++];
        return true;
    }
    return false;
}
