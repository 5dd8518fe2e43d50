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
    struct schedule_part part;

    schedule_part(w->s, w->round, m->from, m->to, &part);
    w->crooked |= !near(part.first, round(part.first), 1e-9) || !near(part.bytes, round(part.bytes), 1e-9) ||
                  part.bytes != m->bytes || lround(part.first + part.bytes) > (long)w->before->blocks;
    if (w->crooked)
        return;
    for (long b = lround(part.first); b < lround(part.first + part.bytes); b++) {
        const uint8_t *from = cell(w->before, m->from, (uint32_t)b);
        uint8_t *to = cell(w->after, m->to, (uint32_t)b);

        for (uint32_t i = 0; i < w->before->n; i++)
            to[i] = (uint8_t)(part.reduce ? to[i] + from[i] : from[i]);
    }
    w->messages++;
    w->sent += m->bytes;
}

static void count_got(void *arg, const struct schedule_message *m)
{
    struct sending *w = arg;

    w->got += m->bytes;
}

/* 0: as every member starts, own contribution everywhere; all-gather: only in the own block. */
static struct data data_new(const struct schedule_spec *spec, uint32_t blocks)
{
    struct data d = { spec->members, blocks, calloc((size_t)spec->members * blocks, spec->members) };

    for (uint32_t m = 0; m < d.n; m++)
        for (uint32_t b = 0; b < blocks; b++)
            if (spec->operation != SCHEDULE_ALLGATHER || b / (blocks / d.n) == m)
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

/* Is each contribution (of `from`, or of all) in the block exactly once? */
static bool complete(const struct data *d, uint32_t member, uint32_t block, const uint32_t *only)
{
    const uint8_t *c = cell(d, member, block);
    bool good = true;

    for (uint32_t i = 0; i < d->n; i++)
        good &= c[i] == (!only || *only == i);
    return good;
}

static bool is_right(const struct schedule_spec *spec, const struct data *d)
{
    uint32_t each = d->blocks / d->n, root = 0;
    bool good = true;

    for (uint32_t m = 0; m < d->n; m++)
        for (uint32_t b = 0; b < d->blocks; b++) {
            uint32_t owner = b / each;

            switch (spec->operation) {
            case SCHEDULE_ALLREDUCE:
                good &= complete(d, m, b, NULL);
                break;
            case SCHEDULE_REDUCE_SCATTER:
                good &= m != owner || complete(d, m, b, NULL);
                break;
            case SCHEDULE_ALLGATHER:
                good &= complete(d, m, b, &owner);
                break;
            case SCHEDULE_REDUCE:
                good &= m || complete(d, m, b, NULL);
                break;
            case SCHEDULE_BROADCAST:
                good &= complete(d, m, b, &root);
                break;
            default:
                break;
            }
        }
    return good;
}

static void moves(enum schedule_operation operation, enum schedule_algorithm algorithm, uint32_t members,
                  uint32_t group, uint32_t shards)
{
    struct schedule_spec spec = { operation, algorithm, members, 0, group, shards };
    uint32_t blocks = members;
    struct schedule s;
    struct err err;

    /* So many blocks that every algorithm cuts between them. */
    for (uint32_t p = 1; p < members; p *= 2)
        blocks *= 2;
    blocks *= shards ? shards : 1;
    spec.bytes = blocks;
    if (schedule_init(&s, &spec, &err) < 0) {
        ok(false, "%s", err.text);
        return;
    }
    struct data d = data_new(&spec, blocks);
    struct sending w = run(&s, &d);

    ok(!w.crooked && is_right(&spec, &d) && w.messages == s.messages && near(w.sent, w.got, 1e-12),
       "%s by %s, %u members%s: every byte arrives, and is counted", schedule_operation_name(operation),
       schedule_algorithm_name(algorithm), members, group ? " in nodes" : "");
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

        moves(SCHEDULE_ALLREDUCE, SCHEDULE_RING, n, 0, 0);
        moves(SCHEDULE_REDUCE_SCATTER, SCHEDULE_RING, n, 0, 0);
        moves(SCHEDULE_ALLGATHER, SCHEDULE_RING, n, 0, 0);
        moves(SCHEDULE_ALLREDUCE, SCHEDULE_TREE, n, 0, 0);
        moves(SCHEDULE_REDUCE, SCHEDULE_TREE, n, 0, 0);
        moves(SCHEDULE_BROADCAST, SCHEDULE_TREE, n, 0, 0);
        moves(SCHEDULE_ALLREDUCE, SCHEDULE_DOUBLING, n, 0, 0);
        moves(SCHEDULE_ALLREDUCE, SCHEDULE_HALVING, n, 0, 0);
        moves(SCHEDULE_ALLREDUCE, SCHEDULE_SERVER, n, 0, (n + 1) / 2);
    }
    for (uint32_t n = 2; n <= 16; n *= 2) {
        moves(SCHEDULE_REDUCE_SCATTER, SCHEDULE_HALVING, n, 0, 0);
        moves(SCHEDULE_ALLGATHER, SCHEDULE_HALVING, n, 0, 0);
    }
    moves(SCHEDULE_ALLREDUCE, SCHEDULE_HIERARCHICAL_RING, 12, 4, 0);
    moves(SCHEDULE_ALLREDUCE, SCHEDULE_HIERARCHICAL_RING, 8, 8, 0);
    moves(SCHEDULE_ALLREDUCE, SCHEDULE_HIERARCHICAL_RING, 5, 1, 0);
    moves(SCHEDULE_ALLREDUCE, SCHEDULE_HIERARCHICAL_HALVING, 16, 4, 0);
    moves(SCHEDULE_ALLREDUCE, SCHEDULE_HIERARCHICAL_HALVING, 12, 2, 0);
    moves(SCHEDULE_ALLREDUCE, SCHEDULE_HIERARCHICAL_HALVING, 14, 2, 0);
}

struct pairs {
    uint32_t n, *met;
};

static void meet(void *arg, const struct schedule_message *m)
{
    struct pairs *p = arg;

    p->met[m->from * p->n + m->to]++;
}

static void all_to_all(void)
{
    struct schedule_spec spec = { SCHEDULE_ALLTOALL, SCHEDULE_DIRECT, 7, 70, 0, 0 };
    uint32_t met[49] = { 0 }, wrong = 0;
    struct pairs p = { 7, met };
    struct schedule s;

    schedule_init(&s, &spec, NULL);
    for (uint64_t k = 0; k < s.rounds; k++)
        for (uint32_t m = 0; m < 7; m++)
            schedule_sends(&s, k, m, meet, &p);
    for (uint32_t i = 0; i < 49; i++)
        wrong += met[i] != (i / 7 != i % 7);
    ok(!wrong && s.messages == 42 && s.stage[0].bytes == 10, "all-to-all: each pair exchanges its share once");
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
        struct schedule_spec spec = { SCHEDULE_ALLREDUCE, want[i].algorithm, want[i].members, 800,
                                      want[i].group,      want[i].shards };
        struct schedule s;
        double bytes = 0;

        schedule_init(&s, &spec, NULL);
        for (uint64_t k = 0; k < s.rounds; k++) {
            struct sending w = { .s = &s, .round = k };

            for (uint32_t m = 0; m < spec.members; m++)
                schedule_receives(&s, k, m, count_got, &w);
            bytes += w.got;
        }
        ok(s.rounds == want[i].rounds && s.messages == want[i].messages && near(bytes, want[i].bytes, 1e-12),
           "%s of %u: rounds, messages and bytes", schedule_algorithm_name(want[i].algorithm),
           want[i].members);
    }
}

static void refused(void)
{
    static const struct {
        struct schedule_spec spec;
        const char *why;
    } bad[] = {
        { { SCHEDULE_ALLTOALL, SCHEDULE_RING, 8, 1, 0, 0 }, "alltoall has no algorithm ring" },
        { { SCHEDULE_ALLREDUCE, SCHEDULE_RING, 0, 1, 0, 0 }, "0 members: 1 to 1073741824 are accepted" },
        { { SCHEDULE_ALLREDUCE, SCHEDULE_RING, 8, -1, 0, 0 }, "-1 bytes: 0 or more are accepted" },
        { { SCHEDULE_ALLREDUCE, SCHEDULE_HIERARCHICAL_RING, 8, 1, 3, 0 },
          "groups of 3 members do not divide 8 members evenly" },
        { { SCHEDULE_ALLREDUCE, SCHEDULE_SERVER, 8, 1, 0, 9 }, "9 shards: 1 to the 8 members are accepted" },
        { { SCHEDULE_ALLGATHER, SCHEDULE_HALVING, 6, 1, 0, 0 },
          "allgather by halving needs a number of members that is a power of two, not 6" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct schedule s;
        struct err err = { "" };

        ok(schedule_init(&s, &bad[i].spec, &err) < 0, "an impossible schedule is rejected: %s", bad[i].why);
        is_str(err.text, bad[i].why, "the reason is \"%s\"", bad[i].why);
    }
    is_int(schedule_algorithm_find("halving"), SCHEDULE_HALVING, "the algorithm \"halving\" is found by its name");
    is_int(schedule_algorithm_find("magic"), SCHEDULE_ALGORITHMS, "an unknown algorithm is not found");
}

int main(void)
{
    all_data_arrives();
    all_to_all();
    volumes();
    refused();
    return done_testing();
}
