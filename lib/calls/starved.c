#include "calls/starved.h"

#include <stdlib.h>

#include "calls/longer.h"
#include "common/xalloc.h"

enum way { RECEIVED, SENT, SHARED };

struct entry {
    uint32_t id, place;
    enum finding_scope scope;
    struct longer *longer;
    struct longer *rest; /* without a link's; NULL: not asked */
};

struct starved {
    struct entry *entry;
    size_t n, cap;
};

struct starved *starved_new(void)
{
    return xcalloc(1, sizeof(struct starved));
}

void starved_reset(struct starved *s)
{
    starved_keep(s, NULL, 0);
}

void starved_free(struct starved *s)
{
    if (!s)
        return;
    starved_reset(s);
    free(s->entry);
    free(s);
}

static struct entry *find(const struct starved *s, uint32_t id)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->entry[i].id == id)
            return &s->entry[i];
    return NULL;
}

/* Of its place as it is seen now. */
static struct entry *entry_of(struct starved *s, const struct straggler *p)
{
    struct entry *e = find(s, p->id);

    if (!e) {
        s->entry = xgrow(s->entry, &s->cap, s->n + 1, sizeof(*s->entry));
        e = &s->entry[s->n++];
        *e = (struct entry){ p->id, p->place, p->scope, longer_new(), NULL };
    } else if (e->place != p->place || e->scope != p->scope) {
        longer_reset(e->longer);
        longer_free(e->rest);
        e->rest = NULL;
        e->place = p->place;
        e->scope = p->scope;
    }
    return e;
}

void starved_keep(struct starved *s, const struct straggler *list, size_t n)
{
    for (size_t i = s->n; i-- > 0;) {
        bool stays = false;

        for (size_t j = 0; j < n; j++)
            stays = stays || list[j].id == s->entry[i].id;
        if (stays)
            continue;
        longer_free(s->entry[i].longer);
        longer_free(s->entry[i].rest);
        s->entry[i] = s->entry[--s->n];
    }
}

struct its {
    const struct straggler *straggler;
    const struct work *work;
};

static uint32_t way_of(const struct graph_kind_info *k, void *arg)
{
    const struct its *its = arg;

    if (k->message && straggler_has(its->straggler, its->work, k->to))
        return RECEIVED;
    if (k->message)
        return straggler_has(its->straggler, its->work, k->from) ? SENT : LONGER_NONE;
    for (uint32_t i = 0; i < k->nodes; i++)
        if (straggler_is_on(its->straggler, its->work, k->node[i]))
            return SHARED;
    return LONGER_NONE;
}

void starved_look(struct starved *s, const struct graph *g, const struct work *w, const struct straggler *p,
                  uint32_t from, uint32_t to, const struct links_slow *other)
{
    struct its its = { p, w };

    longer_look(entry_of(s, p)->longer, g, from, to, way_of, &its, other);
}

bool starved_not(struct starved *s, const struct graph *g, const struct work *w, const struct straggler *p, uint32_t from,
                 uint32_t to, const struct links_slow *link)
{
    struct entry *e = entry_of(s, p);
    struct its its = { p, w };
    bool there[LONGER_WAYS + 1] = { false };

    if (!e->rest)
        e->rest = longer_new();
    longer_look(e->rest, g, from, to, way_of, &its, link);
    for (uint32_t k = 0; k < graph_kinds(g); k++)
        if (links_has(link, graph_kind_get(g, k)))
            there[way_of(graph_kind_get(g, k), &its)] = true;
    for (uint32_t way = 0; way < LONGER_WAYS; way++)
        if (there[way] && !(longer_most(e->rest, way) < link->excess / 2))
            return false;
    return true;
}

bool starved_is(const struct starved *s, uint32_t id)
{
    const struct entry *e = find(s, id);

    return e && (longer_excess(e->longer, RECEIVED) > 0 || longer_excess(e->longer, SENT) > 0 ||
                 longer_excess(e->longer, SHARED) > 0);
}

double starved_excess(const struct starved *s, uint32_t id, uint32_t kind)
{
    const struct entry *e = find(s, id);

    return e ? longer_excess_of(e->longer, kind) : 0;
}
