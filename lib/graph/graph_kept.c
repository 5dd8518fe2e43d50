/* graph_kept.c - the steps that are remembered, packed: what repeats from step to step is there once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define LENT_MAX (1u << 14) /* operations that there is room for all the time */

/* ---- packing ---- */

static uint8_t shaped_bits(const struct graph *g, const struct graph_op *op, uint32_t kind)
{
    const struct graph_kind_info *k = &g->kind[kind].info;
    bool sends = k->message && k->from == op->rank;

    return (uint8_t)((op->has_work ? SHAPED_WORK : 0) |
                     ((op->does & GRAPH_IS_HELD) || sends ? SHAPED_LAG : 0) | (op->first ? SHAPED_FIRST : 0) |
                     (op->known ? SHAPED_KNOWN : 0) | op->does << SHAPED_DOES);
}

static struct shape *shape_of(const struct graph *g, const struct graph_op *op, size_t n, uint32_t first)
{
    struct shape *s = xcalloc(1, sizeof(*s) + n * sizeof(s->op[0]));

    s->n = n;
    s->meetings = g->next - first;
    s->meeting = xcalloc(s->meetings, sizeof(*s->meeting));
    for (size_t i = 0; i < n; i++) {
        const struct meeting *m = &g->meeting[op[i].meeting];
        uint32_t before = m->before == GRAPH_NONE ? GRAPH_NONE : g->meeting[m->before].number;

        s->op[i] = (struct shaped_op){ .rank = op[i].rank,
                                       .meeting = (int32_t)(m->number - first),
                                       .place = op[i].place == GRAPH_NONE ? SHAPED_NOWHERE : op[i].place,
                                       .is = shaped_bits(g, &op[i], m->kind) };
        if (m->number - first < s->meetings)
            s->meeting[m->number - first] =
                (struct shaped_meeting){ m->kind,
                                         before == GRAPH_NONE ? SHAPED_NONE : (int32_t)(before - first) };
    }
    s->name = n;
    for (size_t i = 0; i < n; i++)
        s->name = hash_mix(s->name + ((uint64_t)s->op[i].rank << 32 | (uint32_t)s->op[i].meeting)) +
                  ((uint64_t)s->op[i].place << 8 | s->op[i].is);
    for (uint32_t i = 0; i < s->meetings; i++)
        s->name = hash_mix(s->name + ((uint64_t)s->meeting[i].kind << 32 | (uint32_t)s->meeting[i].before));
    return s;
}

static size_t shape_bytes(const struct shape *s)
{
    return sizeof(*s) + s->n * sizeof(s->op[0]) + s->meetings * sizeof(*s->meeting);
}

static bool same_shape(const struct shape *a, const struct shape *b)
{
    return a->name == b->name && a->n == b->n && a->meetings == b->meetings &&
           memcmp(a->op, b->op, a->n * sizeof(a->op[0])) == 0 &&
           memcmp(a->meeting, b->meeting, a->meetings * sizeof(*a->meeting)) == 0;
}

static void shape_free(struct shape *s)
{
    free(s->meeting);
    free(s);
}

/* One that a remembered step has, too: programs repeat. */
static struct shape *shared_shape(struct graph *g, struct shape *s)
{
    struct shape *k = NULL;

    for (uint32_t back = 0; !k && back < g->n_kept; back++)
        if (same_shape(kept_at(g, back)->shape, s))
            k = kept_at(g, back)->shape;
    if (k)
        shape_free(s);
    else
        g->bytes += shape_bytes(k = s);
    k->steps++;
    return k;
}

static uint16_t *values_of(const struct shape *s, const struct graph_op *op, size_t *n)
{
    uint16_t *value, *to;

    *n = 0;
    for (size_t i = 0; i < s->n; i++)
        *n += 2 * !!(s->op[i].is & SHAPED_WORK) + !!(s->op[i].is & SHAPED_LAG);
    to = value = xcalloc(*n, sizeof(*value));
    for (size_t i = 0; i < s->n; i++) {
        if (s->op[i].is & SHAPED_WORK) {
            *to++ = kept_pack(op[i].work_s);
            *to++ = kept_pack(op[i].usual_s);
        }
        if (s->op[i].is & SHAPED_LAG)
            *to++ = kept_pack(op[i].lag_s);
    }
    return value;
}

/* Also those that the step before had already: they may have ended in this one. */
static void keep_meetings(struct graph *g, const struct graph_op *op, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct meeting *m = &g->meeting[op[i].meeting];

        for (uint32_t back = 0; m->measured && back < 2 && back < g->steps; back++) {
            struct kept *k = kept_at(g, back);

            if (m->number - k->first >= k->n_past)
                continue;
            k->past[m->number - k->first] =
                (struct past){ .start_s = (float)(m->start_s - k->s.begin_s),
                               .over = kept_pack(m->over_s),
                               .max = isnan(m->transfer_s) ? kept_pack(m->max_s) : PAST_KNOWN };
            m->measured = false;
        }
        m->measured = m->numbered = false;
    }
}

void kept_add(struct graph *g, const struct graph_step *s, const double *begin_s, uint32_t first)
{
    struct kept *k = &g->kept[g->steps % KEPT_MAX];
    size_t n;

    *k = (struct kept){ .s = *s,
                        .shape = shared_shape(g, shape_of(g, g->newest.op, s->n, first)),
                        .first = first,
                        .n_past = g->next - first };
    k->s.op = NULL;
    k->value = values_of(k->shape, g->newest.op, &n);
    k->ranks = g->n_ranks;
    k->begin_s = xcalloc(g->n_ranks, sizeof(*k->begin_s));
    for (uint32_t r = 0; r < g->n_ranks; r++)
        k->begin_s[r] = (float)(begin_s[r] - s->begin_s);
    k->past = xcalloc(k->n_past, sizeof(*k->past));
    k->bytes = n * sizeof(*k->value) + g->n_ranks * sizeof(*k->begin_s) + k->n_past * sizeof(*k->past);
    g->bytes += k->bytes;
    g->ops += s->n;
    g->steps++;
    g->n_kept++;
    keep_meetings(g, g->newest.op, s->n);
    /* In the opened step operations have meetings' slots until here. */
    for (size_t i = 0; i < s->n; i++)
        g->newest.op[i].meeting = g->meeting[g->newest.op[i].meeting].number;
    g->newest.step = g->steps;
}

/* ---- forgetting ---- */

static void forget_past(struct graph *g, struct kept *k)
{
    if (k->shape && !--k->shape->steps) {
        g->bytes -= shape_bytes(k->shape);
        shape_free(k->shape);
    }
    free(k->past);
    *k = (struct kept){ 0 };
}

/* Meetings of the newest one that is forgotten are still known: the oldest one that is not may have calls of
 * them. */
void kept_forget_oldest(struct graph *g)
{
    struct kept *k = kept_at(g, g->n_kept - 1);

    if (g->n_kept < g->steps)
        forget_past(g, kept_at(g, g->n_kept));
    g->ops -= k->s.n;
    g->bytes -= k->bytes;
    free(k->value);
    free(k->begin_s);
    k->value = NULL;
    k->begin_s = NULL;
    g->n_kept--;
}

static void close_opened(struct opened *o)
{
    free(o->op);
    *o = (struct opened){ 0 };
}

void kept_let_go(struct graph *g)
{
    if (g->newest.cap > LENT_MAX)
        close_opened(&g->newest);
    if (g->other.cap > LENT_MAX)
        close_opened(&g->other);
}

void kept_forget(struct graph *g)
{
    while (g->n_kept)
        kept_forget_oldest(g);
    for (uint32_t i = 0; i < KEPT_MAX; i++)
        forget_past(g, &g->kept[i]);
    close_opened(&g->newest);
    close_opened(&g->other);
}

/* ---- reading ---- */

struct graph_op *opened_reserve(struct opened *o, size_t n)
{
    o->step = 0;
    if (o->cap < n || o->cap > 2 * n) {
        o->op = xrealloc(o->op, n, sizeof(*o->op));
        o->cap = n;
    }
    return o->op;
}

struct graph_step graph_step_get(const struct graph *graph, uint32_t back)
{
    struct graph *g = (struct graph *)graph; /* what is lent is in it */
    const struct kept *k = kept_at(g, back);
    struct opened *o = g->newest.step == g->steps - back ? &g->newest : &g->other;
    struct graph_step s = k->s;
    const uint16_t *value = k->value;

    if (o->step != g->steps - back) {
        opened_reserve(o, k->s.n);
        for (size_t i = 0; i < k->s.n; i++)
            value = kept_op(k, i, value, &o->op[i]);
        o->step = g->steps - back;
    }
    s.op = o->op;
    return s;
}

struct graph_step graph_step_about(const struct graph *g, uint32_t back)
{
    return kept_at(g, back)->s;
}

double graph_begin_s(const struct graph *g, uint32_t back, uint32_t rank)
{
    const struct kept *k = kept_at(g, back);

    return rank < k->ranks ? k->s.begin_s + (double)k->begin_s[rank] : NAN;
}

static double ended_s(const struct kept *k, uint32_t at)
{
    int32_t before = k->shape->meeting[at].before;
    double start_s = k->past[at].start_s;

    if (before >= 0 && (uint32_t)before < k->n_past)
        start_s = fmax(start_s, (double)k->past[before].start_s + kept_unpack(k->past[before].over));
    return k->s.begin_s + start_s + kept_unpack(k->past[at].over);
}

struct graph_meeting kept_meeting(const struct kept *k, uint32_t at)
{
    const struct past *p = &k->past[at];
    const struct shaped_meeting *m = &k->shape->meeting[at];
    float over_s = kept_unpack(p->over);

    return (struct graph_meeting){ .kind = m->kind,
                                   .before =
                                       m->before == SHAPED_NONE ? GRAPH_NONE : k->first + (uint32_t)m->before,
                                   .transfer_s = p->max == PAST_KNOWN ? over_s : NAN,
                                   .max_s = p->max == PAST_KNOWN ? NAN : kept_unpack(p->max),
                                   .over_s = over_s,
                                   .start_s = k->s.begin_s + (double)p->start_s,
                                   .end_s = ended_s(k, at) };
}

const struct graph_meeting *graph_meeting_get(const struct graph *graph, uint32_t meeting)
{
    struct graph *g = (struct graph *)graph; /* what is lent is in it */
    struct graph_meeting *to = &g->lent[g->lend++ % MEETINGS_LENT];
    const struct kept *k = NULL;

    for (uint32_t i = 0; !k && i <= g->n_kept + 1; i++) { /* mostly that of the meeting before */
        uint32_t back = i ? i - 1 : g->found;

        if (back <= g->n_kept && back < g->steps &&
            meeting - kept_at(g, back)->first < kept_at(g, back)->n_past) {
            k = kept_at(g, back);
            g->found = back;
        }
    }
    if (!k)
        return NULL;
    *to = kept_meeting(k, meeting - k->first);
    return to;
}
