#include "calls/starvation.h"

#include <stdlib.h>

#include "calls/transfer_excess.h"
#include "common/xalloc.h"

enum way { RECEIVED, SENT, SHARED };

struct starved_place {
    uint32_t id, place;
    enum finding_scope scope;
    struct transfer_excess *excess;
    struct transfer_excess *beside_link; /* the same without a link's; NULL: not asked for */
};

struct starvation {
    struct starved_place *entry;
    size_t n, cap;
};

struct starvation *starvation_new(void)
{
    return xcalloc(1, sizeof(struct starvation));
}

void starvation_reset(struct starvation *s)
{
    starvation_keep(s, NULL, 0);
}

void starvation_free(struct starvation *s)
{
    if (!s)
        return;
    starvation_reset(s);
    free(s->entry);
    free(s);
}

static struct starved_place *find_place(const struct starvation *s, uint32_t id)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->entry[i].id == id)
            return &s->entry[i];
    return NULL;
}

/* Of its place as it is seen now. */
static struct starved_place *entry_of(struct starvation *s, const struct straggler *p)
{
    struct starved_place *e = find_place(s, p->id);

    if (!e) {
        s->entry = xgrow(s->entry, &s->cap, s->n + 1, sizeof(*s->entry));
        e = &s->entry[s->n++];
        *e = (struct starved_place){ p->id, p->place, p->scope, transfer_excess_new(), NULL };
    } else if (e->place != p->place || e->scope != p->scope) {
        transfer_excess_reset(e->excess);
        transfer_excess_free(e->beside_link);
        e->beside_link = NULL;
        e->place = p->place;
        e->scope = p->scope;
    }
    return e;
}

void starvation_keep(struct starvation *s, const struct straggler *list, size_t n)
{
    for (size_t i = s->n; i-- > 0;) {
        bool stays = false;

        for (size_t j = 0; j < n; j++)
            stays = stays || list[j].id == s->entry[i].id;
        if (stays)
            continue;
        transfer_excess_free(s->entry[i].excess);
        transfer_excess_free(s->entry[i].beside_link);
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
        return straggler_has(its->straggler, its->work, k->from) ? SENT : TRANSFER_EXCESS_NONE;
    for (uint32_t i = 0; i < k->nodes; i++)
        if (straggler_is_on(its->straggler, its->work, k->node[i]))
            return SHARED;
    return TRANSFER_EXCESS_NONE;
}

void starvation_update(struct starvation *s, const struct graph *g, const struct work *w,
                       const struct straggler *p, uint32_t from, uint32_t to, const struct links_slow *other)
{
    struct its its = { p, w };

    transfer_excess_update(entry_of(s, p)->excess, g, from, to, way_of, &its, other);
}

bool starvation_refuted(struct starvation *s, const struct graph *g, const struct work *w,
                        const struct straggler *p, uint32_t from, uint32_t to, const struct links_slow *link)
{
    struct starved_place *e = entry_of(s, p);
    struct its its = { p, w };
    bool there[TRANSFER_EXCESS_WAYS + 1] = { false };

    if (!e->beside_link)
        e->beside_link = transfer_excess_new();
    transfer_excess_update(e->beside_link, g, from, to, way_of, &its, link);
    for (uint32_t k = 0; k < graph_kinds(g); k++)
        if (links_has(link, graph_kind_get(g, k)))
            there[way_of(graph_kind_get(g, k), &its)] = true;
    for (uint32_t way = 0; way < TRANSFER_EXCESS_WAYS; way++)
        if (there[way] && !(transfer_excess_max(e->beside_link, way) < link->excess / 2))
            return false;
    return true;
}

bool starvation_has(const struct starvation *s, uint32_t id)
{
    const struct starved_place *e = find_place(s, id);

    return e &&
           (transfer_excess_of_way(e->excess, RECEIVED) > 0 || transfer_excess_of_way(e->excess, SENT) > 0 ||
            transfer_excess_of_way(e->excess, SHARED) > 0);
}

double starvation_excess(const struct starvation *s, uint32_t id, uint32_t kind)
{
    const struct starved_place *e = find_place(s, id);

    return e ? transfer_excess_of_kind(e->excess, kind) : 0;
}
