/* graph_order.c - the operations of a step in an order that a replay can follow, and what is usual of their
 * work. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"
#include "model/statistics.h"

#define PAUSED_RATIO 1.8 /* times the usual work at a place */
#define PAUSE_SHARE  0.5 /* of a step's usual work */
/* of the longest piece of its rank: shorter ones show nothing of a step */
#define PLACE_WORK_MIN   0.1f
#define MISSING_MAX      16u /* calls in a row that may be missing */
#define SAME_PLACE_SHARE 0.8 /* of the calls are where they usually are */
/* steps in a row of other calls: these are the usual ones from now on */
#define OTHERS     3u
#define PLACE_GAIN 0.03f
#define SEEN_MAX   255u /* a share that PLACE_GAIN is above */

/* Work at a place as it mostly was before; then this one is taken into account, if it is all of the rank's.
 * A running median. */
static float usual_at(struct graph *g, uint32_t place, float work_s, bool known)
{
    struct place *p;
    float before;

    if (place == GRAPH_NONE)
        return NAN;
    p = &g->place[place];
    before = p->usual_s;
    if (!known)
        return before;
    p->seen += p->seen < SEEN_MAX;
    if (isnan(before))
        p->usual_s = work_s;
    else
        p->usual_s = before + fmaxf(-before, fminf(before, work_s - before)) *
                                  fmaxf(1.0f / (float)p->seen, PLACE_GAIN);
    return before;
}

/* Calls that are numbered together: those on one communicator, messages from one rank to another with one
 * tag. */
static uint64_t numbered_with(const struct graph *g, const struct raw *raw)
{
    const struct kind *k = &g->kind[meeting_at(g, raw->meeting)->kind];
    uint64_t words[] = { raw->side,
                         raw->does,
                         k->comm,
                         k->info.message ? k->info.from : 0,
                         k->info.message ? k->info.to : 0,
                         k->info.message ? (uint64_t)(int64_t)k->info.tag : 0 };

    return key_of(words, sizeof(words));
}

static uint64_t place_key(uint32_t rank, uint16_t slot, uint16_t before_slot, uint32_t before_token,
                          uint32_t token)
{
    return key_of_numbers(rank, (uint64_t)slot << 16 | before_slot, (uint64_t)before_token << 32 | token);
}

/* What the place before the slot is known by; a step begins with slot 0. */
static uint64_t slot_key(const struct rank *k, uint32_t rank, size_t i)
{
    return place_key(rank, (uint16_t)i, i ? (uint16_t)(i - 1) : NO_SLOT, i ? k->slot[i - 1].token : 0,
                     k->slot[i].token);
}

static bool same_slot(const struct rank *k, const struct slot *slot, size_t i)
{
    return i < k->places && k->slot[i].token == slot[i].token &&
           (!i || k->slot[i - 1].token == slot[i - 1].token);
}

/* The rank's usual step is this one from now on; places of the one before it may come again. */
static void take_slots(struct graph *g, uint32_t rank, struct slot *slot, size_t n)
{
    struct rank *k = &g->rank[rank];

    for (size_t i = 0; i < k->places; i++)
        if (k->slot[i].place != GRAPH_NONE && !(i < n && same_slot(k, slot, i)))
            map_put(&g->places, slot_key(k, rank, i), k->slot[i].place);
    for (size_t i = 0; i < n; i++)
        if (same_slot(k, slot, i))
            slot[i].place = k->slot[i].place;
    free(k->slot);
    k->slot = slot;
    k->places = (uint32_t)n;
}

static void set_places(struct graph *g, uint32_t rank, const struct window *w)
{
    struct rank *k = &g->rank[rank];
    size_t n = w->n < NO_SLOT ? w->n : 0;
    struct slot *slot = xcalloc(n, sizeof(*slot));
    struct map each = { 0 };

    k->others = 0;
    k->whole = g->roles && k->sign && graph_sign(g, w) == k->sign;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = numbered_with(g, &w->raw[i]);
        uint32_t of = map_get(&each, key);

        map_put(&each, key, of == MAP_NONE ? 1 : of + 1);
    }
    for (size_t i = 0; i < n; i++)
        slot[i] = (struct slot){ .token = graph_token(g, &w->raw[i]),
                                 .place = GRAPH_NONE,
                                 .each = (uint16_t)map_get(&each, numbered_with(g, &w->raw[i])) };
    map_free(&each);
    take_slots(g, rank, slot, n);
}

/* What a rank calls, with whomever it does. */
static uint64_t call_of(const struct graph *g, const struct raw *raw)
{
    const struct graph_kind_info *k = &g->kind[meeting_at(g, raw->meeting)->kind].info;
    uint64_t words[] = { raw->side, raw->does, k->message, k->size, (uint64_t)(int64_t)k->tag };

    return key_of(words, sizeof(words));
}

static uint32_t class_of(struct graph *g, const struct raw *before, const struct raw *raw)
{
    uint64_t words[] = { before ? call_of(g, before) : 0, call_of(g, raw) };
    uint64_t key = key_of(words, sizeof(words));
    uint32_t at = map_get(&g->classes, key);

    if (at != GRAPH_NONE)
        return at;
    map_put(&g->classes, key, g->n_classes);
    return g->n_classes++;
}

static uint32_t place_new(struct graph *g, const struct raw *before, const struct raw *raw)
{
    if (g->n_places == GRAPH_PLACES_MAX)
        return GRAPH_NONE;
    g->place = xgrow(g->place, &g->places_cap, g->n_places + 1, sizeof(*g->place));
    g->place[g->n_places] = (struct place){ .usual_s = NAN, .class = class_of(g, before, raw) };
    return g->n_places++;
}

/* The place of the work between two calls; before: NULL, the step begins. */
static uint32_t place_get(struct graph *g, uint32_t rank, const struct raw *before, uint16_t before_slot,
                          const struct raw *raw, uint16_t slot)
{
    struct rank *k = &g->rank[rank];
    bool usual = slot != NO_SLOT && (before ? before_slot == slot - 1 : slot == 0);
    uint64_t key;
    uint32_t at;

    if (usual && k->slot[slot].place != GRAPH_NONE)
        return k->slot[slot].place;
    key = place_key(rank, slot, before ? before_slot : NO_SLOT, before ? graph_token(g, before) : 0,
                    graph_token(g, raw));
    at = map_get(&g->places, key);
    if (at == GRAPH_NONE)
        at = place_new(g, before, raw);
    else
        return usual ? k->slot[slot].place = at : at;
    if (usual)
        k->slot[slot].place = at;
    else if (at != GRAPH_NONE)
        map_put(&g->places, key, at);
    return at;
}

/* The place before each call, by its slot in the rank's usual step; calls that are missing, or are not in it,
 * are stepped over. */
static uint32_t *places_of(struct graph *g, uint32_t rank, const struct window *w, uint32_t number)
{
    struct rank *k = &g->rank[rank];
    uint32_t *place = xcalloc(w->n + 1, sizeof(*place));
    uint16_t slot = NO_SLOT, before;
    size_t at = 0, found = 0;

    for (size_t i = 0; i < w->n; i++) {
        uint32_t token = graph_token(g, &w->raw[i]);
        size_t to = at;

        while (to < k->places && to < at + MISSING_MAX && k->slot[to].token != token)
            to++;
        before = slot;
        slot = NO_SLOT;
        if (to < k->places && k->slot[to].token == token) {
            slot = (uint16_t)to;
            k->slot[to].first = meeting_at(g, w->raw[i].meeting)->seq - k->slot[to].each * number;
            at = to + 1;
            found++;
        }
        place[i] = place_get(g, rank, i ? &w->raw[i - 1] : NULL, before, &w->raw[i], slot);
    }
    k->others = found < SAME_PLACE_SHARE * (double)(w->n > k->places ? w->n : k->places) ? k->others + 1 : 0;
    return place;
}

/* A message that was copied, or that something else carries, lets its sender go on; another one that waits
 * for the receiver holds it until its end. */
static uint8_t does_of(const struct graph *g, uint32_t rank, const struct raw *raw)
{
    const struct meeting *m = meeting_at(g, raw->meeting);
    bool held;

    if (raw->side != CALL_SENDS || raw->enter_ns == raw->leave_ns)
        return raw->does;
    held = !graph_lets_go(g, &g->kind[m->kind]) && raw_stay_s(raw) > g->held_s &&
           moment_s(g, rank, raw->leave_ns) >= (m->start_s + m->end_s) / 2;
    return (raw->does & GRAPH_ARRIVES) | (held ? GRAPH_IS_HELD : 0);
}

/* A step that is put together. */
struct order {
    struct graph *g;
    struct graph_op *op;
    size_t n;
    uint32_t first; /* number of its first new meeting */
    double *left_s; /* by rank: its newest call */
};

static void put_op(struct order *o, uint32_t rank, const struct raw *raw, uint32_t place, uint8_t does,
                   bool first)
{
    struct graph *g = o->g;
    struct meeting *m = meeting_at(g, raw->meeting);
    double enter_s = moment_s(g, rank, raw->enter_ns), out_s = moment_s(g, rank, raw->leave_ns),
           *left_s = &o->left_s[rank];
    struct graph_op *op = &o->op[o->n++];

    *op = (struct graph_op){ .rank = rank,
                             .meeting = raw->meeting,
                             .does = does,
                             .usual_s = first ? NAN : 0,
                             .place = place,
                             .has_work = first,
                             .known = !raw->lost };
    if (!m->numbered) {
        const struct kept *before = kept_at(g, 0);

        /* One that the step before did not have, or that was long forgotten, is new. */
        m->numbered = true;
        if (m->number == GRAPH_NONE || !g->steps || m->number - before->first >= before->n_past)
            m->number = g->next++;
    }
    if (first) {
        op->work_s = (float)fmax(0, enter_s - *left_s);
        op->usual_s = usual_at(g, place, op->work_s, op->known);
        *left_s = fmax(*left_s, enter_s);
    }
    if (does & GRAPH_IS_HELD) {
        op->first = !m->listed;
        m->listed = true;
        op->lag_s = (float)fmax(0, out_s - fmax(*left_s, m->end_s));
        *left_s = out_s;
    } else if (raw->side == CALL_SENDS &&
               !(does_of(g, rank, raw) & GRAPH_IS_HELD)) { /* copying, or starting to */
        op->lag_s = (float)(out_s - enter_s);
        *left_s = out_s;
    }
}

/* Did most ranks do something else for long: more than half of what their step usually is, in pieces that are
 * much too long?  For how long they did; 0: they did not. */
static double pause_of(const struct order *o, double factor)
{
    const struct graph *g = o->g;
    double *more_s = xcalloc(g->n_ranks, sizeof(*more_s)), *usual_s = xcalloc(g->n_ranks, sizeof(*usual_s));
    double pause_s;
    uint32_t n = 0, ranks = 0;

    for (size_t i = 0; i < o->n; i++) {
        const struct graph_op *op = &o->op[i];

        if (isnan(op->usual_s))
            continue;
        usual_s[op->rank] += op->usual_s;
        if (op->work_s > PAUSED_RATIO * op->usual_s * factor)
            more_s[op->rank] += op->work_s - op->usual_s * factor;
    }
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        n += more_s[r] > PAUSE_SHARE * usual_s[r];
        if (g->rank[r].known)
            more_s[ranks++] = more_s[r];
    }
    pause_s = 2 * n > ranks ? statistics_select(more_s, ranks, (ranks - 1) / 2) : 0;
    free(more_s);
    free(usual_s);
    return pause_s;
}

/* What all ranks did more of in this step than they usually do, piece by piece: a pause is but one piece. */
static double factor_of(const struct order *o)
{
    const struct graph *g = o->g;
    float *ratio = xcalloc(o->n + 1, sizeof(*ratio)), factor;
    float *max_s = xcalloc(g->n_ranks, sizeof(*max_s));
    size_t m = 0;

    for (size_t i = 0; i < o->n; i++)
        max_s[o->op[i].rank] = fmaxf(max_s[o->op[i].rank], o->op[i].usual_s);
    for (size_t i = 0; i < o->n; i++) {
        const struct graph_op *op = &o->op[i];

        if (op->known && op->usual_s > PLACE_WORK_MIN * max_s[op->rank])
            ratio[m++] = op->work_s / op->usual_s;
    }
    factor = m ? statistics_selectf(ratio, m, (m - 1) / 2) : NAN;
    free(ratio);
    free(max_s);
    return factor;
}

/* The calls of all ranks in an order in which each comes after those that it waits for. */
static void order_calls(struct order *o, const struct window *w, uint32_t *const *place, size_t left)
{
    struct graph *g = o->g;
    size_t *next = xcalloc(g->n_ranks, sizeof(*next));
    bool *arrived = xcalloc(g->n_ranks, sizeof(*arrived)), moved = true, force = false;

    while (left) {
        moved = false;
        for (uint32_t r = 0; r < g->n_ranks; r++)
            while (next[r] < w[r].n) {
                const struct raw *raw = &w[r].raw[next[r]];
                struct meeting *m = meeting_at(g, raw->meeting);
                bool receives = raw->side == CALL_RECEIVES && graph_is_eager(g, &g->kind[m->kind]);
                uint8_t does = does_of(g, r, raw);

                if (!arrived[r]) {
                    /* A receiver does not hold up a message that was sent without waiting for it. */
                    m->open -= (raw->does & GRAPH_ARRIVES) != 0;
                    arrived[r] = true;
                    if (raw->does & GRAPH_ARRIVES)
                        put_op(o, r, raw, place[r][next[r]], receives ? 0 : GRAPH_ARRIVES, true);
                }
                if ((does & GRAPH_IS_HELD) && m->open && !force)
                    break;
                if ((does | raw->does) & GRAPH_IS_HELD)
                    put_op(o, r, raw, place[r][next[r]], does & GRAPH_IS_HELD, !(raw->does & GRAPH_ARRIVES));
                force = false;
                arrived[r] = false;
                next[r]++;
                left--;
                moved = true;
            }
        force = !moved; /* a circle, which only missing calls can make: go on somewhere */
    }
    free(next);
    free(arrived);
}

uint32_t graph_order(struct graph *g, struct graph_step *s, double *begin_s, const struct window *w)
{
    uint32_t **place = xcalloc(g->n_ranks, sizeof(*place));
    struct order o = { .g = g, .left_s = xcalloc(g->n_ranks, sizeof(*o.left_s)) };
    size_t left = 0, ops = 0;

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];

        if (!k->places || k->others >= OTHERS ||
            (!k->whole && g->roles && k->sign && graph_sign(g, &w[r]) == k->sign))
            set_places(g, r, &w[r]);
        place[r] = places_of(g, r, &w[r], s->number);
        left += w[r].n;
        for (size_t i = 0; i < w[r].n; i++) {
            const struct raw *raw = &w[r].raw[i];
            bool arrives = raw->does & GRAPH_ARRIVES;

            meeting_at(g, raw->meeting)->open += arrives;
            ops += arrives + !!((does_of(g, r, raw) | raw->does) & GRAPH_IS_HELD);
        }
        begin_s[r] = !w[r].n ? NAN : moment_s(g, r, w[r].begun_ns ? w[r].begun_ns : w[r].raw[0].enter_ns);
        o.left_s[r] = begin_s[r];
    }
    if (g->next > GRAPH_NONE - left - 1)
        g->next = 0;
    o.first = g->next;
    o.op = opened_reserve(&g->newest, ops);
    order_calls(&o, w, place, left);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        free(place[r]);
    free(place);
    free(o.left_s);
    s->n = o.n;
    s->factor = factor_of(&o);
    s->pause_s = pause_of(&o, s->factor);
    return o.first;
}

uint32_t graph_places(const struct graph *g)
{
    return g->n_places;
}

uint32_t graph_place_class(const struct graph *g, uint32_t place)
{
    return g->place[place].class;
}

uint32_t graph_classes(const struct graph *g)
{
    return g->n_classes;
}
