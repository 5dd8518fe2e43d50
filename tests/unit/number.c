/* Numbers of messages: each stream counts by itself, a full table forgets what was unused longest. */
#include <stdlib.h>
#include <string.h>

#include "probe/number.h"
#include "tests/tap.h"

static _Atomic uint64_t forgotten;

static void test_streams(void)
{
    uint64_t a = number_key(7, 3, 11, false), b = number_key(7, 3, 11, true), c = number_key(7, 4, 11, false),
             d = number_key(7, 3, 12, false), e = number_key(8, 3, 11, false);

    ok(a != b && a != c && a != d && a != e && a,
       "direction, peer, tag and communicator each make another stream");
    is_int(number_count(number_of(a)), 0, "a stream begins with 0");
    is_int(number_count(number_of(a)), 1, "a stream goes on with 1");
    is_int(number_count(number_of(b)), 0, "receiving from the same peer is a stream of its own");
    is_int(number_count(number_of(c)), 0, "another peer's stream begins with 0");
    is_int(number_count(number_of(a)), 2, "a stream goes on after others were counted");
    number_undo(a, 2);
    is_int(number_count(number_of(a)), 2, "the latest number is given back");
    number_undo(a, 1);
    is_int(number_count(number_of(a)), 3, "an older number is not given back");
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Peers and tags come in regular patterns: neighbours in a grid, tags with fields of bits. */
static void test_keys(void)
{
    enum { PEERS = 64, TAGS = 64, KEYS = 2 * PEERS * TAGS, LINES = NUMBER_STREAMS / NUMBER_WAYS };
    static const uint32_t strides[] = { 1, 16, 1000, 1 << 16 };
    static uint64_t key[KEYS];

    for (size_t s = 0; s < sizeof(strides) / sizeof(*strides); s++) {
        static unsigned in_line[LINES];
        unsigned same = 0, most = 0;

        memset(in_line, 0, sizeof(in_line));
        for (uint32_t i = 0; i < KEYS; i++) {
            key[i] = number_key(0x5bd1e995u, i / 2 % PEERS * strides[s],
                                (int32_t)(i / 2 / PEERS * strides[s]), i & 1);
            unsigned n = ++in_line[number_line(key[i]) - number_lines];

            most = n > most ? n : most;
        }
        qsort(key, KEYS, sizeof(*key), by_key);
        for (uint32_t i = 1; i < KEYS; i++)
            same += key[i] == key[i - 1];
        is_int(same, 0, "no two streams have the same key, peers and tags %u apart", strides[s]);
        /* two in a line on average; the largest of as many Poisson counts is about 10 */
        ok(most <= 12, "no line has more than 12 of %d streams, peers and tags %u apart\n%u", KEYS,
           strides[s], most);
    }
}

/* What a line's first stream costs, further ones exceed. */
static void test_few(void)
{
    enum { PEERS = 8, TAGS = 8, KEYS = 2 * PEERS * TAGS };
    static unsigned in_line[NUMBER_STREAMS / NUMBER_WAYS];
    unsigned most = 0;

    for (uint32_t i = 0; i < KEYS; i++) {
        uint64_t key = number_key(0x5bd1e995u, i / 2 % PEERS, (int32_t)(i / 2 / PEERS), i & 1);
        unsigned n = ++in_line[number_line(key) - number_lines];

        most = n > most ? n : most;
    }
    is_int(most, 1, "each of %d streams with few peers and tags, both ways, has a line of its own", KEYS);
}

static void test_full(void)
{
    enum { STREAMS = 8000, MANY = 100000 };
    unsigned wrong = 0;

    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < STREAMS / 8; i++)
            wrong += number_count(number_of(number_key(100, i, 1, i & 1))) != round;
    is_int(wrong, 0, "1000 streams count at the same time");
    is_int((long long)forgotten, 0, "no stream is forgotten while there is room");

    /* a new tag for each step, beside one stream that is used in each */
    wrong = 0;
    for (int i = 0; i < MANY; i++)
        wrong += number_count(number_of(number_key(200, 1, i, false))) != 0 ||
                 number_count(number_of(number_key(200, 1, -1, true))) != (uint32_t)i;
    is_int(wrong, 0, "a stream in use keeps its count beside 100,000 that are used once");
    ok(forgotten > MANY / 2, "forgotten streams are counted");
}

int main(void)
{
    number_setup(&forgotten);
    test_streams();
    test_keys();
    test_few();
    test_full();
    return done_testing();
}
