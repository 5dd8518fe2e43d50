/* view_reach.c - which of a view's communicators are slower from the start than they should be, in words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/comms.h"
#include "view/view_private.h"
#include "common/map.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "ring/ring.h"

struct view_reach {
    struct reach *reach;
    uint32_t known; /* what `found` stands on */
    double adapter_bytes_per_s;
    struct view_shortfall found[VIEW_SHORTFALLS_MAX];
    size_t n, reported; /* reported: of them, as events */
};

struct view_reach *view_reach_new(void)
{
    struct view_reach *s = xcalloc(1, sizeof(*s));

    s->reach = reach_new();
    return s;
}

void view_reach_free(struct view_reach *s)
{
    if (!s)
        return;
    reach_free(s->reach);
    free(s);
}

void view_reach_forget(struct view *v)
{
    view_reach_free(v->reach);
    v->reach = view_reach_new();
}

/* How many different places the collective's ranks are in; those whose place is not known count as one. */
static uint32_t places_of(const struct view *v, const struct joined *j, bool switches)
{
    struct map places = { 0 };
    uint32_t n = 0;

    for (uint32_t i = 0; i < j->slots; i++) {
        const struct view_rank *k = j->rank[i] < roster_limit(v->roster) ? roster_at(v->roster, j->rank[i]) : NULL;
        uint32_t place = !k ? WORK_PLACE_NONE : switches ? k->switch_id : k->node;

        if (map_get(&places, place) == MAP_NONE)
            map_put(&places, place, n++);
    }
    map_free(&places);
    return n;
}

void view_reach_take_joined(struct view *v, uint32_t ranks, const struct joined *j)
{
    struct reach_kind *k;

    if (j->flags & SAMPLE_NONBLOCKING)
        return;
    k = reach_kind_get(v->reach->reach, j->comm, j->op, (double)j->bytes);
    if (!k)
        return;
    if (reach_is_new(k))
        reach_shape(k, ranks, places_of(v, j, false), places_of(v, j, true));
    reach_take(v->reach->reach, k, (double)j->bytes, j->stay_min_s);
}

/* ---- in words ---- */

static void describe(const struct view *v, double rate, struct view_shortfall *o)
{
    const struct reach_short *s = &o->s;
    char label[64], bytes[32], time[32], expected[32], other[32], smaller[32];
    int at;

    communicators_label(v->communicators, s->comm, label, sizeof(label));
    at = snprintf(
        o->text, sizeof(o->text),
        "Slow from the start: %s of %s on %.48s (%u ranks on %u node%s) takes %s, where %s is expected: ",
        ring_op_name(s->op), units_format_bytes(bytes, sizeof(bytes), s->bytes), label, s->ranks, s->nodes,
        s->nodes == 1 ? "" : "s", units_format_s(time, sizeof(time), s->time_s),
        units_format_s(expected, sizeof(expected), s->expected_s));
    switch (s->source) {
    case REACH_BY_ADAPTER:
        snprintf(o->text + at, sizeof(o->text) - (size_t)at, "the nodes' adapters send %s",
                 units_format_rate(other, sizeof(other), rate));
        break;
    case REACH_BY_PEERS:
        snprintf(o->text + at, sizeof(o->text) - (size_t)at,
                 "that is the median of %u communicators with as many ranks and nodes", s->peers + 1);
        break;
    case REACH_BY_SIZES:
        snprintf(o->text + at, sizeof(o->text) - (size_t)at,
                 "there %s take %s, and time should grow no faster than the size",
                 units_format_bytes(smaller, sizeof(smaller), s->smaller_bytes),
                 units_format_s(other, sizeof(other), s->smaller_s));
        break;
    }
}

void view_reach_judge(struct view *v, double now_s)
{
    struct view_reach *s = v->reach;
    struct reach_short found[VIEW_SHORTFALLS_MAX];
    unsigned adapters;
    double rate = view_adapter_get(v, &adapters);

    rate *= adapters;
    if (reach_known(s->reach) == s->known && rate == s->adapter_bytes_per_s)
        return;
    s->known = reach_known(s->reach);
    s->adapter_bytes_per_s = rate;
    s->n = reach_find(s->reach, rate, found, VIEW_SHORTFALLS_MAX);
    for (size_t i = 0; i < s->n; i++) {
        s->found[i] = (struct view_shortfall){ .s = found[i] };
        describe(v, rate, &s->found[i]);
    }
    if (s->n > s->reported) {
        events_add(v->events, now_s, "shortfall", "%.480s", s->found[0].text);
        s->reported = s->n;
    }
}

size_t view_shortfalls_get(const struct view *v, const struct view_shortfall **list)
{
    *list = v->reach->found;
    return v->reach->n;
}
