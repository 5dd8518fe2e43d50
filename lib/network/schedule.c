#include "network/schedule.h"

#include <stddef.h>

const char *const schedule_algorithms[] = {
    "ring", "tree", "doubling", "halving", "hierarchical", "hierarchical-halving", "server", NULL
};

/* ---- building ---- */

/* The largest power of two that is at most n. */
static uint32_t power_below(uint32_t n)
{
    return 1u << (31 - __builtin_clz(n | 1));
}

/* Messages of one round of a stage, of all members. */
static uint64_t stage_messages(const struct schedule *s, const struct schedule_stage *st)
{
    uint64_t groups = s->spec.members / st->size, half = power_below(st->size);

    switch (st->pattern) {
    case SCHEDULE_P_RING:
        return groups * st->size;
    case SCHEDULE_P_EXCHANGE:
        return groups * half;
    case SCHEDULE_P_FOLD_IN:
    case SCHEDULE_P_FOLD_OUT:
        return groups * (st->size - half);
    case SCHEDULE_P_GATHER:
    case SCHEDULE_P_SPREAD:
        return groups * ((st->size - st->distance + 2 * (uint64_t)st->distance - 1) / (2 * st->distance));
    case SCHEDULE_P_PUSH:
    case SCHEDULE_P_PULL:
        return (uint64_t)s->spec.shards * (st->size - 1);
    }
    return 0;
}

/* Groups of size members, stride apart, which share `bytes`. */
struct groups {
    uint32_t size, stride;
    double bytes;
};

static void add_stage(struct schedule *s, struct groups g, enum schedule_pattern pattern, uint32_t rounds,
                      uint32_t distance, double bytes)
{
    struct schedule_stage *st = &s->stage[s->stages];

    if (g.size < 2)
        return;
    *st = (struct schedule_stage){ pattern, rounds, s->rounds, bytes, g.size, g.stride, distance };
    s->stages++;
    s->rounds += rounds;
    s->messages += rounds * stage_messages(s, st);
}

/* Half of an all-reduce: the reduce-scatter or the all-gather. */
static void add_ring(struct schedule *s, struct groups g)
{
    add_stage(s, g, SCHEDULE_P_RING, g.size - 1, 0, g.bytes / g.size);
}

static void add_exchange(struct schedule *s, struct groups g, uint32_t distance, double bytes)
{
    add_stage(s, g, SCHEDULE_P_EXCHANGE, 1, distance, bytes);
}

static void add_fold(struct schedule *s, struct groups g, enum schedule_pattern pattern)
{
    if (g.size != power_below(g.size))
        add_stage(s, g, pattern, 1, 0, g.bytes);
}

static void add_doubling(struct schedule *s, struct groups g)
{
    add_fold(s, g, SCHEDULE_P_FOLD_IN);
    for (uint32_t d = 1; d < power_below(g.size); d *= 2)
        add_exchange(s, g, d, g.bytes);
    add_fold(s, g, SCHEDULE_P_FOLD_OUT);
}

/* Nearest first, so that large messages stay close. */
static void add_halving(struct schedule *s, struct groups g)
{
    uint32_t half = power_below(g.size);

    add_fold(s, g, SCHEDULE_P_FOLD_IN);
    for (uint32_t d = 1; d < half; d *= 2)
        add_exchange(s, g, d, g.bytes / (2 * d));
    for (uint32_t d = half / 2; d; d /= 2)
        add_exchange(s, g, d, g.bytes / (2 * d));
    add_fold(s, g, SCHEDULE_P_FOLD_OUT);
}

static void add_tree(struct schedule *s, struct groups g)
{
    uint32_t top = 1;

    for (; top < g.size; top *= 2)
        add_stage(s, g, SCHEDULE_P_GATHER, 1, top, g.bytes);
    for (uint32_t d = top / 2; d; d /= 2)
        add_stage(s, g, SCHEDULE_P_SPREAD, 1, d, g.bytes);
}

static void add_hierarchical(struct schedule *s, bool halving)
{
    const struct schedule_spec *spec = &s->spec;
    struct groups node = { spec->group, 1, spec->bytes };
    struct groups across = { spec->members / spec->group, spec->group, spec->bytes / spec->group };

    add_ring(s, node);
    if (halving) {
        add_halving(s, across);
    } else {
        add_ring(s, across);
        add_ring(s, across);
    }
    add_ring(s, node);
}

void schedule_init(struct schedule *s, const struct schedule_spec *spec)
{
    struct groups all = { spec->members, 1, spec->bytes };

    *s = (struct schedule){ .spec = *spec };
    switch (spec->algorithm) {
    case SCHEDULE_RING:
        add_ring(s, all);
        add_ring(s, all);
        break;
    case SCHEDULE_TREE:
        add_tree(s, all);
        break;
    case SCHEDULE_DOUBLING:
        add_doubling(s, all);
        break;
    case SCHEDULE_HALVING:
        add_halving(s, all);
        break;
    case SCHEDULE_HIERARCHICAL_RING:
    case SCHEDULE_HIERARCHICAL_HALVING:
        add_hierarchical(s, spec->algorithm == SCHEDULE_HIERARCHICAL_HALVING);
        break;
    case SCHEDULE_SERVER:
        add_stage(s, all, SCHEDULE_P_PUSH, 1, 0, spec->bytes / spec->shards);
        add_stage(s, all, SCHEDULE_P_PULL, 1, 0, spec->bytes / spec->shards);
        break;
    }
}

const struct schedule_stage *schedule_stage(const struct schedule *s, uint64_t round)
{
    uint32_t low = 0, high = s->stages - 1;

    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;

        if (s->stage[middle].first <= round)
            low = middle;
        else
            high = middle - 1;
    }
    return &s->stage[low];
}

/* ---- partners ---- */

#define NOBODY UINT32_MAX

/* A member's place in its group. */
static uint32_t place_of(const struct schedule_stage *st, uint32_t member)
{
    return member / st->stride % st->size;
}

/* New number of a place after the even places have handed their vectors to the odd ones next to them; NOBODY
 * for a place that handed its vector over. */
static uint32_t folded(const struct schedule_stage *st, uint32_t place)
{
    uint32_t extra = st->size - power_below(st->size);

    if (place >= 2 * extra)
        return place - extra;
    return place % 2 ? place / 2 : NOBODY;
}

static uint32_t unfolded(const struct schedule_stage *st, uint32_t number)
{
    uint32_t extra = st->size - power_below(st->size);

    return number < extra ? 2 * number + 1 : number + extra;
}

/* The place that this one sends to (or receives from), for patterns with one partner at most. */
static uint32_t partner(const struct schedule_stage *st, uint32_t place, bool sends)
{
    uint32_t n = st->size, d = st->distance, number;
    bool up = sends == (st->pattern == SCHEDULE_P_GATHER || st->pattern == SCHEDULE_P_FOLD_IN);

    switch (st->pattern) {
    case SCHEDULE_P_RING:
        return (sends ? place + 1 : place + n - 1) % n;
    case SCHEDULE_P_EXCHANGE:
        number = folded(st, place);
        return number == NOBODY ? NOBODY : unfolded(st, number ^ d);
    case SCHEDULE_P_FOLD_IN:
    case SCHEDULE_P_FOLD_OUT:
        if (place >= 2 * (n - power_below(n)) || (place % 2 == 0) != up)
            return NOBODY;
        return up ? place + 1 : place - 1;
    case SCHEDULE_P_GATHER:
    case SCHEDULE_P_SPREAD:
        if (place % d || (place / d % 2 == 1) != up)
            return NOBODY;
        if (up)
            return place - d;
        return place + d < n ? place + d : NOBODY;
    case SCHEDULE_P_PUSH:
    case SCHEDULE_P_PULL:
        break;
    }
    return NOBODY;
}

/* ---- servers ---- */

bool schedule_has_server(const struct schedule *s)
{
    return s->spec.algorithm == SCHEDULE_SERVER;
}

bool schedule_detached(const struct schedule *s, uint64_t round)
{
    return schedule_has_server(s) && schedule_stage(s, round)->pattern == SCHEDULE_P_PULL;
}

static uint32_t shard_member(const struct schedule *s, uint32_t shard)
{
    return (uint32_t)((uint64_t)shard * s->spec.members / s->spec.shards);
}

/* The shard that a member serves, or NOBODY. */
static uint32_t member_shard(const struct schedule *s, uint32_t member)
{
    uint32_t shard = (uint32_t)(((uint64_t)member * s->spec.shards + s->spec.members - 1) / s->spec.members);

    return shard < s->spec.shards && shard_member(s, shard) == member ? shard : NOBODY;
}

/* Messages between member and all servers, or between it, a server, and all members. */
static void visit_servers(const struct schedule *s, double bytes, uint32_t member, bool as_server, bool sends,
                          schedule_visit *visit, void *arg)
{
    uint32_t others = as_server ? s->spec.members : s->spec.shards;

    if (as_server && member_shard(s, member) == NOBODY)
        return;
    for (uint32_t i = 0; i < others; i++) {
        uint32_t other = as_server ? i : shard_member(s, i);

        if (other != member)
            visit(arg, &(struct schedule_message){ sends ? member : other, sends ? other : member, bytes });
    }
}

static void visit_messages(const struct schedule *s, uint64_t round, uint32_t member, bool sends,
                           schedule_visit *visit, void *arg)
{
    const struct schedule_stage *st = schedule_stage(s, round);
    uint32_t place, from, other;

    if (st->pattern == SCHEDULE_P_PUSH || st->pattern == SCHEDULE_P_PULL) {
        visit_servers(s, st->bytes, member, sends == (st->pattern == SCHEDULE_P_PULL), sends, visit, arg);
        return;
    }
    from = place_of(st, member);
    place = partner(st, from, sends);
    if (place == NOBODY)
        return;
    other = member + (place - from) * st->stride;
    visit(arg, &(struct schedule_message){ sends ? member : other, sends ? other : member, st->bytes });
}

void schedule_sends(const struct schedule *s, uint64_t round, uint32_t member, schedule_visit *visit,
                    void *arg)
{
    visit_messages(s, round, member, true, visit, arg);
}

void schedule_receives(const struct schedule *s, uint64_t round, uint32_t member, schedule_visit *visit,
                       void *arg)
{
    visit_messages(s, round, member, false, visit, arg);
}
