/* Sealed frames open once, in order, unaltered, at the other end only. */
#include "tests/tap.h"
#include "wire/seal.h"

static struct seal a, b;

/* Two ends, each with an identity and a pair for the connection. */
static struct seal_pair pairs[2][2];

static struct seal_end end_of(int i)
{
    return (struct seal_end){ .identity = &pairs[i][0], .ephemeral = &pairs[i][1] };
}

static struct seal_peer peer_of(int i)
{
    struct seal_peer p;

    memcpy(p.identity, pairs[i][0].public_key, SEAL_KEY_BYTES);
    memcpy(p.ephemeral, pairs[i][1].public_key, SEAL_KEY_BYTES);
    return p;
}

/* Whether both derive the same keys, if each takes the other for the end of these public keys. */
static bool agree(const struct seal_peer *as_a, const struct seal_peer *as_b)
{
    struct seal_end ends[2] = { end_of(0), end_of(1) };

    return !seal_init(&a, &ends[0], as_b, false) && !seal_init(&b, &ends[1], as_a, true) &&
           !memcmp(a.tx_key, b.rx_key, SEAL_KEY_BYTES) && !memcmp(a.rx_key, b.tx_key, SEAL_KEY_BYTES);
}

static void meet(void)
{
    struct seal_peer peers[2], other;
    struct seal_pair k;

    for (int i = 0; i < 4; i++)
        seal_pair_new(&pairs[i / 2][i % 2]);
    peers[0] = peer_of(0);
    peers[1] = peer_of(1);
    seal_pair_new(&k);
    for (int i = 0; i < 2; i++) { /* the bearer of a credential must have its secret key */
        other = peers[i];
        memcpy(other.identity, k.public_key, SEAL_KEY_BYTES);
        ok(!agree(i ? &peers[0] : &other, i ? &other : &peers[1]),
           "end %d with another's public key gets other keys", i);
    }
    ok(agree(&peers[0], &peers[1]), "both ends derive the same keys");
    ok(memcmp(a.tx_key, a.rx_key, SEAL_KEY_BYTES), "each direction has its own key");
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
    uint8_t one[SEAL_OVERHEAD + 3], two[SEAL_OVERHEAD + 3], back[SEAL_OVERHEAD + 3], bad[SEAL_OVERHEAD + 3];
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
    for (int i = 0; i < 2; i++) {
        struct seal_end end = end_of(0);
        struct seal_peer peer = peer_of(1);

        memset(i ? peer.identity : peer.ephemeral, 0, SEAL_KEY_BYTES);
        ok(seal_init(&a, &end, &peer, false) < 0, "a peer's %s key of zeros is rejected",
           i ? "own" : "connection's");
    }
    return done_testing();
}
