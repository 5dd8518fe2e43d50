#include "agent/rendezvous.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/xalloc.h"

#define OPEN_MIN 64u

struct meeting {
    uint32_t seq, came;       /* came 0: none has this place */
    uint64_t last_ns, end_ns; /* the latest arrival, and the end that this rank recorded */
};

struct comm {
    uint64_t name;
    uint64_t used; /* when it was used last, in arrivals */
    uint32_t members;
    bool here;         /* all members have come to one, and nothing was given up since */
    uint32_t given_up; /* who is missing in those before this one, to which all came, will not be read */
    uint32_t n;        /* places, a power of two: a collective has the one of its number modulo n */
    struct meeting *at;
};

struct rendezvous {
    struct comm comm[RENDEZVOUS_COMMS_MAX];
    uint32_t n_comms, newest; /* newest: where a name was found last */
    uint64_t arrivals;
};

struct rendezvous *rendezvous_new(void)
{
    return xcalloc(1, sizeof(struct rendezvous));
}

void rendezvous_free(struct rendezvous *v)
{
    if (!v)
        return;
    for (uint32_t i = 0; i < v->n_comms; i++)
        free(v->comm[i].at);
    free(v);
}

static struct comm *comm_find(struct rendezvous *v, uint64_t name)
{
    for (uint32_t i = 0; i < v->n_comms; i++) {
        uint32_t at = (v->newest + i) % v->n_comms;

        if (v->comm[at].name == name) {
            v->newest = at;
            return &v->comm[at];
        }
    }
    return NULL;
}

static struct comm *comm_new(struct rendezvous *v, uint64_t name, uint32_t members)
{
    struct comm *c = &v->comm[0];

    if (v->n_comms < RENDEZVOUS_COMMS_MAX)
        c = &v->comm[v->n_comms++];
    else
        for (uint32_t i = 1; i < v->n_comms; i++)
            c = v->comm[i].used < c->used ? &v->comm[i] : c;
    free(c->at);
    *c = (struct comm){ .name = name, .members = members, .n = OPEN_MIN };
    c->at = xcalloc(c->n, sizeof(*c->at));
    return c;
}

static struct meeting *place_of(const struct comm *c, uint32_t seq)
{
    return &c->at[seq & (c->n - 1)];
}

static bool is_open(const struct comm *c, const struct meeting *m)
{
    return m->came && m->came < c->members && m->seq >= c->given_up;
}

/* One rank is read as far as it has come before the next one is: what it came to must be kept until then. */
static void make_room(struct comm *c, uint32_t seq)
{
    while (c->n < RENDEZVOUS_OPEN_MAX && place_of(c, seq)->seq != seq && is_open(c, place_of(c, seq))) {
        struct comm wide = *c;

        wide.n = 2 * c->n;
        wide.at = xcalloc(wide.n, sizeof(*wide.at));
        for (uint32_t i = 0; i < c->n; i++)
            *place_of(&wide, c->at[i].seq) = c->at[i];
        free(c->at);
        *c = wide;
    }
}

void rendezvous_come(struct rendezvous *v, const struct call *c, uint32_t members)
{
    struct comm *k = comm_find(v, c->comm);
    struct meeting *m;

    if (members < 2)
        return;
    if (!k)
        k = comm_new(v, c->comm, members);
    k->used = ++v->arrivals;
    make_room(k, c->seq);
    m = place_of(k, c->seq);
    if (m->came && m->seq > c->seq) /* too late: a newer one has its place */
        return;
    if (!m->came || m->seq != c->seq)
        *m = (struct meeting){ .seq = c->seq };
    if (!m->came++ || c->begin_ns > m->last_ns) {
        m->last_ns = c->begin_ns;
        m->end_ns = c->leave_ns;
    }
    if (m->came != k->members)
        return;
    k->here = true;
    /* each in its order */
    k->given_up = m->seq > k->given_up ? m->seq : k->given_up;
}

enum rendezvous_state rendezvous_get(struct rendezvous *v, const struct call *c, uint64_t *over_ns)
{
    const struct comm *k = comm_find(v, c->comm);
    const struct meeting *m = k ? place_of(k, c->seq) : NULL;

    if (!m || !k->here || !m->came || m->seq != c->seq)
        return RENDEZVOUS_UNKNOWN;
    if (m->came != k->members)
        return is_open(k, m) ? RENDEZVOUS_AWAITED : RENDEZVOUS_UNKNOWN;
    *over_ns = m->end_ns;
    return RENDEZVOUS_OVER;
}

void rendezvous_give_up(struct rendezvous *v)
{
    for (uint32_t i = 0; i < v->n_comms; i++)
        v->comm[i].here = false;
}
