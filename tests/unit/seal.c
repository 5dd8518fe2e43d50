/* Sealed frames open once, in order, unaltered, at the other end only. */
#include "tests/tap.h"
#include "wire/seal.h"

static struct seal a, b;

static void meet(void)
{
    struct seal_pair ka, kb;

    ok(!seal_pair_new(&ka) && !seal_pair_new(&kb) && !seal_init(&a, &ka, kb.public_key, false) &&
           !seal_init(&b, &kb, ka.public_key, true),
       "both ends derive the same keys");
}

static bool opens(struct seal *s, const uint8_t *frame, size_t n, const char *want)
{
    uint8_t copy[128], type;
    const uint8_t *data;
    size_t bytes;

    memcpy(copy, frame, n);
    return !seal_get(s, copy, n, &type, &data, &bytes) && type == 2 && bytes == strlen(want) &&
           !memcmp(data, want, bytes);
}

int main(void)
{
    static const uint8_t zero[SEAL_KEY_BYTES];
    uint8_t one[SEAL_OVERHEAD + 3], two[SEAL_OVERHEAD + 3], back[SEAL_OVERHEAD + 3], bad[SEAL_OVERHEAD + 3];
    struct seal_pair k;
    bool any = false;

    meet();
    seal_put(&a, 2, "one", 3, one);
    seal_put(&a, 2, "two", 3, two);
    seal_put(&b, 2, "bck", 3, back);
    is_int(seal_frame_bytes(one, 100), sizeof(one), "the first bytes of a frame give its length");
    for (size_t i = 0; i < sizeof(one) * 8; i++) {
        memcpy(bad, one, sizeof(bad));
        bad[i / 8] ^= (uint8_t)(1u << (i % 8));
        any |= opens(&b, bad, sizeof(bad), "one");
    }
    ok(!any, "a frame with any one bit altered does not open");
    ok(!opens(&b, two, sizeof(two), "two"), "a frame does not open before its turn");
    ok(!opens(&a, one, sizeof(one), "one"), "a frame does not open at the end that sealed it");
    ok(opens(&b, one, sizeof(one), "one"), "the first frame opens");
    ok(!opens(&b, one, sizeof(one), "one"), "a frame does not open a second time");
    ok(opens(&b, two, sizeof(two), "two"), "the second frame opens after the first");
    ok(opens(&a, back, sizeof(back), "bck"), "a frame in the other direction opens");

    ok(seal_frame_bytes((const uint8_t *)"\x10\0\0\0", 100) < 0,
       "a length without room for the tag is rejected");
    ok(seal_frame_bytes((const uint8_t *)"\x11\0\0\0", 0) == 21,
       "the length of the smallest frame is 21 bytes");
    ok(seal_frame_bytes((const uint8_t *)"\x12\0\0\0", 0) < 0, "a frame longer than the limit is rejected");
    ok(seal_frame_bytes((const uint8_t *)"\xff\xff\xff\xff", 1 << 20) < 0, "a frame of 4 GiB is rejected");
    seal_pair_new(&k);
    ok(seal_init(&a, &k, zero, false) < 0, "a peer's key of zeros is rejected");
    return done_testing();
}
