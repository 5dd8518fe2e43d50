/* Numbers of messages: each stream counts by itself, a full table forgets what was unused longest. */
#include "probe/number.h"
#include "tests/tap.h"

static _Atomic uint64_t forgotten;

static void test_streams(void)
{
    uint64_t a = number_key(7, 3, 11, false), b = number_key(7, 3, 11, true), c = number_key(7, 4, 11, false),
             d = number_key(7, 3, 12, false), e = number_key(8, 3, 11, false);

    ok(a != b && a != c && a != d && a != e && a,
       "direction, peer, tag and communicator each make another stream");
    is_int(number_next(a), 0, "a stream begins with 0");
    is_int(number_next(a), 1, "a stream goes on with 1");
    is_int(number_next(b), 0, "receiving from the same peer is a stream of its own");
    is_int(number_next(c), 0, "another peer's stream begins with 0");
    is_int(number_next(a), 2, "a stream goes on after others were counted");
    number_undo(a, 2);
    is_int(number_next(a), 2, "the latest number is given back");
    number_undo(a, 1);
    is_int(number_next(a), 3, "an older number is not given back");
}

static void test_full(void)
{
    enum { STREAMS = 8000, MANY = 100000 };
    unsigned wrong = 0;

    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < STREAMS / 8; i++)
            wrong += number_next(number_key(100, i, 1, i & 1)) != round;
    is_int(wrong, 0, "1000 streams count at the same time");
    is_int((long long)forgotten, 0, "no stream is forgotten while there is room");

    /* a new tag for each step, beside one stream that is used in each */
    wrong = 0;
    for (int i = 0; i < MANY; i++)
        wrong += number_next(number_key(200, 1, i, false)) != 0 ||
                 number_next(number_key(200, 1, -1, true)) != (uint32_t)i;
    is_int(wrong, 0, "a stream in use keeps its count beside 100,000 that are used once");
    ok(forgotten > MANY / 2, "forgotten streams are counted");
}

int main(void)
{
    number_setup(&forgotten);
    test_streams();
    test_full();
    return done_testing();
}
