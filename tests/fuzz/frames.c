/* A stream of bytes as the frames of a link: bounded, and only what the peer sealed opens. The first byte
 * says how many frames really come from the peer before the stranger's bytes. */
#include <stdlib.h>
#include <string.h>

#include "common/hosts.h"
#include "wire/seal.h"

#define DATA_MAX 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct seal writer, reader;

static void setup(void)
{
    struct seal_pair a, b;
    struct seal_end ends[2] = { { &a, &a }, { &b, &b } };
    struct seal_peer peers[2];

    if (seal_pair_new(&a) || seal_pair_new(&b))
        abort();
    memcpy(peers[0].identity, a.public_key, SEAL_KEY_BYTES);
    memcpy(peers[0].ephemeral, a.public_key, SEAL_KEY_BYTES);
    memcpy(peers[1].identity, b.public_key, SEAL_KEY_BYTES);
    memcpy(peers[1].ephemeral, b.public_key, SEAL_KEY_BYTES);
    if (seal_init(&writer, &ends[0], &peers[1], false) || seal_init(&reader, &ends[1], &peers[0], true))
        abort();
}

static void read_frames(uint8_t *p, size_t left, unsigned want)
{
    const uint8_t *body;
    unsigned n = 0;
    uint8_t type;
    size_t len;

    while (left >= SEAL_LENGTH_BYTES) {
        int64_t total = seal_frame_bytes(p, DATA_MAX);

        if (total < 0 || (size_t)total > left)
            break;
        if (seal_get(&reader, p, (size_t)total, &type, &body, &len) < 0)
            break;
        if (type != 1 || len != n)
            abort();
        n++;
        p += total;
        left -= (size_t)total;
    }
    if (n != want)
        abort();
}

static void read_hosts(const uint8_t *data, size_t bytes)
{
    char *text = malloc(bytes + 1);
    struct host h;

    memcpy(text, data, bytes);
    text[bytes] = '\0';
    if (hosts_pick(text, bytes ? data[0] : 0, 6825, &h, NULL) > 0 &&
        (h.port < 1 || h.port > 65535 || !h.name[0]))
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const uint8_t zeros[16];
    unsigned real = bytes ? data[0] % 4 : 0;
    uint8_t *stream = malloc(bytes + 4 * (SEAL_OVERHEAD + 4)), *p = stream;

    setup();
    for (unsigned i = 0; i < real; i++, p += SEAL_OVERHEAD + i - 1)
        seal_put(&writer, 1, zeros, i, p);
    if (bytes) {
        memcpy(p, data + 1, bytes - 1);
        p += bytes - 1;
    }
    read_frames(stream, (size_t)(p - stream), real);
    free(stream);
    read_hosts(data, bytes);
    return 0;
}
