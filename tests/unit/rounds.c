/* Rounds of programs of messages alone: pipelines and farms by hand, each rank's calls in its order. */
#include "calls/rounds.h"

#include "calls/boundary.h"
#include "ring/ring.h"
#include "tests/tap.h"

#define RANKS 4u

static struct rounds *rounds;
static struct boundary *boundary;
static uint64_t now_ns;
static uint32_t seq[RANKS][RANKS][2]; /* of messages from one to another, as each end counts them */
static uint32_t ends[RANKS], last[RANKS];
static bool counted; /* the end of round n has the number n, on all ranks */
static uint32_t played;

static uint32_t members_of(uint64_t comm, void *arg)
{
    (void)comm;
    (void)arg;
    return RANKS;
}

static void one(uint32_t rank, uint32_t peer, bool receives)
{
    uint32_t from = receives ? peer : rank, to = receives ? rank : peer;
    struct call c = { .rank = rank,
                      .peer = peer,
                      .op = receives ? RING_OP_RECV : RING_OP_SEND,
                      .comm = 1,
                      .bytes = 100,
                      .seq = seq[from][to][receives]++,
                      .enter_ns = now_ns,
                      .leave_ns = now_ns + 10 };
    struct boundary_at at;

    now_ns += 20;
    rounds_call(rounds, &c);
    at = boundary_call(boundary, &c, 1);
    if (!at.ends)
        return;
    ends[rank]++;
    last[rank] = at.number;
    counted = counted && at.number == played;
}

static void begin(void)
{
    rounds_free(rounds);
    boundary_free(boundary);
    rounds = rounds_new();
    boundary = boundary_new(members_of, NULL);
    for (uint32_t r = 0; r < RANKS; r++) {
        boundary_rank(boundary, r);
        ends[r] = last[r] = 0;
        for (uint32_t p = 0; p < RANKS; p++)
            seq[r][p][0] = seq[r][p][1] = 0;
    }
    counted = true;
    played = 0;
}

/* All microbatches forth, then all back. */
static void flush(uint32_t microbatches)
{
    for (uint32_t m = 0; m < microbatches; m++)
        for (uint32_t r = 0; r + 1 < RANKS; r++) {
            one(r, r + 1, false);
            one(r + 1, r, true);
        }
    for (uint32_t m = 0; m < microbatches; m++)
        for (uint32_t r = RANKS - 1; r; r--) {
            one(r, r - 1, false);
            one(r - 1, r, true);
        }
    played++;
}

static void test_pipeline(void)
{
    static const uint32_t microbatches[] = { 2, 8, 32 };

    for (size_t i = 0; i < ARRAY_SIZE(microbatches); i++) {
        uint32_t m = microbatches[i], found = 0;
        struct round round;

        begin();
        while (!rounds_found(rounds) && played < 20000 / m)
            flush(m);
        if (!ok(rounds_found(rounds), "a pipeline of %u microbatches has rounds", m))
            continue;
        for (uint32_t r = 0; r < RANKS; r++)
            found += rounds_of(rounds, r, &round) && round.messages == m;
        is_int(found, RANKS, "a pipeline of %u microbatches: each rank counts so many messages", m);
        for (uint32_t k = 0; k < 20; k++)
            flush(m);
        found = 0;
        for (uint32_t r = 0; r < RANKS; r++)
            found += ends[r] >= 20 && last[r] == played - 1;
        ok(found == RANKS && counted,
           "a pipeline of %u microbatches: each step ends with its round, on all ranks", m);
    }
}

/* Rank 0 gives tasks to the others, to the first one twice a round. */
static void test_farm(void)
{
    struct round round;
    static const uint32_t order[] = { 1, 2, 1, 3 };

    begin();
    for (uint32_t i = 0; i < 20000 && !rounds_found(rounds); i++) {
        one(0, order[i % 4], false);
        one(order[i % 4], 0, true);
        one(order[i % 4], 0, false);
        one(0, order[i % 4], true);
    }
    ok(rounds_found(rounds), "a farm in a fixed order has rounds");
    ok(rounds_of(rounds, 1, &round) && round.messages == 2, "one that has two tasks a round counts two");
    ok(rounds_of(rounds, 2, &round) && round.messages == 1, "one that has one task a round counts one");
    ok(!rounds_of(rounds, RANKS, &round), "a rank that is not there has none");
}

static void test_none(void)
{
    uint32_t state = 1;

    begin();
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t to;

        state = state * 1664525 + 1013904223;
        to = 1 + (state >> 16) % 3;
        one(0, to, false);
        one(to, 0, true);
        one(to, 0, false);
        one(0, to, true);
    }
    ok(!rounds_found(rounds), "a farm in the order in which results come has no rounds");
    begin();
    for (uint32_t i = 0; i < 20000; i++) {
        one(0, 1, false);
        one(1, 0, true);
        one(2, 3, false);
        one(3, 2, true);
    }
    ok(!rounds_found(rounds), "pairs that never hear of one another have no rounds in common");
    begin();
    flush(8);
    ok(!rounds_found(rounds), "what repeats only for a while is less than a step, perhaps");
}

int main(void)
{
    test_pipeline();
    test_farm();
    test_none();
    rounds_free(rounds);
    boundary_free(boundary);
    return done_testing();
}
