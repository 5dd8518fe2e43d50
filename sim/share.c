#include "sim/share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define NONE UINT32_MAX
/* Rates that differ by less are the same rate with other rounding. */
#define SAME 1e-12

/* A flow's stay on one of its links: hop h of flow f is number f * SHARE_HOPS_MAX + h. */
struct hop {
    uint32_t link, next, prev;
};

struct link {
    double capacity;
    double wanted;    /* sum of what its flows would take without each other */
    uint32_t first;   /* hop */
    uint32_t flows;   /* on it */
    bool bound;       /* could it bind anybody when rates were last solved? */
    bool dirty, seen; /* on the list of changed links; of the links of this problem */
    /* While a problem is solved. */
    double left, weight; /* what is not given out; of the open flows */
    uint32_t open;       /* flows without a rate yet */
};

struct flow {
    double bound, weight;
    double full; /* at most this, with no other flow anywhere */
    double rate; /* NaN: not solved yet */
    uint32_t hops;
    bool used, seen, fixed;
};

struct list {
    uint32_t *at;
    size_t n, cap;
};

struct share {
    uint32_t links;
    struct link *link;
    struct flow *flow;
    struct hop *hop;
    size_t flow_cap, hop_cap;
    uint32_t flows; /* numbers given so far */
    struct list spare, fresh, dirty, changed;
    struct list problem, binding, heap; /* flows; links; links by what a flow gets there */
    double *key;                        /* of a link in the heap */
    uint64_t solves;
};

static void push(struct list *l, uint32_t v)
{
    l->at = xgrow(l->at, &l->cap, l->n + 1, sizeof(*l->at));
    l->at[l->n++] = v;
}

struct share *share_new(uint32_t links)
{
    struct share *s = xcalloc(1, sizeof(*s));

    s->links = links;
    s->link = xcalloc(links ? links : 1, sizeof(*s->link));
    s->key = xcalloc(links ? links : 1, sizeof(*s->key));
    for (uint32_t i = 0; i < links; i++)
        s->link[i].first = NONE;
    return s;
}

void share_free(struct share *s)
{
    if (!s)
        return;
    free(s->link);
    free(s->flow);
    free(s->hop);
    free(s->spare.at);
    free(s->fresh.at);
    free(s->dirty.at);
    free(s->changed.at);
    free(s->problem.at);
    free(s->binding.at);
    free(s->heap.at);
    free(s->key);
    free(s);
}

/* ---- flows come and go ---- */

static void touch(struct share *s, uint32_t link)
{
    if (!s->link[link].dirty)
        push(&s->dirty, link);
    s->link[link].dirty = true;
}

static double full_rate(const struct share *s, const struct flow *f, const struct hop *hop)
{
    double full = f->bound;

    for (uint32_t h = 0; h < f->hops; h++)
        full = fmin(full, s->link[hop[h].link].capacity);
    return full;
}

uint32_t share_add(struct share *s, const uint32_t *link, uint32_t hops, double bound, double weight)
{
    uint32_t id = s->spare.n ? s->spare.at[--s->spare.n] : s->flows++;
    struct flow *f;
    struct hop *hop;

    s->flow = xgrow(s->flow, &s->flow_cap, id + 1, sizeof(*s->flow));
    s->hop = xgrow(s->hop, &s->hop_cap, (size_t)(id + 1) * SHARE_HOPS_MAX, sizeof(*s->hop));
    f = &s->flow[id];
    hop = &s->hop[(size_t)id * SHARE_HOPS_MAX];
    *f = (struct flow){ .bound = bound, .weight = weight, .hops = hops, .rate = NAN, .used = true };
    for (uint32_t h = 0; h < hops; h++)
        hop[h].link = link[h];
    f->full = full_rate(s, f, hop);
    for (uint32_t h = 0; h < hops; h++) {
        struct link *l = &s->link[link[h]];

        hop[h].next = l->first;
        hop[h].prev = NONE;
        if (l->first != NONE)
            s->hop[l->first].prev = id * SHARE_HOPS_MAX + h;
        l->first = id * SHARE_HOPS_MAX + h;
        l->wanted = l->flows++ ? l->wanted + f->full : f->full;
        if (l->flows > 1)
            touch(s, link[h]);
    }
    push(&s->fresh, id);
    return id;
}

void share_remove(struct share *s, uint32_t flow)
{
    struct flow *f = &s->flow[flow];
    struct hop *hop = &s->hop[(size_t)flow * SHARE_HOPS_MAX];

    for (uint32_t h = 0; h < f->hops; h++) {
        struct link *l = &s->link[hop[h].link];

        if (hop[h].prev == NONE)
            l->first = hop[h].next;
        else
            s->hop[hop[h].prev].next = hop[h].next;
        if (hop[h].next != NONE)
            s->hop[hop[h].next].prev = hop[h].prev;
        l->flows--;
        l->wanted -= f->full;
        if (l->bound)
            touch(s, hop[h].link);
    }
    f->used = false;
    push(&s->spare, flow);
}

void share_clear(struct share *s)
{
    for (uint32_t i = 0; i < s->flows; i++)
        for (uint32_t h = 0; s->flow[i].used && h < s->flow[i].hops; h++) {
            struct link *l = &s->link[s->hop[(size_t)i * SHARE_HOPS_MAX + h].link];

            l->first = NONE;
            l->flows = 0;
            l->bound = false;
        }
    for (size_t i = 0; i < s->dirty.n; i++)
        s->link[s->dirty.at[i]].dirty = false;
    s->dirty.n = s->fresh.n = s->spare.n = 0;
    s->flows = 0;
}

void share_set_capacity(struct share *s, uint32_t link, double capacity)
{
    s->link[link].capacity = capacity;
    for (uint32_t i = s->link[link].first; i != NONE; i = s->hop[i].next) {
        struct flow *f = &s->flow[i / SHARE_HOPS_MAX];
        const struct hop *hop = &s->hop[(size_t)(i / SHARE_HOPS_MAX) * SHARE_HOPS_MAX];
        double full = full_rate(s, f, hop);

        for (uint32_t h = 0; h < f->hops; h++) {
            s->link[hop[h].link].wanted += full - f->full;
            touch(s, hop[h].link);
        }
        f->full = full;
        push(&s->fresh, i / SHARE_HOPS_MAX);
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
        if (s->link[s->hop[(size_t)flow * SHARE_HOPS_MAX + h].link].flows > 1)
            return true;
    return false;
}

uint64_t share_solves(const struct share *s)
{
    return s->solves;
}

/* ---- the problem: what the changes can touch ---- */

static bool binds(const struct link *l)
{
    return l->flows > 1 && l->wanted > l->capacity * (1 + 1e-9);
}

static void take_flow(struct share *s, uint32_t flow)
{
    if (s->flow[flow].seen || !s->flow[flow].used)
        return;
    s->flow[flow].seen = true;
    s->flow[flow].fixed = false;
    push(&s->problem, flow);
}

static void take_flows(struct share *s, uint32_t link)
{
    for (uint32_t i = s->link[link].first; i != NONE; i = s->hop[i].next)
        take_flow(s, i / SHARE_HOPS_MAX);
}

static void take_link(struct share *s, uint32_t link)
{
    struct link *l = &s->link[link];

    if (l->seen || !binds(l))
        return;
    l->seen = true;
    l->left = l->capacity;
    l->open = l->flows;
    l->weight = 0;
    for (uint32_t i = l->first; i != NONE; i = s->hop[i].next)
        l->weight += s->flow[i / SHARE_HOPS_MAX].weight;
    push(&s->binding, link);
    take_flows(s, link);
}

static void find_problem(struct share *s)
{
    s->problem.n = s->binding.n = 0;
    for (size_t i = 0; i < s->fresh.n; i++)
        take_flow(s, s->fresh.at[i]);
    for (size_t i = 0; i < s->dirty.n; i++) {
        struct link *l = &s->link[s->dirty.at[i]];
        bool bound = l->bound;

        l->dirty = false;
        l->bound = binds(l);
        if (l->bound)
            take_link(s, s->dirty.at[i]);
        else if (bound)
            take_flows(s, s->dirty.at[i]);
    }
    s->fresh.n = s->dirty.n = 0;
    for (size_t i = 0; i < s->problem.n; i++) {
        uint32_t flow = s->problem.at[i];

        for (uint32_t h = 0; h < s->flow[flow].hops; h++)
            take_link(s, s->hop[(size_t)flow * SHARE_HOPS_MAX + h].link);
    }
}

/* ---- progressive filling ---- */

/* The heap's keys may be stale, but only too low: what a link has for each of its open flows never falls
 * while others are fixed at less. */
static void sift(struct share *s, size_t i)
{
    uint32_t *at = s->heap.at, moving = at[i];
    double key = s->key[moving];

    for (size_t child; (child = 2 * i + 1) < s->heap.n; i = child) {
        if (child + 1 < s->heap.n && s->key[at[child + 1]] < s->key[at[child]])
            child++;
        if (s->key[at[child]] >= key)
            break;
        at[i] = at[child];
    }
    at[i] = moving;
}

static void heap_fill(struct share *s)
{
    s->heap.n = 0;
    for (size_t i = 0; i < s->binding.n; i++) {
        uint32_t link = s->binding.at[i];

        s->key[link] = s->link[link].left / s->link[link].weight;
        push(&s->heap, link);
    }
    for (size_t i = s->heap.n / 2; i--;)
        sift(s, i);
}

/* The link that gives its flows least, with its key up to date; NONE when all are done. */
static uint32_t heap_top(struct share *s)
{
    while (s->heap.n) {
        uint32_t link = s->heap.at[0];
        const struct link *l = &s->link[link];
        double now = l->open ? fmax(0, l->left) / l->weight : INFINITY;

        if (!l->open) {
            s->heap.at[0] = s->heap.at[--s->heap.n];
        } else if (now > s->key[link] * (1 + SAME)) {
            s->key[link] = now;
        } else {
            return link;
        }
        if (s->heap.n)
            sift(s, 0);
    }
    return NONE;
}

static void fix(struct share *s, uint32_t flow, double rate)
{
    struct flow *f = &s->flow[flow];

    f->fixed = true;
    for (uint32_t h = 0; h < f->hops; h++) {
        struct link *l = &s->link[s->hop[(size_t)flow * SHARE_HOPS_MAX + h].link];

        if (l->seen) {
            l->left -= rate;
            l->weight -= f->weight;
            l->open--;
        }
    }
    if (fabs(rate - f->rate) <= SAME * f->rate)
        return;
    f->rate = rate;
    push(&s->changed, flow);
}

/* What a unit of its weight has once the flow is at its own bound. */
static double flow_level(const struct flow *f)
{
    return f->full / f->weight;
}

static int by_level(const void *a, const void *b, void *share)
{
    const struct share *s = share;
    double x = flow_level(&s->flow[*(const uint32_t *)a]), y = flow_level(&s->flow[*(const uint32_t *)b]);

    return (x > y) - (x < y);
}

static void sort_problem(struct share *s)
{
    bool sorted = true;

    for (size_t i = 1; i < s->problem.n && sorted; i++)
        sorted = flow_level(&s->flow[s->problem.at[i - 1]]) <= flow_level(&s->flow[s->problem.at[i]]);
    if (!sorted)
        qsort_r(s->problem.at, s->problem.n, sizeof(*s->problem.at), by_level, s);
}

static void fix_link(struct share *s, uint32_t link)
{
    double level = s->key[link];

    for (uint32_t i = s->link[link].first; i != NONE; i = s->hop[i].next)
        if (!s->flow[i / SHARE_HOPS_MAX].fixed)
            fix(s, i / SHARE_HOPS_MAX, level * s->flow[i / SHARE_HOPS_MAX].weight);
}

size_t share_solve(struct share *s, const uint32_t **changed)
{
    size_t next = 0;

    s->changed.n = 0;
    find_problem(s);
    s->solves += s->binding.n > 0;
    if (s->binding.n)
        sort_problem(s);
    heap_fill(s);
    while (next < s->problem.n) {
        uint32_t flow = s->problem.at[next], link;

        if (s->flow[flow].fixed) {
            next++;
            continue;
        }
        link = heap_top(s);
        if (link == NONE || flow_level(&s->flow[flow]) <= s->key[link])
            fix(s, flow, s->flow[flow].full);
        else
            fix_link(s, link);
    }
    for (size_t i = 0; i < s->problem.n; i++)
        s->flow[s->problem.at[i]].seen = false;
    for (size_t i = 0; i < s->binding.n; i++) {
        s->link[s->binding.at[i]].seen = false;
        s->link[s->binding.at[i]].bound = true;
    }
    *changed = s->changed.at;
    return s->changed.n;
}
