#include "view/shortfalls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "detect/work.h"
#include "ring/ring.h"

struct shortfalls {
    const struct roster *roster;
    const struct communicators *communicators;
    struct events *events;
    struct baseline *baseline;
    uint32_t known; /* what `found` stands on */
    double adapter_bytes_per_s;
    struct view_shortfall found[VIEW_SHORTFALLS_MAX];
    size_t n, reported; /* reported: of them, as events */
};

struct shortfalls *shortfalls_new(const struct roster *roster, const struct communicators *communicators,
                                  struct events *events)
{
    struct shortfalls *s = xcalloc(1, sizeof(*s));

    s->roster = roster;
    s->communicators = communicators;
    s->events = events;
    s->baseline = baseline_new();
    return s;
}

void shortfalls_free(struct shortfalls *s)
{
    if (!s)
        return;
    baseline_free(s->baseline);
    free(s);
}

void shortfalls_forget(struct shortfalls *s)
{
    baseline_free(s->baseline);
    *s = (struct shortfalls){ .roster = s->roster,
                              .communicators = s->communicators,
                              .events = s->events,
                              .baseline = baseline_new() };
}

/* How many different places the collective's ranks are in; those whose place is not known count as one. */
static uint32_t places_of(const struct shortfalls *s, const struct joined *j, bool switches)
{
    struct map places = { 0 };
    uint32_t n = 0;

    for (uint32_t i = 0; i < j->slots; i++) {
        const struct view_rank *k =
            j->rank[i] < roster_limit(s->roster) ? roster_at(s->roster, j->rank[i]) : NULL;
        uint32_t place = !k ? WORK_PLACE_NONE : switches ? k->switch_id : k->node;

        if (map_get(&places, place) == MAP_NONE)
            map_put(&places, place, n++);
    }
    map_free(&places);
    return n;
}

void shortfalls_take_joined(struct shortfalls *s, uint32_t ranks, const struct joined *j)
{
    struct baseline_kind *k;

    if (j->flags & RING_EVENT_NONBLOCKING)
        return;
    k = baseline_kind_get(s->baseline, j->comm, j->op, (double)j->bytes);
    if (!k)
        return;
    if (baseline_is_new(k))
        baseline_shape(k, ranks, places_of(s, j, false), places_of(s, j, true));
    baseline_take(s->baseline, k, (double)j->bytes, j->stay_min_s);
}

static void describe_shortfall(const struct communicators *communicators, double rate,
                               struct view_shortfall *o)
{
    const struct baseline_shortfall *s = &o->s;
    char label[64], rate_text[32];

    communicators_label(communicators, s->comm, label, sizeof(label));
    snprintf(
        o->text, sizeof(o->text),
        "Slow from the start: %s of %s on %.48s (%u ranks on %u node%s) takes %s, where %s is expected: ",
        ring_op_name(s->op), text_bytes(s->bytes).s, label, s->ranks, s->nodes, text_plural(s->nodes),
        text_s(s->time_s).s, text_s(s->expected_s).s);
    switch (s->source) {
    case BASELINE_BY_ADAPTER:
        text_append(o->text, sizeof(o->text), "the nodes' adapters send %s",
                    units_format_rate(rate_text, sizeof(rate_text), rate));
        break;
    case BASELINE_BY_PEERS:
        text_append(o->text, sizeof(o->text),
                    "that is the median of %u communicators with as many ranks and nodes", s->peers + 1);
        break;
    case BASELINE_BY_SIZES:
        text_append(o->text, sizeof(o->text),
                    "there %s take %s, and time should grow no faster than the size",
                    text_bytes(s->smaller_bytes).s, text_s(s->smaller_s).s);
        break;
    }
}

void shortfalls_judge(struct shortfalls *s, double now_s, double rate)
{
    struct baseline_shortfall found[VIEW_SHORTFALLS_MAX];

    if (baseline_known(s->baseline) == s->known && rate == s->adapter_bytes_per_s)
        return;
    s->known = baseline_known(s->baseline);
    s->adapter_bytes_per_s = rate;
    s->n = baseline_find(s->baseline, rate, found, VIEW_SHORTFALLS_MAX);
    for (size_t i = 0; i < s->n; i++) {
        s->found[i] = (struct view_shortfall){ .s = found[i] };
        describe_shortfall(s->communicators, rate, &s->found[i]);
    }
    if (s->n > s->reported) {
        events_add(s->events, now_s, "shortfall", "%.480s", s->found[0].text);
        s->reported = s->n;
    }
}

size_t shortfalls_get(const struct shortfalls *s, const struct view_shortfall **list)
{
    *list = s->found;
    return s->n;
}
