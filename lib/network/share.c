#include "network/share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define NONE UINT32_MAX

/* Rates that differ by less are equal up to rounding. */
#define SAME 1e-12
/* Tolerance for a link's capacity. */
#define FULL (1 + 1e-9)

/* Few flows are stored in the link's own cache line. */
#define FEW 6u
struct link {
    double capacity;
    double used;    /* sum of its flows' rates */
    double level;   /* rate per unit of weight; INFINITY: the link limits no flow */
    uint32_t *stay; /* its flows: SHARE_HOPS_MAX * flow + hop, in any order; `few` or on the heap */
    uint32_t flows;
    uint32_t room : 31, queued : 1;
    uint32_t few[FEW];
};

struct flow {
    double rate, weight;
    double full; /* rate without any other flow */
    uint32_t link[SHARE_HOPS_MAX], place[SHARE_HOPS_MAX];
    uint32_t rule; /* the link that limits its rate; NONE: it has its full rate */
    uint8_t hops;
    bool used, listed; /* listed: in fresh or changed */
};

struct list {
    uint32_t *at;
    size_t n, cap;
};

/* Links whose level must be found: a heap by an estimated lower bound of the level. */
struct queue {
    struct due {
        double key;
        uint32_t link;
    } * at;
    size_t n, cap;
};

struct share {
    uint32_t links;
    struct link *link;
    struct flow *flow;
    size_t flow_cap;
    uint32_t flows; /* the largest number so far, plus one */
    struct list fresh, changed;
    struct queue queue;
    struct limit { /* scratch for a link's flows */
        double limit, weight;
        uint32_t rule;
    } * limit, *open;
    size_t limit_cap, open_cap;
    uint64_t solves;
};

struct share *share_new(uint32_t links)
{
    struct share *s = xcalloc(1, sizeof(*s));

    s->links = links;
    s->link = xcalloc(links ? links : 1, sizeof(*s->link));
    for (uint32_t i = 0; i < links; i++) {
        s->link[i].level = INFINITY;
        s->link[i].stay = s->link[i].few;
        s->link[i].room = FEW;
    }
    return s;
}

void share_free(struct share *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->links; i++)
        if (s->link[i].stay != s->link[i].few)
            free(s->link[i].stay);
    free(s->link);
    free(s->flow);
    free(s->fresh.at);
    free(s->changed.at);
    free(s->queue.at);
    free(s->limit);
    free(s->open);
    free(s);
}

/* ---- links to be solved ---- */

static void enqueue(struct share *s, uint32_t link)
{
    struct link *l = &s->link[link];
    struct queue *q = &s->queue;
    double key;
    size_t at;

    if (l->queued)
        return;
    l->queued = true;
    key = l->level < INFINITY ? l->level : l->capacity / l->flows;
    if (q->n == q->cap)
        q->at = xgrow(q->at, &q->cap, q->n + 1, sizeof(*q->at));
    at = q->n++;
    while (at && key < q->at[(at - 1) / 2].key) {
        q->at[at] = q->at[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    q->at[at] = (struct due){ key, link };
}

static uint32_t dequeue(struct share *s)
{
    struct queue *q = &s->queue;
    uint32_t first = q->at[0].link;
    struct due last = q->at[--q->n];
    size_t at = 0;

    for (size_t child; (child = 2 * at + 1) < q->n; at = child) {
        if (child + 1 < q->n && q->at[child + 1].key < q->at[child].key)
            child++;
        if (q->at[child].key >= last.key)
            break;
        q->at[at] = q->at[child];
    }
    q->at[at] = last;
    s->link[first].queued = false;
    return first;
}

/* Whether the link limits its flows, or may come to. */
static bool matters(const struct link *l)
{
    return l->level < INFINITY || (l->used > l->capacity * FULL && l->flows > 1);
}

/* ---- adding and removing flows ---- */

static void list_flow(struct share *s, struct list *l, uint32_t flow)
{
    if (s->flow[flow].listed)
        return;
    s->flow[flow].listed = true;
    if (l->n == l->cap)
        l->at = xgrow(l->at, &l->cap, l->n + 1, sizeof(*l->at));
    l->at[l->n++] = flow;
}

/* Limit a new flow by the known levels; links that are solved later start from there. */
static void limit_flow(const struct share *s, struct flow *f)
{
    double level = INFINITY;

    f->full = INFINITY;
    f->rule = NONE;
    for (uint32_t h = 0; h < f->hops; h++) {
        const struct link *l = &s->link[f->link[h]];

        f->full = l->capacity < f->full ? l->capacity : f->full;
        if (l->level < level) {
            level = l->level;
            f->rule = f->link[h];
        }
    }
    f->rate = level * f->weight;
    if (f->rate >= f->full) {
        f->rate = f->full;
        f->rule = NONE;
    }
}

static void grow_link(struct link *l)
{
    uint32_t room = 2 * l->room;

    if (l->stay == l->few)
        l->stay = memcpy(xcalloc(room, sizeof(*l->stay)), l->few, sizeof(l->few));
    else
        l->stay = xrealloc(l->stay, room, sizeof(*l->stay));
    l->room = room & INT32_MAX;
}

bool share_add(struct share *s, uint32_t flow, const uint32_t *link, uint32_t hops, double weight)
{
    struct flow *f;
    bool meets = false;

    if (flow >= s->flow_cap)
        s->flow = xgrow(s->flow, &s->flow_cap, (size_t)flow + 1, sizeof(*s->flow));
    if (flow >= s->flows)
        s->flows = flow + 1;
    f = &s->flow[flow];
    f->weight = weight;
    f->hops = (uint8_t)hops;
    f->used = true;
    for (uint32_t h = 0; h < hops; h++)
        f->link[h] = link[h];
    limit_flow(s, f);
    list_flow(s, &s->fresh, flow);
    for (uint32_t h = 0; h < hops; h++) {
        struct link *l = &s->link[link[h]];

        if (l->flows == l->room)
            grow_link(l);
        f->place[h] = l->flows;
        l->stay[l->flows] = flow * SHARE_HOPS_MAX + h;
        l->used = l->flows++ ? l->used + f->rate : f->rate;
        meets |= l->flows > 1;
        if (matters(l))
            enqueue(s, link[h]);
    }
    return meets;
}

void share_remove(struct share *s, uint32_t flow)
{
    struct flow *f = &s->flow[flow];

    for (uint32_t h = 0; h < f->hops; h++) {
        struct link *l = &s->link[f->link[h]];
        uint32_t last = l->stay[--l->flows];

        l->stay[f->place[h]] = last;
        s->flow[last / SHARE_HOPS_MAX].place[last % SHARE_HOPS_MAX] = f->place[h];
        l->used -= f->rate;
        if (!l->flows)
            l->level = INFINITY;
        else if (l->level < INFINITY)
            enqueue(s, f->link[h]);
    }
    f->used = false;
}

void share_clear(struct share *s)
{
    for (uint32_t i = 0; i < s->flows; i++) {
        struct flow *f = &s->flow[i];

        for (uint32_t h = 0; f->used && h < f->hops; h++) {
            s->link[f->link[h]].flows = 0;
            s->link[f->link[h]].level = INFINITY;
        }
        f->used = f->listed = false;
    }
    while (s->queue.n)
        s->link[dequeue(s)].level = INFINITY;
    s->fresh.n = s->changed.n = 0;
    s->flows = 0;
}

void share_set_capacity(struct share *s, uint32_t link, double capacity)
{
    struct link *changed = &s->link[link];

    changed->capacity = capacity;
    for (uint32_t i = 0; i < changed->flows; i++) {
        uint32_t flow = changed->stay[i] / SHARE_HOPS_MAX;
        struct flow *f = &s->flow[flow];
        double was = f->rate;

        limit_flow(s, f);
        for (uint32_t h = 0; h < f->hops; h++) {
            struct link *l = &s->link[f->link[h]];

            l->used += f->rate - was;
            if (matters(l))
                enqueue(s, f->link[h]);
        }
        list_flow(s, &s->fresh, flow);
    }
}

double share_capacity(const struct share *s, uint32_t link)
{
    return s->link[link].capacity;
}

double share_rate(const struct share *s, uint32_t flow)
{
    return s->flow[flow].rate;
}

bool share_meets(const struct share *s, uint32_t flow)
{
    for (uint32_t h = 0; h < s->flow[flow].hops; h++)
        if (s->link[s->flow[flow].link[h]].flows > 1)
            return true;
    return false;
}

uint64_t share_solves(const struct share *s)
{
    return s->solves;
}

/* ---- levels ---- */

/* The flow's rate without this link. */
static inline struct limit limit_of(const struct share *s, const struct flow *f, uint32_t link)
{
    struct limit e = { f->rate, f->weight, f->rule };

    if (f->rule != link)
        return e;
    e.limit = f->full;
    e.rule = NONE;
    for (uint32_t h = 0; h < f->hops; h++) {
        double rate = s->link[f->link[h]].level * f->weight;

        if (rate < e.limit && f->link[h] != link) {
            e.limit = rate;
            e.rule = f->link[h];
        }
    }
    return e;
}

/* The level at which the link is full, given the limits of its flows on other links. */
static double find_level(struct share *s, uint32_t link)
{
    const struct link *l = &s->link[link];
    double left = l->capacity, weight = 0, wanted = 0, level;
    uint32_t n = l->flows, kept;

    if (n > s->limit_cap) {
        s->limit = xgrow(s->limit, &s->limit_cap, n, sizeof(*s->limit));
        s->open = xgrow(s->open, &s->open_cap, n, sizeof(*s->open));
    }
    for (uint32_t i = 0; i < n; i++) {
        s->limit[i] = limit_of(s, &s->flow[l->stay[i] / SHARE_HOPS_MAX], link);
        s->open[i] = s->limit[i];
        wanted += s->limit[i].limit;
        weight += s->limit[i].weight;
    }
    if (n < 2 || wanted <= l->capacity * FULL)
        return INFINITY;
    do {
        level = left / weight;
        kept = 0;
        for (uint32_t i = 0; i < n; i++) {
            struct limit e = s->open[i];

            if (e.limit < level * e.weight) {
                left -= e.limit;
                weight -= e.weight;
            } else {
                s->open[kept++] = e;
            }
        }
        if (!kept)
            return INFINITY; /* full only by rounding */
        if (kept == n)
            return level;
        n = kept;
    } while (true);
}

/* An infinite rate equals only another infinite one. */
static bool is_same(double a, double b)
{
    return a == b || fabs(a - b) <= SAME * (a < b ? a : b);
}

static void set_rate(struct share *s, uint32_t flow, uint32_t link, double rate, uint32_t rule)
{
    struct flow *f = &s->flow[flow];
    double more = rate - f->rate;
    bool same = is_same(rate, f->rate);

    f->rule = rule;
    if (more == 0)
        return;
    f->rate = rate;
    if (!same)
        list_flow(s, &s->changed, flow);
    for (uint32_t h = 0; h < f->hops; h++) {
        struct link *l = &s->link[f->link[h]];

        l->used += more;
        if (!same && f->link[h] != link && matters(l))
            enqueue(s, f->link[h]);
    }
}

static void level_link(struct share *s, uint32_t link)
{
    struct link *l = &s->link[link];
    double level = find_level(s, link);

    if (is_same(level, l->level))
        return;
    l->level = level;
    for (uint32_t i = 0; i < l->flows; i++) {
        const struct limit *e = &s->limit[i];
        uint32_t flow = l->stay[i] / SHARE_HOPS_MAX;

        if (level * e->weight < e->limit)
            set_rate(s, flow, link, level * e->weight, link);
        else
            set_rate(s, flow, link, e->limit, e->rule);
    }
}

size_t share_solve(struct share *s, const uint32_t **changed)
{
    struct list swap = s->changed;
    size_t kept = 0;

    s->changed = s->fresh;
    s->fresh = swap;
    s->fresh.n = 0;
    s->solves += s->queue.n > 0;
    while (s->queue.n)
        level_link(s, dequeue(s));
    /* Flows that were removed before they were solved are not reported. */
    for (size_t i = 0; i < s->changed.n; i++) {
        uint32_t flow = s->changed.at[i];

        s->flow[flow].listed = false;
        s->changed.at[kept] = flow;
        kept += s->flow[flow].used;
    }
    s->changed.n = kept;
    *changed = s->changed.at;
    return s->changed.n;
}
