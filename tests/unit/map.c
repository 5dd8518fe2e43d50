/* A map finds what was put there, also among keys that were chosen to meet in one place. */
#include "common/map.h"

#include "common/hash.h"
#include "tests/tap.h"

/* The number that hash_mix() makes x of. */
static uint64_t unmix(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * 0x319642b2d24d8ec3u;
    x = (x ^ x >> 27 ^ x >> 54) * 0x96de1b173f119089u;
    return x ^ x >> 30 ^ x >> 60;
}

static void basics(void)
{
    struct map m = { 0 };

    is_int(map_get(&m, 7), MAP_NONE, "an empty map has nothing");
    map_put(&m, 7, 1);
    map_put(&m, 0, 2);
    map_put(&m, UINT64_MAX, 3);
    map_put(&m, 7, 4);
    ok(m.n == 3 && map_get(&m, 7) == 4 && map_get(&m, 0) == 2 && map_get(&m, UINT64_MAX) == 3,
       "a key's newest number is found");
    is_int(map_get(&m, 8), MAP_NONE, "a key that was not put there is not found");
    map_clear(&m);
    ok(!m.n && map_get(&m, 7) == MAP_NONE, "a map that was cleared is empty");
    map_free(&m);
}

/* Half a million keys that hash_mix() gives the same lower 32 bits: each look at all of them would take
 * minutes. */
static void chosen(void)
{
    enum { KEYS = 500000 };
    struct map m = { 0 };
    uint32_t found = 0;

    for (uint32_t i = 0; i < KEYS; i++)
        map_put(&m, unmix((uint64_t)i << 32), i);
    for (uint32_t i = 0; i < KEYS; i++)
        found += hash_mix(unmix((uint64_t)i << 32)) == (uint64_t)i << 32 &&
                 map_get(&m, unmix((uint64_t)i << 32)) == i;
    is_int(found, KEYS, "all keys are found that were chosen to meet in one place");
    is_int(map_get(&m, unmix((uint64_t)KEYS << 32)), MAP_NONE, "one more such key is not there");
    map_free(&m);
}

int main(void)
{
    basics();
    chosen();
    return done_testing();
}
