#include "view/join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* blocks that a newer one may overtake before what is missing is given up */
#define LATE (JOIN_OPEN / 2)

struct open {
    bool used;
    uint32_t seq, n, present;
    uint8_t op, flags;
    uint64_t bytes;
    float *stay_s; /* by place; NULL until this entry is used for the first time */
};

struct join {
    uint64_t name;
    uint32_t size, first, span;
    uint32_t announced;
    uint32_t settled; /* collectives delivered since the last member was announced */
    uint32_t *place;  /* by rank - first: place among the members + 1; 0: not a member, or not announced */
    uint32_t *rank;   /* by place; UINT32_MAX: not announced */
    struct open open[JOIN_OPEN];
};

bool join_fits(const struct comm_item *c)
{
    return c->size && c->size <= JOIN_MEMBERS_MAX && c->last >= c->first &&
           c->last - c->first < 4 * JOIN_MEMBERS_MAX && c->last - c->first + 1 >= c->size;
}

double join_bytes(const struct comm_item *c)
{
    return sizeof(struct join) + ((double)c->last - c->first + 1) * sizeof(uint32_t) +
           (double)c->size * (sizeof(uint32_t) + JOIN_OPEN * sizeof(float));
}

struct join *join_new(const struct comm_item *c)
{
    struct join *j;

    if (!join_fits(c))
        return NULL;
    j = xcalloc(1, sizeof(*j));
    j->name = c->name;
    j->size = c->size;
    j->first = c->first;
    j->span = c->last - c->first + 1;
    j->place = xcalloc(j->span, sizeof(*j->place));
    j->rank = xcalloc(j->size, sizeof(*j->rank));
    memset(j->rank, 0xff, j->size * sizeof(*j->rank));
    return j;
}

void join_free(struct join *j)
{
    if (!j)
        return;
    free(j->place);
    free(j->rank);
    for (size_t i = 0; i < JOIN_OPEN; i++)
        free(j->open[i].stay_s);
    free(j);
}

static uint32_t *place_of(const struct join *j, uint32_t rank)
{
    return rank >= j->first && rank - j->first < j->span ? &j->place[rank - j->first] : NULL;
}

void join_member(struct join *j, uint32_t rank, uint32_t comm_rank)
{
    uint32_t *place = place_of(j, rank);

    if (!place || *place || comm_rank >= j->size || j->rank[comm_rank] != UINT32_MAX)
        return;
    *place = comm_rank + 1;
    j->rank[comm_rank] = rank;
    j->announced++;
    j->settled = 0;
}

void join_leave(struct join *j, uint32_t rank)
{
    uint32_t *place = place_of(j, rank);

    if (!place || !*place)
        return;
    j->rank[*place - 1] = UINT32_MAX;
    *place = 0;
    j->announced--;
}

uint32_t join_announced(const struct join *j)
{
    return j->announced;
}

uint32_t join_place(const struct join *j, uint32_t rank)
{
    uint32_t *place = place_of(j, rank);

    return place && *place ? *place - 1 : UINT32_MAX;
}

uint32_t join_rank(const struct join *j, uint32_t place)
{
    return place < j->size ? j->rank[place] : UINT32_MAX;
}

static void deliver_collective(struct join *j, struct open *o, join_sink *sink, void *arg)
{
    const float *stay = o->stay_s;
    struct joined out = { .comm = j->name,
                          .bytes = o->bytes,
                          .seq = o->seq,
                          .n = o->n,
                          .op = o->op,
                          .flags = o->flags,
                          .present = o->present,
                          .complete = o->present >= j->announced,
                          .stay_min_s = INFINITY,
                          .rank = j->rank,
                          .stay_s = stay,
                          .slots = j->size };

    o->used = false;
    j->settled++;
    if (o->present < 2 || o->present * 2 < j->announced)
        return;
    for (uint32_t i = 0; i < j->size; i++) {
        if (isnan(stay[i]) || j->rank[i] == UINT32_MAX)
            continue;
        out.stay_sum_s += stay[i];
        out.stay_max_s = fmax(out.stay_max_s, stay[i]);
        if (stay[i] < out.stay_min_s) {
            out.stay_min_s = stay[i];
            out.last = j->rank[i];
        }
    }
    if (isfinite(out.stay_min_s))
        sink(&out, arg);
}

/* The collective's place among the open ones; the oldest gives way. */
static struct open *open_get(struct join *j, const struct sample *s, join_sink *sink, void *arg)
{
    struct open *slot = NULL, *oldest = &j->open[0];

    for (struct open *o = j->open; o < j->open + JOIN_OPEN; o++) {
        if (o->used && o->seq == s->seq)
            return o;
        if (!o->used)
            slot = slot ? slot : o;
        else if (o->seq < oldest->seq)
            oldest = o;
    }
    if (!slot) {
        if (s->seq < oldest->seq)
            return NULL;
        slot = oldest;
        deliver_collective(j, slot, sink, arg);
    }
    *slot = (struct open){ .used = true,
                           .seq = s->seq,
                           .n = s->n,
                           .op = s->op,
                           .flags = s->flags,
                           .bytes = s->bytes,
                           .stay_s = slot->stay_s ? slot->stay_s : xcalloc(j->size, sizeof(*slot->stay_s)) };
    for (uint32_t i = 0; i < j->size; i++)
        slot->stay_s[i] = NAN;
    return slot;
}

bool join_sample(struct join *j, const struct sample *s, join_sink *sink, void *arg)
{
    uint32_t *place = place_of(j, s->rank);
    struct open *o;
    float *stay;

    if (!place || !*place)
        return false;
    o = open_get(j, s, sink, arg);
    if (!o)
        return false;
    stay = &o->stay_s[*place - 1];
    if (isnan(*stay))
        o->present++;
    *stay = (float)((double)s->stay_ns * 1e-9);
    if (s->n > o->n)
        o->n = s->n;
    o->flags |= s->flags;
    /* While agents are still connecting more members may be announced: the collective waits for them. */
    if (o->present >= j->announced && (j->announced == j->size || j->settled > JOIN_OPEN)) {
        uint32_t done = o->seq;

        deliver_collective(j, o, sink, arg);
        for (struct open *late = j->open; late < j->open + JOIN_OPEN; late++)
            if (late->used && late->seq + LATE * late->n < done)
                deliver_collective(j, late, sink, arg);
    }
    return true;
}

void join_finish(struct join *j, join_sink *sink, void *arg)
{
    for (;;) {
        struct open *next = NULL;

        for (struct open *o = j->open; o < j->open + JOIN_OPEN; o++)
            if (o->used && o->present >= j->announced && (!next || o->seq < next->seq))
                next = o;
        if (!next)
            return;
        deliver_collective(j, next, sink, arg);
    }
}
