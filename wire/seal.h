/* seal.h - frames that only the two ends can write and read.
 *
 * Each end makes a key pair for one connection; both public keys give one key a direction (X25519 and
 * BLAKE2b, libsodium's crypto_kx).  A frame is
 *     u32 length, little-endian, of what follows | XChaCha20-Poly1305 of (u8 type, data), 16 bytes of tag
 * with a counter a direction as nonce, so a replayed, reordered, lost or altered frame does not open.
 *
 * Pure: memory in, memory out. */
#ifndef SYNCGUARD_WIRE_SEAL_H
#define SYNCGUARD_WIRE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEAL_KEY_BYTES    32u
#define SEAL_LENGTH_BYTES 4u
#define SEAL_OVERHEAD     (SEAL_LENGTH_BYTES + 1u + 16u) /* a frame is this much longer than its data */

struct seal_pair {
    uint8_t public_key[SEAL_KEY_BYTES], secret_key[SEAL_KEY_BYTES];
};

struct seal {
    uint8_t tx_key[SEAL_KEY_BYTES], rx_key[SEAL_KEY_BYTES];
    uint64_t tx_count, rx_count;
};

int seal_pair_new(struct seal_pair *pair); /* -1: no randomness */
/* -1: the peer's key is none. */
int seal_init(struct seal *s, const struct seal_pair *own, const uint8_t peer[SEAL_KEY_BYTES],
              bool accepting);
void seal_wipe(void *secret, size_t bytes);

/* Write a frame of bytes + SEAL_OVERHEAD bytes to out. */
void seal_put(struct seal *s, uint8_t type, const void *data, size_t bytes, uint8_t *out);

/* The whole frame's bytes from its first SEAL_LENGTH_BYTES; -1 when its data could not be 0 to data_max
 * bytes. */
int64_t seal_frame_bytes(const uint8_t *head, size_t data_max);
/* Open a whole frame in place: data points into it.  -1: not the peer's next frame. */
int seal_get(struct seal *s, uint8_t *frame, size_t frame_bytes, uint8_t *type, const uint8_t **data,
             size_t *bytes);

#endif
