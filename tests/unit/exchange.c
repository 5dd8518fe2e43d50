/* What a job communicates, by its communicators and messages: patterns that placement knows, and what must
 * have no name. */
#include "calls/exchange.h"

#include "topology/pattern.h"
#include "tests/tap.h"

#define MB 1e6

static struct exchange_comm comm[256];
static struct exchange_message message[4096];
static struct exchange e;

static void begin(uint32_t ranks)
{
    e = (struct exchange){ .ranks = ranks, .comm = comm, .message = message };
}

static void group(uint32_t first, uint32_t size, uint32_t stride, double bytes)
{
    comm[e.n_comms++] = (struct exchange_comm){ first, size, stride, true, bytes };
}

static void inner(uint32_t size, double bytes)
{
    for (uint32_t first = 0; first < e.ranks; first += size)
        group(first, size, 1, bytes * size);
}

static void rails(uint32_t size, double bytes)
{
    for (uint32_t first = 0; first < e.ranks / size; first++)
        group(first, size, e.ranks / size, bytes * size);
}

static void world(double bytes)
{
    group(0, e.ranks, 1, bytes * e.ranks);
}

static void both_ways(uint32_t a, uint32_t b, double bytes)
{
    message[e.n_messages++] = (struct exchange_message){ a, b, bytes };
    message[e.n_messages++] = (struct exchange_message){ b, a, bytes };
}

static void chain(uint32_t distance, double bytes)
{
    for (uint32_t r = 0; r + distance < e.ranks; r++)
        both_ways(r, r + distance, bytes);
}

static void wants(const char *want, const char *what)
{
    char name[EXCHANGE_NAME_SIZE];
    struct pattern p = { .bytes = 1 };

    ok(exchange_name(&e, name) == (*want != '\0'), "%s: %s", what, *want ? "has a name" : "has no name");
    is_str(name, want, "%s", what);
    if (*want)
        ok(pattern_parse(&p, name, NULL) == 0 && pattern_check(&p, e.ranks, NULL) == 0,
           "%s: a pattern of as many ranks", what);
}

static void test_collectives(void)
{
    begin(8);
    wants("", "nothing is communicated");
    world(0);
    wants("", "barriers alone");
    begin(1);
    wants("", "one rank");
    begin(8);
    world(MB);
    wants("ring", "an all-reduce over all ranks");
    world(8);
    inner(4, 8);
    wants("ring", "an all-reduce over all, and a few bytes in groups");
    begin(8);
    inner(4, MB);
    wants("groups:4", "groups of 4 by themselves");
    rails(2, MB / 4);
    wants("groups:4", "groups of 4, and rails between them");
    world(MB / 10);
    wants("groups:4", "and all ranks");
    begin(12);
    inner(4, MB);
    e.n_comms--;
    wants("", "groups of 4 of which one is missing");
    begin(12);
    inner(4, MB);
    comm[2] = comm[1];
    wants("", "a group twice, and another not at all");
    begin(16);
    inner(4, MB);
    rails(8, MB);
    wants("", "groups and rails of sizes that do not belong together");
    begin(16);
    inner(4, MB);
    inner(2, MB);
    wants("", "groups of two sizes");
    begin(16);
    rails(4, MB);
    wants("", "rails alone");
    begin(16);
    for (uint32_t i = 0; i < 4; i++)
        group(4 * i, 4, 0, MB);
    wants("", "groups whose members are no row");
    begin(16);
    group(1, 4, 1, MB);
    wants("", "a group that begins elsewhere");
    begin(16);
    for (uint32_t i = 0; i < 8; i++)
        group(i < 4 ? i : i + 4, 2, 4, MB); /* tensor 4 x data 2 x pipeline 2 */
    inner(4, MB);
    wants("", "three dimensions of groups");
    begin(8);
    world(MB);
    comm[0].sums = false;
    wants("", "an all-to-all");
    world(MB);
    wants("", "an all-to-all beside an all-reduce");
}

static void test_messages(void)
{
    begin(8);
    chain(1, MB);
    wants("pipeline:8x1", "a chain");
    world(8);
    wants("pipeline:8x1", "a chain, and a few bytes among all");
    world(MB);
    wants("", "a chain beside an all-reduce");
    begin(8);
    chain(2, MB);
    inner(2, MB);
    wants("pipeline:4x2", "4 stages of 2 replicas, numbered by stages");
    rails(4, MB);
    wants("", "with rails, too");
    begin(8);
    chain(2, MB);
    wants("", "every second rank a neighbour, and no replicas to be seen");
    begin(8);
    chain(2, MB);
    inner(4, MB);
    wants("", "messages between others than the next groups");
    begin(8);
    for (uint32_t r = 0; r < 8; r++)
        if (r % 4 != 3)
            both_ways(r, r + 1, MB);
    rails(2, MB);
    wants("", "2 replicas of 4 stages, numbered by replicas");
    begin(8);
    chain(1, MB);
    both_ways(0, 7, MB);
    wants("ring", "a closed ring");
    world(MB);
    wants("ring", "a closed ring and an all-reduce");
    begin(64);
    chain(1, MB);
    both_ways(0, 63, MB);
    wants("ring", "a closed ring of 64, where one pair is a small share");
    begin(16);
    chain(1, MB);
    chain(4, MB);
    wants("", "a halo in two dimensions");
    begin(9);
    chain(1, MB);
    chain(2, MB / 4);
    wants("", "a halo two ranks wide");
    begin(9);
    chain(2, MB);
    inner(3, MB);
    wants("", "stages that do not divide the ranks");
    begin(8);
    for (uint32_t r = 1; r < 8; r++)
        both_ways(0, r, MB);
    wants("", "a farm");
    begin(8);
    chain(1, MB);
    message[2].bytes = message[3].bytes = 0;
    wants("", "a chain with a gap");
}

int main(void)
{
    test_collectives();
    test_messages();
    return done_testing();
}
