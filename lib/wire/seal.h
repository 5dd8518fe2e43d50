/* seal.h - encrypted and authenticated frames between two ends.
 *
 * Each end has a key pair of its own, which says who it is, and creates another for each connection.  One key
 * per direction comes of three exchanges by X25519 (between the connection's two pairs, and between each of
 * them and the other end's own), mixed by BLAKE2b: an end that lacks one of its two secrets cannot compute
 * it, and a secret that leaks later does not open what was sent before (as in the Noise protocol's pattern
 * XX: Perrin, The Noise Protocol Framework, 2018).  A frame is
 *     u32 length, little-endian, of what follows | XChaCha20-Poly1305 of (u8 type, data), 16 bytes of tag
 * with a counter per direction as nonce, so opening fails after a replayed, reordered, lost or altered frame.
 *
 * Pure: memory in, memory out. */
#ifndef SYNCGUARD_WIRE_SEAL_H
#define SYNCGUARD_WIRE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY_BYTES    32u
#define SEAL_LENGTH_BYTES 4u
/* bytes of a frame in addition to its data */
#define SEAL_OVERHEAD (SEAL_LENGTH_BYTES + 1u + 16u)

struct seal_pair {
    uint8_t public_key[SEAL_KEY_BYTES], secret_key[SEAL_KEY_BYTES];
};

struct seal {
    uint8_t tx_key[SEAL_KEY_BYTES], rx_key[SEAL_KEY_BYTES];
    uint64_t tx_count, rx_count;
};

int seal_pair_new(struct seal_pair *pair); /* -1: no random numbers available */
/* An end's key pairs, and the public ones of its peer. */
struct seal_end {
    const struct seal_pair *identity, *ephemeral;
};
struct seal_peer {
    uint8_t identity[SEAL_KEY_BYTES], ephemeral[SEAL_KEY_BYTES];
};
/* -1: one of the peer's keys is invalid. */
int seal_init(struct seal *s, const struct seal_end *end, const struct seal_peer *peer, bool accepting);
void seal_wipe(void *secret, size_t bytes);

/* Four bytes, little-endian. */
void seal_u32_put(uint8_t *p, uint32_t v);
uint32_t seal_u32_get(const uint8_t *p);

/* Write a frame of bytes + SEAL_OVERHEAD bytes to out. */
void seal_put(struct seal *s, uint8_t type, const void *data, size_t bytes, uint8_t *out);

/* Total bytes of the frame, from its first SEAL_LENGTH_BYTES; -1 when its data would not be 0 to data_max
 * bytes. */
int64_t seal_frame_bytes(const uint8_t *head, size_t data_max);
/* Open a whole frame in place: data points into it.  -1: not the peer's next frame. */
int seal_get(struct seal *s, uint8_t *frame, size_t frame_bytes, uint8_t *type, const uint8_t **data,
             size_t *bytes);

#endif
