#include "wire/seal.h"

#include <string.h>

#include <sodium.h>

#define TAG_BYTES   crypto_aead_xchacha20poly1305_ietf_ABYTES
#define NONCE_BYTES crypto_aead_xchacha20poly1305_ietf_NPUBBYTES

_Static_assert(SEAL_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key of the cipher");
_Static_assert(SEAL_KEY_BYTES == crypto_kx_PUBLICKEYBYTES && SEAL_KEY_BYTES == crypto_kx_SESSIONKEYBYTES,
               "keys of the exchange");
_Static_assert(SEAL_OVERHEAD == SEAL_LENGTH_BYTES + 1 + TAG_BYTES, "length, type and tag");

void seal_u32_put(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

uint32_t seal_u32_get(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void nonce_of(uint64_t count, uint8_t nonce[NONCE_BYTES])
{
    memset(nonce, 0, NONCE_BYTES);
    for (int i = 0; i < 8; i++)
        nonce[i] = (uint8_t)(count >> (8 * i));
}

int seal_pair_new(struct seal_pair *pair)
{
    if (sodium_init() < 0)
        return -1;
    return crypto_kx_keypair(pair->public_key, pair->secret_key);
}

/* Goes into both directions' keys besides the exchange of the connection's pairs; connecting end first. */
struct mix {
    /* each end's identity with the other's ephemeral key */
    uint8_t connecting[crypto_scalarmult_BYTES], accepting[crypto_scalarmult_BYTES];
    uint8_t public_key[4][SEAL_KEY_BYTES];
};

static void mix_key(uint8_t key[SEAL_KEY_BYTES], const struct mix *mix)
{
    uint8_t old[SEAL_KEY_BYTES];

    memcpy(old, key, sizeof(old));
    crypto_generichash(key, SEAL_KEY_BYTES, (const uint8_t *)mix, sizeof(*mix), old, sizeof(old));
    sodium_memzero(old, sizeof(old));
}

int seal_init(struct seal *s, const struct seal_end *end, const struct seal_peer *peer, bool accepting)
{
    const struct seal_pair *identity = end->identity, *ephemeral = end->ephemeral;
    struct mix mix = { 0 };
    int rc;

    memset(s, 0, sizeof(*s));
    if (accepting)
        rc = crypto_kx_server_session_keys(s->rx_key, s->tx_key, ephemeral->public_key, ephemeral->secret_key,
                                           peer->ephemeral);
    else
        rc = crypto_kx_client_session_keys(s->rx_key, s->tx_key, ephemeral->public_key, ephemeral->secret_key,
                                           peer->ephemeral);
    if (rc == 0)
        rc = crypto_scalarmult(accepting ? mix.accepting : mix.connecting, identity->secret_key,
                               peer->ephemeral);
    if (rc == 0)
        rc = crypto_scalarmult(accepting ? mix.connecting : mix.accepting, ephemeral->secret_key,
                               peer->identity);
    memcpy(mix.public_key[accepting ? 2 : 0], identity->public_key, SEAL_KEY_BYTES);
    memcpy(mix.public_key[accepting ? 3 : 1], ephemeral->public_key, SEAL_KEY_BYTES);
    memcpy(mix.public_key[accepting ? 0 : 2], peer->identity, SEAL_KEY_BYTES);
    memcpy(mix.public_key[accepting ? 1 : 3], peer->ephemeral, SEAL_KEY_BYTES);
    mix_key(s->rx_key, &mix);
    mix_key(s->tx_key, &mix);
    sodium_memzero(&mix, sizeof(mix));
    return rc == 0 ? 0 : -1;
}

void seal_wipe(void *secret, size_t bytes)
{
    sodium_memzero(secret, bytes);
}

void seal_put(struct seal *s, uint8_t type, const void *data, size_t bytes, uint8_t *out)
{
    uint8_t nonce[NONCE_BYTES], *body = out + SEAL_LENGTH_BYTES;

    seal_u32_put(out, (uint32_t)(bytes + 1 + TAG_BYTES));
    body[0] = type;
    if (bytes)
        memcpy(body + 1, data, bytes);
    nonce_of(s->tx_count++, nonce);
    crypto_aead_xchacha20poly1305_ietf_encrypt(body, NULL, body, bytes + 1, out, SEAL_LENGTH_BYTES, NULL,
                                               nonce, s->tx_key);
}

int64_t seal_frame_bytes(const uint8_t *head, size_t data_max)
{
    uint32_t n = seal_u32_get(head);

    if (n < 1 + TAG_BYTES || n - 1 - TAG_BYTES > data_max)
        return -1;
    return (int64_t)n + SEAL_LENGTH_BYTES;
}

int seal_get(struct seal *s, uint8_t *frame, size_t frame_bytes, uint8_t *type, const uint8_t **data,
             size_t *bytes)
{
    uint8_t nonce[NONCE_BYTES], *body = frame + SEAL_LENGTH_BYTES;

    if (frame_bytes < SEAL_OVERHEAD || seal_u32_get(frame) != frame_bytes - SEAL_LENGTH_BYTES)
        return -1;
    nonce_of(s->rx_count, nonce);
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(body, NULL, NULL, body, frame_bytes - SEAL_LENGTH_BYTES,
                                                   frame, SEAL_LENGTH_BYTES, nonce, s->rx_key) < 0)
        return -1;
    s->rx_count++;
    *type = body[0];
    *data = body + 1;
    *bytes = frame_bytes - SEAL_OVERHEAD;
    return 0;
}
