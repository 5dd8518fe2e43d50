#include "network/schedule.h"

#include <math.h>
#include <string.h>

#include "common/xalloc.h"

#define BIT(x) (1u << (x))

static const char *const operation_names[SCHEDULE_OPERATIONS] = {
    [SCHEDULE_ALLREDUCE] = "allreduce", [SCHEDULE_REDUCE_SCATTER] = "reduce-scatter",
    [SCHEDULE_ALLGATHER] = "allgather", [SCHEDULE_REDUCE] = "reduce",
    [SCHEDULE_BROADCAST] = "broadcast", [SCHEDULE_ALLTOALL] = "alltoall",
    [SCHEDULE_BARRIER] = "barrier",
};

static const struct {
    const char *name;
    unsigned operations;
} algorithms[SCHEDULE_ALGORITHMS] = {
    [SCHEDULE_RING] = { "ring",
                        BIT(SCHEDULE_ALLREDUCE) | BIT(SCHEDULE_REDUCE_SCATTER) | BIT(SCHEDULE_ALLGATHER) },
    [SCHEDULE_TREE] = { "tree", BIT(SCHEDULE_ALLREDUCE) | BIT(SCHEDULE_REDUCE) | BIT(SCHEDULE_BROADCAST) |
                                    BIT(SCHEDULE_BARRIER) },
    [SCHEDULE_DOUBLING] = { "doubling", BIT(SCHEDULE_ALLREDUCE) | BIT(SCHEDULE_BARRIER) },
    [SCHEDULE_HALVING] = { "halving",
                           BIT(SCHEDULE_ALLREDUCE) | BIT(SCHEDULE_REDUCE_SCATTER) | BIT(SCHEDULE_ALLGATHER) },
    [SCHEDULE_HIERARCHICAL_RING] = { "hierarchical", BIT(SCHEDULE_ALLREDUCE) },
    [SCHEDULE_HIERARCHICAL_HALVING] = { "hierarchical-halving", BIT(SCHEDULE_ALLREDUCE) },
    [SCHEDULE_SERVER] = { "server", BIT(SCHEDULE_ALLREDUCE) },
    [SCHEDULE_DIRECT] = { "direct", BIT(SCHEDULE_ALLTOALL) },
};

const char *schedule_operation_name(enum schedule_operation operation)
{
    return operation < SCHEDULE_OPERATIONS ? operation_names[operation] : "?";
}

const char *schedule_algorithm_name(enum schedule_algorithm algorithm)
{
    return algorithm < SCHEDULE_ALGORITHMS ? algorithms[algorithm].name : "?";
}

enum schedule_algorithm schedule_algorithm_find(const char *name)
{
    unsigned a = 0;

    while (a < SCHEDULE_ALGORITHMS && strcmp(algorithms[a].name, name))
        a++;
    return a;
}

bool schedule_can(enum schedule_operation operation, enum schedule_algorithm algorithm)
{
    return operation < SCHEDULE_OPERATIONS && algorithm < SCHEDULE_ALGORITHMS &&
           (algorithms[algorithm].operations & BIT(operation));
}

/* ---- building ---- */

/* The largest power of two that is at most n. */
static uint32_t power_below(uint32_t n)
{
    return BIT(31 - __builtin_clz(n | 1));
}

static bool is_hierarchical(const struct schedule_spec *spec)
{
    return spec->algorithm == SCHEDULE_HIERARCHICAL_RING || spec->algorithm == SCHEDULE_HIERARCHICAL_HALVING;
}

/* Messages of one round of a stage, of all members. */
static uint64_t stage_messages(const struct schedule *s, const struct schedule_stage *st)
{
    uint64_t groups = s->spec.members / st->size, half = power_below(st->size);

    switch (st->pattern) {
    case SCHEDULE_P_RING:
    case SCHEDULE_P_SHIFT:
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

static void add_stage(struct schedule *s, struct schedule_stage st)
{
    if (!st.rounds || st.size < 2)
        return;
    st.first = s->rounds;
    s->rounds += st.rounds;
    s->messages += st.rounds * stage_messages(s, &st);
    s->stage[s->stages++] = st;
}

/* Groups of size members, stride apart, which share `bytes`. */
struct groups {
    uint32_t size, stride;
    double bytes;
};

static void add_ring(struct schedule *s, struct groups g, bool reduce)
{
    add_stage(s, (struct schedule_stage){ .pattern = SCHEDULE_P_RING,
                                          .rounds = g.size - 1,
                                          .bytes = g.bytes / g.size,
                                          .size = g.size,
                                          .stride = g.stride,
                                          .reduce = reduce });
}

static void add_fold(struct schedule *s, struct groups g, enum schedule_pattern pattern)
{
    if (g.size == power_below(g.size))
        return;
    add_stage(s, (struct schedule_stage){ .pattern = pattern,
                                          .rounds = 1,
                                          .bytes = g.bytes,
                                          .size = g.size,
                                          .stride = g.stride,
                                          .reduce = pattern == SCHEDULE_P_FOLD_IN });
}

static void add_exchange(struct schedule *s, struct groups g, uint32_t distance, double bytes, bool reduce)
{
    add_stage(s, (struct schedule_stage){ .pattern = SCHEDULE_P_EXCHANGE,
                                          .rounds = 1,
                                          .bytes = bytes,
                                          .size = g.size,
                                          .stride = g.stride,
                                          .distance = distance,
                                          .reduce = reduce });
}

static void add_doubling(struct schedule *s, struct groups g)
{
    uint32_t half = power_below(g.size);

    add_fold(s, g, SCHEDULE_P_FOLD_IN);
    for (uint32_t d = 1; d < half; d *= 2)
        add_exchange(s, g, d, g.bytes, true);
    add_fold(s, g, SCHEDULE_P_FOLD_OUT);
}

/* Nearest first, so that large messages stay close. */
static void add_halving(struct schedule *s, struct groups g)
{
    uint32_t half = power_below(g.size);

    add_fold(s, g, SCHEDULE_P_FOLD_IN);
    for (uint32_t d = 1; d < half; d *= 2)
        add_exchange(s, g, d, g.bytes / (2 * d), true);
    for (uint32_t d = half / 2; d; d /= 2)
        add_exchange(s, g, d, g.bytes / (2 * d), false);
    add_fold(s, g, SCHEDULE_P_FOLD_OUT);
}

/* Farthest first, so that every member ends with the part of its own number. */
static void add_halving_alone(struct schedule *s, struct groups g, bool reduce)
{
    for (uint32_t d = g.size / 2; reduce && d; d /= 2)
        add_exchange(s, g, d, g.bytes * d / g.size, true);
    for (uint32_t d = 1; !reduce && d < g.size; d *= 2)
        add_exchange(s, g, d, g.bytes * d / g.size, false);
}

static void add_tree(struct schedule *s, struct groups g, enum schedule_pattern pattern)
{
    uint32_t top = 1;

    while (top < g.size)
        top *= 2;
    for (uint32_t d = 1; d < top; d *= 2)
        add_stage(s, (struct schedule_stage){ .pattern = pattern,
                                              .rounds = 1,
                                              .bytes = g.bytes,
                                              .size = g.size,
                                              .stride = g.stride,
                                              .distance = pattern == SCHEDULE_P_GATHER ? d : top / 2 / d,
                                              .reduce = pattern == SCHEDULE_P_GATHER });
}

static void add_whole(struct schedule *s, struct groups g, enum schedule_pattern pattern, uint32_t rounds,
                      double bytes)
{
    add_stage(s, (struct schedule_stage){ .pattern = pattern,
                                          .rounds = rounds,
                                          .bytes = bytes,
                                          .size = g.size,
                                          .stride = g.stride,
                                          .reduce = pattern == SCHEDULE_P_PUSH });
}

static void build(struct schedule *s)
{
    const struct schedule_spec *spec = &s->spec;
    enum schedule_operation op = spec->operation;
    struct groups all = { spec->members, 1, spec->bytes };
    struct groups node = { spec->group, 1, spec->bytes };
    struct groups across = { 0, spec->group, 0 };

    switch (spec->algorithm) {
    case SCHEDULE_RING:
        if (op != SCHEDULE_ALLGATHER)
            add_ring(s, all, true);
        if (op != SCHEDULE_REDUCE_SCATTER)
            add_ring(s, all, false);
        break;
    case SCHEDULE_TREE:
        if (op != SCHEDULE_BROADCAST)
            add_tree(s, all, SCHEDULE_P_GATHER);
        if (op != SCHEDULE_REDUCE)
            add_tree(s, all, SCHEDULE_P_SPREAD);
        break;
    case SCHEDULE_DOUBLING:
        add_doubling(s, all);
        break;
    case SCHEDULE_HALVING:
        if (op == SCHEDULE_ALLREDUCE)
            add_halving(s, all);
        else
            add_halving_alone(s, all, op == SCHEDULE_REDUCE_SCATTER);
        break;
    case SCHEDULE_HIERARCHICAL_RING:
    case SCHEDULE_HIERARCHICAL_HALVING:
        across.size = spec->members / spec->group;
        across.bytes = spec->bytes / spec->group;
        add_ring(s, node, true);
        if (spec->algorithm == SCHEDULE_HIERARCHICAL_HALVING) {
            add_halving(s, across);
        } else {
            add_ring(s, across, true);
            add_ring(s, across, false);
        }
        add_ring(s, node, false);
        break;
    case SCHEDULE_SERVER:
        add_whole(s, all, SCHEDULE_P_PUSH, 1, spec->bytes / spec->shards);
        add_whole(s, all, SCHEDULE_P_PULL, 1, spec->bytes / spec->shards);
        break;
    case SCHEDULE_DIRECT:
        add_whole(s, all, SCHEDULE_P_SHIFT, spec->members - 1, spec->bytes / spec->members);
        break;
    case SCHEDULE_ALGORITHMS:
        break;
    }
}

int schedule_init(struct schedule *s, const struct schedule_spec *spec, struct err *err)
{
    struct schedule made = { .spec = *spec };

    if (!schedule_can(spec->operation, spec->algorithm))
        return err_set(err, "%s has no algorithm %s", schedule_operation_name(spec->operation),
                       schedule_algorithm_name(spec->algorithm));
    if (!spec->members || spec->members > BIT(30))
        return err_set(err, "%u members: 1 to %u are accepted", spec->members, BIT(30));
    if (!isfinite(spec->bytes) || spec->bytes < 0)
        return err_set(err, "%g bytes: 0 or more are accepted", spec->bytes);
    if (is_hierarchical(spec) && (!spec->group || spec->members % spec->group))
        return err_set(err, "groups of %u members do not divide %u members evenly", spec->group,
                       spec->members);
    if (spec->algorithm == SCHEDULE_SERVER && (!spec->shards || spec->shards > spec->members))
        return err_set(err, "%u shards: 1 to the %u members are accepted", spec->shards, spec->members);
    if (spec->algorithm == SCHEDULE_SERVER && (uint64_t)spec->members * spec->shards > SCHEDULE_SERVER_MAX)
        return err_set(err, "%u members with %u shards: at most %u messages per round are accepted",
                       spec->members, spec->shards, SCHEDULE_SERVER_MAX);
    if (spec->algorithm == SCHEDULE_HALVING && spec->operation != SCHEDULE_ALLREDUCE &&
        power_below(spec->members) != spec->members)
        return err_set(err, "%s by halving needs a number of members that is a power of two, not %u",
                       schedule_operation_name(spec->operation), spec->members);
    if (spec->operation == SCHEDULE_BARRIER)
        made.spec.bytes = 0;
    build(&made);
    *s = made;
    return 0;
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

/* A member's place in its group, and the inverse. */
static uint32_t place_of(const struct schedule_stage *st, uint32_t member)
{
    return member / st->stride % st->size;
}

static uint32_t member_at(const struct schedule_stage *st, uint32_t of_group, uint32_t place)
{
    return of_group + (place - place_of(st, of_group)) * st->stride;
}

/* New number of a place after the even places have handed their vectors to the odd ones next to them; NOBODY for a
 * place that handed its vector over. */
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
static uint32_t partner(const struct schedule_stage *st, uint64_t round, uint32_t place, bool sends)
{
    uint32_t n = st->size, d = st->distance, number;
    bool up = sends == (st->pattern == SCHEDULE_P_GATHER || st->pattern == SCHEDULE_P_FOLD_IN);

    switch (st->pattern) {
    case SCHEDULE_P_RING:
        d = 1;
        return sends ? (place + d) % n : (place + n - d) % n;
    case SCHEDULE_P_SHIFT:
        d = (uint32_t)(round - st->first) + 1;
        return sends ? (place + d) % n : (place + n - d) % n;
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
    uint32_t place, other;

    if (st->pattern == SCHEDULE_P_PUSH || st->pattern == SCHEDULE_P_PULL) {
        visit_servers(s, st->bytes, member, sends == (st->pattern == SCHEDULE_P_PULL), sends, visit, arg);
        return;
    }
    place = partner(st, round, place_of(st, member), sends);
    if (place == NOBODY)
        return;
    other = member_at(st, member, place);
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

/* ---- contents of a message ---- */

/* Where the part of length `bytes` begins that belongs to a member's number once the buffer of `all` bytes
 * has been halved so far; each halving is decided by a bit of the number. */
static double halved(uint32_t number, uint32_t members, bool near_first, double all, double bytes)
{
    uint32_t d = near_first ? 1 : members / 2;
    double first = 0;

    for (double part = all / 2; part >= bytes * 0.75 && d && d < members; part /= 2) {
        first += number & d ? part : 0;
        d = near_first ? d * 2 : d / 2;
    }
    return first;
}

static double exchange_first(const struct schedule *s, const struct schedule_stage *st, uint32_t from,
                             uint32_t to, double all)
{
    bool near_first = s->spec.operation == SCHEDULE_ALLREDUCE;
    /* In halving the receiver keeps what it gets; in doubling the sender has what it sends. */
    uint32_t owner = folded(st, place_of(st, st->reduce ? to : from));

    if (st->bytes >= all * 0.75)
        return 0;
    return halved(owner, power_below(st->size), near_first, all, st->bytes);
}

void schedule_part(const struct schedule *s, uint64_t round, uint32_t from, uint32_t to,
                   struct schedule_part *part)
{
    const struct schedule_stage *st = schedule_stage(s, round);
    uint32_t place = place_of(st, from), k = (uint32_t)(round - st->first);
    bool across = is_hierarchical(&s->spec) && st->stride > 1;
    double all = across ? s->spec.bytes / s->spec.group : s->spec.bytes;
    double base = across ? from % s->spec.group * all : 0;

    *part = (struct schedule_part){ base, st->bytes, st->reduce };
    switch (st->pattern) {
    case SCHEDULE_P_RING:
        /* A member ends the reduction with the part of its own number. */
        part->first += ((uint64_t)place + 2 * st->size - k - st->reduce) % st->size * st->bytes;
        break;
    case SCHEDULE_P_EXCHANGE:
        part->first += exchange_first(s, st, from, to, all);
        break;
    case SCHEDULE_P_SHIFT:
        part->first = to * st->bytes;
        break;
    case SCHEDULE_P_PUSH:
        part->first = member_shard(s, to) * st->bytes;
        break;
    case SCHEDULE_P_PULL:
        part->first = member_shard(s, from) * st->bytes;
        break;
    default:
        break;
    }
}
