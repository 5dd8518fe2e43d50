#include "view/connections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/units.h"
#include "common/xalloc.h"
#include "detect/work.h"

/* looks in a row at which another place is found than the named one: that is named */
#define MOVE 3u

struct connections {
    struct roster *roster;
    struct quota *quota;
    struct pairs *pairs;
    uint32_t id;              /* of the finding that has the place */
    struct pairs_place place; /* nodes 0: none was found */
    uint32_t elsewhere;
};

struct connections *connections_new(struct quota *quota, struct roster *roster)
{
    struct connections *s = xcalloc(1, sizeof(*s));

    s->quota = quota;
    s->roster = roster;
    s->pairs = pairs_new();
    return s;
}

void connections_free(struct connections *s)
{
    if (!s)
        return;
    pairs_free(s->pairs);
    free(s);
}

void connections_forget(struct connections *s)
{
    pairs_reset(s->pairs);
    s->quota->held[QUOTA_CONNECTIONS] = (double)pairs_bytes(s->pairs);
    s->place = (struct pairs_place){ 0 };
}

void connections_take(struct connections *s, double now_s, const struct traffic_item *t)
{
    const struct view_rank *k = roster_find(s->roster, t->rank, t->app);

    if (!k || k->node == WORK_PLACE_NONE || !quota_allows(s->quota, 0))
        return;
    pairs_take(s->pairs, now_s, k->node, t);
    s->quota->held[QUOTA_CONNECTIONS] = (double)pairs_bytes(s->pairs);
}

static bool is_same(const struct pairs_place *a, const struct pairs_place *b)
{
    return a->nodes == b->nodes && a->node[0] == b->node[0] && (a->nodes < 2 || a->node[1] == b->node[1]);
}

/* A place that was named stays when what was before has been forgotten. */
static void follow_place(struct connections *s, double now_s, const struct finding *f)
{
    struct pairs_place found;

    if (s->id != f->id) {
        s->id = f->id;
        s->place = (struct pairs_place){ 0 };
        s->elsewhere = 0;
    }
    if (!f->standing || isnan(f->onset_s) || !pairs_find(s->pairs, now_s, f->onset_s, &found))
        return;
    s->elsewhere = s->place.nodes && !is_same(&found, &s->place) ? s->elsewhere + 1 : 0;
    if (!s->elsewhere || s->elsewhere >= MOVE) {
        s->place = found;
        s->elsewhere = 0;
    }
}

bool connections_place(struct connections *s, double now_s, struct finding *f)
{
    if (f->scope != SCOPE_NONE || (f->class != FINDING_COMMUNICATION && f->class != FINDING_CONGESTION))
        return false;
    follow_place(s, now_s, f);
    if (!s->place.nodes)
        return false;
    f->scope = s->place.nodes == 2 ? SCOPE_LINK : SCOPE_NODE;
    f->place = s->place.node[0];
    f->other = s->place.node[1];
    f->by_connections = true;
    return true;
}

char *connections_text(const struct connections *s, char *buf, size_t size)
{
    const struct pairs_place *p = &s->place;
    char others[64] = "", times[16];

    if (!isnan(p->others))
        snprintf(others, sizeof(others), ", all others %s times",
                 units_format_factor(times, sizeof(times), p->others));
    snprintf(buf, size, "%s TCP connections take %s times as long for a byte as before%s",
             p->nodes == 2 ? "their" : "its", units_format_factor(times, sizeof(times), p->times), others);
    return buf;
}
