/* schedule: every byte arrives.  The data is moved, part by part, as sets of who contributed. */
#include "network/schedule.h"

#include <stdlib.h>

#include "tests/tap.h"

/* A buffer is BLOCKS blocks of one "byte"; a member's block holds how often each member's contribution is in
 * it. */
struct data {
    uint32_t n, blocks;
    uint8_t *count; /* [member][block][contributor] */
};

static uint8_t *cell(const struct data *d, uint32_t member, uint32_t block)
{
    return d->count + ((size_t)member * d->blocks + block) * d->n;
}

/* ---- contents of a message ---- */

static uint32_t power_below(uint32_t n)
{
    uint32_t power = 1;

    while (2 * power <= n)
        power *= 2;
    return power;
}

/* A member's place in its group. */
static uint32_t place_of(const struct schedule_stage *st, uint32_t member)
{
    return member / st->stride % st->size;
}

/* Does the receiver add the message to its own data, rather than overwrite it?  The first half of the stages
 * reduces, the other half gives the sums back; doubling adds in each exchange. */
static bool adds(const struct schedule *s, const struct schedule_stage *st)
{
    if (s->spec.algorithm == SCHEDULE_DOUBLING && st->pattern == SCHEDULE_P_EXCHANGE)
        return true;
    return st - s->stage < s->stages / 2;
}

/* Where the part begins that a place of a halving exchange owns: each halving is decided by a bit of its
 * number among the places that are left after folding. */
static double halved(const struct schedule_stage *st, uint32_t place, double all)
{
    uint32_t extra = st->size - power_below(st->size);
    uint32_t number = place >= 2 * extra ? place - extra : place / 2;
    double first = 0, part = all / 2;

    for (uint32_t d = 1; part >= st->bytes * 0.75 && d < power_below(st->size); d *= 2, part /= 2)
        first += number & d ? part : 0;
    return first;
}

/* The shard of a server: shard k is on member k * members / shards. */
static uint32_t shard_of(const struct schedule *s, uint32_t member)
{
    uint32_t shard = 0;

    while (shard * s->spec.members / s->spec.shards != member)
        shard++;
    return shard;
}

/* The first byte of the buffer that a message carries. */
static double first_byte(const struct schedule *s, uint64_t round, const struct schedule_message *m)
{
    const struct schedule_stage *st = schedule_stage(s, round);
    bool across = st->stride > 1, adding = adds(s, st);
    double all = across ? s->spec.bytes / s->spec.group : s->spec.bytes;
    double base = across ? m->from % s->spec.group * all : 0;
    uint32_t k = (uint32_t)(round - st->first);

    switch (st->pattern) {
    case SCHEDULE_P_RING: /* a member ends the reduction with the part of its own number */
        return base + (place_of(st, m->from) + 2 * st->size - k - adding) % st->size * st->bytes;
    /* in halving the receiver keeps what it gets; in doubling the sender has what it sends */
    case SCHEDULE_P_EXCHANGE:
        return base + (m->bytes < all * 0.75 ? halved(st, place_of(st, adding ? m->to : m->from), all) : 0);
    case SCHEDULE_P_PUSH:
        return shard_of(s, m->to) * st->bytes;
    case SCHEDULE_P_PULL:
        return shard_of(s, m->from) * st->bytes;
    default:
        return base;
    }
}

/* ---- moving the data ---- */

struct sending {
    const struct schedule *s;
    uint64_t round;
    const struct data *before;
    struct data *after;
    uint64_t messages;
    double sent, got;
    bool crooked; /* a part that is no whole number of blocks */
};

static void move_data(void *arg, const struct schedule_message *m)
{
    struct sending *w = arg;
    double first = first_byte(w->s, w->round, m);
    bool adding = adds(w->s, schedule_stage(w->s, w->round));

    w->crooked |= !near(first, round(first), 1e-9) || !near(m->bytes, round(m->bytes), 1e-9) ||
                  lround(first + m->bytes) > (long)w->before->blocks;
    if (w->crooked)
        return;
    for (long b = lround(first); b < lround(first + m->bytes); b++) {
        const uint8_t *from = cell(w->before, m->from, (uint32_t)b);
        uint8_t *to = cell(w->after, m->to, (uint32_t)b);

        for (uint32_t i = 0; i < w->before->n; i++)
            to[i] = (uint8_t)(adding ? to[i] + from[i] : from[i]);
    }
    w->messages++;
    w->sent += m->bytes;
}

static void count_got(void *arg, const struct schedule_message *m)
{
    struct sending *w = arg;

    w->got += m->bytes;
}

/* Every member starts with its own contribution in all blocks. */
static struct data data_new(const struct schedule_spec *spec, uint32_t blocks)
{
    struct data d = { spec->members, blocks, calloc((size_t)spec->members * blocks, spec->members) };

    for (uint32_t m = 0; m < d.n; m++)
        for (uint32_t b = 0; b < blocks; b++)
            cell(&d, m, b)[m] = 1;
    return d;
}

static struct sending run(const struct schedule *s, struct data *d)
{
    size_t size = (size_t)d->n * d->n * d->blocks;
    struct data before = { d->n, d->blocks, malloc(size) };
    struct sending w = { .s = s, .before = &before, .after = d };

    for (; w.round < s->rounds; w.round++) {
        memcpy(before.count, d->count, size);
        for (uint32_t m = 0; m < d->n; m++) {
            schedule_sends(s, w.round, m, move_data, &w);
            schedule_receives(s, w.round, m, count_got, &w);
        }
    }
    free(before.count);
    return w;
}

/* Does every block of every member have each contribution exactly once? */
static bool is_right(const struct data *d)
{
    bool good = true;

    for (size_t i = 0; i < (size_t)d->n * d->blocks * d->n; i++)
        good &= d->count[i] == 1;
    return good;
}

static void moves(enum schedule_algorithm algorithm, uint32_t members, uint32_t group, uint32_t shards)
{
    struct schedule_spec spec = { algorithm, members, 0, group, shards };
    uint32_t blocks = members;
    struct schedule s;

    /* So many blocks that every algorithm cuts between them. */
    for (uint32_t p = 1; p < members; p *= 2)
        blocks *= 2;
    blocks *= shards ? shards : 1;
    spec.bytes = blocks;
    schedule_init(&s, &spec);
    struct data d = data_new(&spec, blocks);
    struct sending w = run(&s, &d);

    ok(!w.crooked && is_right(&d) && w.messages == s.messages && near(w.sent, w.got, 1e-12),
       "%s, %u members%s: every byte arrives, and is counted", schedule_algorithms[algorithm], members,
       group ? " in nodes" : "");
    if (w.messages != s.messages)
        printf("#   sent %llu, counted %llu\n", (unsigned long long)w.messages,
               (unsigned long long)s.messages);
    free(d.count);
}

static void all_data_arrives(void)
{
    static const uint32_t members[] = { 1, 2, 3, 4, 5, 7, 8, 11, 12, 16 };

    for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
        uint32_t n = members[i];

        moves(SCHEDULE_RING, n, 0, 0);
        moves(SCHEDULE_TREE, n, 0, 0);
        moves(SCHEDULE_DOUBLING, n, 0, 0);
        moves(SCHEDULE_HALVING, n, 0, 0);
        moves(SCHEDULE_SERVER, n, 0, (n + 1) / 2);
    }
    moves(SCHEDULE_HIERARCHICAL_RING, 12, 4, 0);
    moves(SCHEDULE_HIERARCHICAL_RING, 8, 8, 0);
    moves(SCHEDULE_HIERARCHICAL_RING, 5, 1, 0);
    moves(SCHEDULE_HIERARCHICAL_HALVING, 16, 4, 0);
    moves(SCHEDULE_HIERARCHICAL_HALVING, 12, 2, 0);
    moves(SCHEDULE_HIERARCHICAL_HALVING, 14, 2, 0);
}

/* What a rank sends, as the textbooks have it. */
static void volumes(void)
{
    static const struct {
        enum schedule_algorithm algorithm;
        uint32_t members, group, shards;
        uint64_t rounds, messages;
        double bytes; /* all members' */
    } want[] = {
        { SCHEDULE_RING, 8, 0, 0, 14, 112, 14 * 8 * 100 },
        { SCHEDULE_HALVING, 8, 0, 0, 6, 48, 8 * 2 * 700 },
        { SCHEDULE_DOUBLING, 8, 0, 0, 3, 24, 8 * 3 * 800 },
        { SCHEDULE_TREE, 8, 0, 0, 6, 14, 14 * 800 },
        { SCHEDULE_HALVING, 9, 0, 0, 8, 50, 8 * 2 * 700 + 2 * 800 },
        { SCHEDULE_HIERARCHICAL_RING, 8, 4, 0, 8, 64, 8 * (6 * 200 + 2 * 100) },
        { SCHEDULE_SERVER, 8, 0, 2, 2, 28, 28 * 400 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
        struct schedule_spec spec = { want[i].algorithm, want[i].members, 800, want[i].group,
                                      want[i].shards };
        struct schedule s;
        double bytes = 0;

        schedule_init(&s, &spec);
        for (uint64_t k = 0; k < s.rounds; k++) {
            struct sending w = { .s = &s, .round = k };

            for (uint32_t m = 0; m < spec.members; m++)
                schedule_receives(&s, k, m, count_got, &w);
            bytes += w.got;
        }
        ok(s.rounds == want[i].rounds && s.messages == want[i].messages && near(bytes, want[i].bytes, 1e-12),
           "%s of %u: rounds, messages and bytes", schedule_algorithms[want[i].algorithm], want[i].members);
    }
}

int main(void)
{
    all_data_arrives();
    volumes();
    return done_testing();
}
