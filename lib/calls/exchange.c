#include "calls/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/xalloc.h"

/* Of all bytes: what does not count. Chosen: losses, norms and barriers of training are below, one more
 * exchange of data is above. */
#define SMALL 0.05

struct traffic_sums {
    double all, world, messages;
    /* of the groups of that size that have the most: ranks that follow one another; with the same place in
     * groups */
    double inner, rails;
    double other; /* all else */
    uint32_t inner_size, rails_size;
};

/* The size with the most bytes; 0: there is none. */
static uint32_t largest(const double *bytes, uint32_t ranks)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < ranks; i++)
        if (bytes[i] > (best ? bytes[best] : 0))
            best = i;
    return best;
}

static void sum_traffic(const struct exchange *e, struct traffic_sums *s)
{
    double *inner = xcalloc(e->ranks, sizeof(*inner)), *rails = xcalloc(e->ranks, sizeof(*rails));

    *s = (struct traffic_sums){ 0 };
    for (size_t i = 0; i < e->n_comms; i++) {
        const struct exchange_comm *c = &e->comm[i];

        s->all += c->bytes;
        if (c->sums && c->size == e->ranks)
            s->world += c->bytes;
        else if (c->sums && c->size && c->size < e->ranks && c->stride == 1)
            inner[c->size] += c->bytes;
        else if (c->sums && c->size && c->size < e->ranks && c->stride && c->stride == e->ranks / c->size)
            rails[c->size] += c->bytes;
        else
            s->other += c->bytes;
    }
    for (size_t i = 0; i < e->n_messages; i++)
        s->messages += e->message[i].bytes;
    s->all += s->messages;
    s->inner_size = largest(inner, e->ranks);
    s->rails_size = largest(rails, e->ranks);
    s->inner = inner[s->inner_size];
    s->rails = rails[s->rails_size];
    for (uint32_t i = 1; i < e->ranks; i++)
        s->other += (i == s->inner_size ? 0 : inner[i]) + (i == s->rails_size ? 0 : rails[i]);
    free(inner);
    free(rails);
}

/* Has each rank one of these groups? */
static bool cover_ranks(const struct exchange *e, uint32_t size, bool inner)
{
    uint32_t groups = size ? e->ranks / size : 0, found = 0;
    bool *seen, fit = size && e->ranks % size == 0;

    if (!fit)
        return false;
    seen = xcalloc(groups, sizeof(*seen));
    for (size_t i = 0; i < e->n_comms && fit; i++) {
        const struct exchange_comm *c = &e->comm[i];
        uint32_t at = inner ? c->first / size : c->first;

        if (!c->sums || c->size != size || c->stride != (inner ? 1 : groups))
            continue;
        fit = at < groups && (!inner || c->first % size == 0);
        found += fit && !seen[at];
        if (fit)
            seen[at] = true;
    }
    free(seen);
    return fit && found == groups;
}

/* ---- messages ---- */

struct chain {
    uint32_t distance; /* between the ranks of most messages */
    double bytes;      /* of messages over it */
    double wrap;       /* between the last rank and the first, where the distance is 1 */
    bool whole;        /* each pair of ranks at that distance has messages */
};

static uint32_t distance_of(const struct exchange_message *m)
{
    return m->from > m->to ? m->from - m->to : m->to - m->from;
}

static void find_chain(const struct exchange *e, struct chain *c)
{
    double *bytes = xcalloc(e->ranks, sizeof(*bytes));
    bool *seen = xcalloc(e->ranks, sizeof(*seen));

    for (size_t i = 0; i < e->n_messages; i++)
        bytes[distance_of(&e->message[i])] += e->message[i].bytes;
    *c = (struct chain){ .distance = largest(bytes, e->ranks), .whole = true };
    c->bytes = bytes[c->distance];
    c->wrap = c->distance == 1 && e->ranks > 2 ? bytes[e->ranks - 1] : 0;
    for (size_t i = 0; i < e->n_messages; i++) {
        const struct exchange_message *m = &e->message[i];

        if (distance_of(m) == c->distance && m->bytes > 0)
            seen[m->from < m->to ? m->from : m->to] = true;
    }
    for (uint32_t i = 0; i + c->distance < e->ranks; i++)
        c->whole = c->whole && seen[i];
    free(bytes);
    free(seen);
}

static bool name_messages(const struct exchange *e, const struct traffic_sums *s, char *name)
{
    struct chain c;

    find_chain(e, &c);
    if (!c.distance || !c.whole || s->rails > SMALL * s->all)
        return false;
    /* Like the other neighbours, the last rank and the first exchange messages: not a few by the way. */
    if (c.wrap > c.bytes / (e->ranks - 1) / 2) {
        if (s->messages - c.bytes - c.wrap > SMALL * s->all || s->inner > SMALL * s->all)
            return false;
        snprintf(name, EXCHANGE_NAME_SIZE, "ring");
        return true;
    }
    if (s->messages - c.bytes > SMALL * s->all || s->world > SMALL * s->all || e->ranks % c.distance)
        return false;
    /* Only the sums of the replicas tell stages from a grid's rows. */
    if (c.distance > 1 ? s->inner_size != c.distance || !cover_ranks(e, c.distance, true)
                       : s->inner > SMALL * s->all)
        return false;
    snprintf(name, EXCHANGE_NAME_SIZE, "pipeline:%ux%u", e->ranks / c.distance, c.distance);
    return true;
}

bool exchange_name(const struct exchange *e, char name[EXCHANGE_NAME_SIZE])
{
    struct traffic_sums s;

    *name = '\0';
    if (e->ranks < 2)
        return false;
    sum_traffic(e, &s);
    if (!(s.all > 0) || s.other > SMALL * s.all)
        return false;
    if (s.messages > SMALL * s.all)
        return name_messages(e, &s, name);
    if (s.inner > SMALL * s.all) {
        if (!cover_ranks(e, s.inner_size, true) ||
            (s.rails > SMALL * s.all &&
             (s.rails_size != e->ranks / s.inner_size || !cover_ranks(e, s.rails_size, false))))
            return false;
        snprintf(name, EXCHANGE_NAME_SIZE, "groups:%u", s.inner_size);
        return true;
    }
    if (s.rails > SMALL * s.all)
        return false;
    snprintf(name, EXCHANGE_NAME_SIZE, "ring");
    return true;
}
