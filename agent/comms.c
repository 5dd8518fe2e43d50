#include "agent/comms.h"

#include <stdlib.h>

#include "common/xalloc.h"

struct place {
    struct ring_comm comm; /* size 0: none */
    uint64_t former;       /* the name of the one before it */
    uint32_t former_size;  /* 0: none */
};

struct comms {
    uint64_t seen;
    struct place *place;
    size_t n, cap;
    size_t last; /* where the last name was found */
};

struct comms *comms_new(void)
{
    return xcalloc(1, sizeof(struct comms));
}

void comms_free(struct comms *c)
{
    if (!c)
        return;
    free(c->place);
    free(c);
}

static struct place *place_at(struct comms *c, size_t number)
{
    if (number >= c->n) {
        c->place = xgrow(c->place, &c->cap, number + 1, sizeof(*c->place));
        while (c->n <= number)
            c->place[c->n++] = (struct place){ .former_size = 0 };
    }
    return &c->place[number];
}

static void change_place(struct place *p, const struct ring_comm *comm, comms_sink *sink, void *arg)
{
    bool new = !p->comm.size || p->comm.name != comm->name, known_end = p->comm.freed;

    if (new) {
        if (p->comm.size && !known_end)
            sink(&p->comm, true, arg);
        p->former = p->comm.name;
        p->former_size = p->comm.size;
        sink(comm, false, arg);
        known_end = false;
    }
    p->comm = *comm;
    if (comm->freed && !known_end)
        sink(comm, true, arg);
}

void comms_read(struct comms *c, const struct ring *ring, comms_sink *sink, void *arg)
{
    static struct ring_comm read[RING_COMMS_MAX];
    size_t n = ring_comms_get(ring, &c->seen, read);

    for (size_t i = 0; i < n; i++)
        if (read[i].size)
            change_place(place_at(c, read[i].place), &read[i], sink, arg);
}

void comms_each(const struct comms *c, comms_sink *sink, void *arg)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->place[i].comm.size && !c->place[i].comm.freed)
            sink(&c->place[i].comm, false, arg);
}

uint32_t comms_size(struct comms *c, uint64_t name)
{
    for (size_t i = 0; i < c->n; i++) {
        size_t at = (c->last + i) % c->n;
        const struct place *p = &c->place[at];

        if (p->comm.name != name && p->former != name)
            continue;
        c->last = at;
        return p->comm.name == name ? p->comm.size : p->former_size;
    }
    return 0;
}
