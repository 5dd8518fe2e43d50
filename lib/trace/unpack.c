#include "trace/unpack.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/xalloc.h"

#define PACKED_BYTES (64u << 10) /* of the file, at a time */
#define TAR_MAGIC_AT 257u
#define GZIP_WINDOW  (15 + 16) /* the largest window, in gzip's frame */

struct unpack {
    FILE *in;
    bool begun, packed, torn, over;
    unsigned char *buf; /* of the file, PACKED_BYTES */
    size_t bytes, at;   /* in buf, and how many of them are used */
    uint64_t read;      /* of the file, in buf and before it */
    uint64_t unpacked;
    bool inside; /* of a member */
    bool opened; /* z is to be closed */
    z_stream z;
};

/* What is often given, and is not read. */
static const struct {
    const char *magic;
    size_t bytes;
    const char *what, *command;
} others[] = {
    { "\x28\xb5\x2f\xfd", 4, "compressed with zstd", "zstd -dk" },
    { "\xfd"
      "7zXZ\0",
      6, "compressed with xz", "xz -dk" },
    { "BZh", 3, "compressed with bzip2", "bzip2 -dk" },
    { "PK\3\4", 4, "a zip archive", "unzip" },
};

struct unpack *unpack_new(FILE *in)
{
    struct unpack *u = xcalloc(1, sizeof(*u));

    u->in = in;
    u->buf = xcalloc(PACKED_BYTES, 1);
    return u;
}

void unpack_free(struct unpack *u)
{
    if (!u)
        return;
    if (u->opened)
        inflateEnd(&u->z);
    free(u->buf);
    free(u);
}

bool unpack_is_packed(const struct unpack *u)
{
    return u->packed;
}

bool unpack_torn(const struct unpack *u)
{
    return u->torn;
}

/* ---- what it is ---- */

static int refuse(const void *data, size_t bytes, struct err *err)
{
    const char *text = data;

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (bytes >= others[i].bytes && !memcmp(text, others[i].magic, others[i].bytes))
            return err_set(err, "it is %s: unpack it first, with %s", others[i].what, others[i].command);
    if (bytes > TAR_MAGIC_AT + 5 && !memcmp(text + TAR_MAGIC_AT, "ustar", 5) && !strchr("{[ \t\r\n", text[0]))
        return err_set(err,
                       "it is an archive of files: unpack it first, with tar -xf, and give the files in it");
    return 0;
}

/* Bytes of the file into buf, behind those that are left there. */
static int fill(struct unpack *u, struct err *err)
{
    size_t n;

    memmove(u->buf, u->buf + u->at, u->bytes - u->at);
    u->bytes -= u->at;
    u->at = 0;
    n = fread(u->buf + u->bytes, 1, PACKED_BYTES - u->bytes, u->in);
    u->bytes += n;
    u->read += n;
    return !n && ferror(u->in) ? err_set(err, "%s", errno ? strerror(errno) : "it cannot be read") : 0;
}

static int begin(struct unpack *u, struct err *err)
{
    u->begun = true;
    if (fill(u, err) < 0 || refuse(u->buf, u->bytes, err) < 0)
        return -1;
    u->packed = u->bytes >= 2 && u->buf[0] == 0x1f && u->buf[1] == 0x8b;
    if (!u->packed)
        return 0;
    if (inflateInit2(&u->z, GZIP_WINDOW) != Z_OK)
        return err_set(err, "it cannot be unpacked: %s", u->z.msg ? u->z.msg : "no memory");
    u->opened = u->inside = true;
    return 0;
}

/* ---- reading ---- */

static size_t read_plain(struct unpack *u, char *data, size_t bytes)
{
    size_t n = u->bytes - u->at < bytes ? u->bytes - u->at : bytes;

    memcpy(data, u->buf + u->at, n);
    u->at += n;
    return n;
}

/* Behind a member: another one, or nothing but zeros, which tapes and block devices add. */
static int next_member(struct unpack *u, struct err *err)
{
    const unsigned char *at = u->buf + u->at;
    size_t n = u->bytes - u->at;

    if (n >= 2 && at[0] == 0x1f && at[1] == 0x8b) {
        if (inflateReset(&u->z) != Z_OK)
            return err_set(err, "it cannot be unpacked: %s", u->z.msg ? u->z.msg : "no memory");
        u->inside = true;
        return 0;
    }
    for (; n; n--)
        if (*at++)
            return err_set(err, "what stands behind its compressed data, at byte %llu, is not compressed",
                           (unsigned long long)(u->read - n + 1));
    u->at = u->bytes;
    return 0;
}

/* Whatever comes of the bytes in buf: how many bytes; -1 with the reason. */
static int64_t inflate_some(struct unpack *u, char *data, size_t bytes, struct err *err)
{
    size_t room = bytes < INT_MAX ? bytes : INT_MAX, n;
    int rc;

    u->z.next_in = u->buf + u->at;
    u->z.avail_in = (uInt)(u->bytes - u->at);
    u->z.next_out = (Bytef *)data;
    u->z.avail_out = (uInt)room;
    rc = inflate(&u->z, Z_NO_FLUSH);
    u->at = u->bytes - u->z.avail_in;
    n = room - u->z.avail_out;
    u->unpacked += n;
    if (rc == Z_STREAM_END)
        u->inside = false;
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return err_set(err, "its compressed data is damaged at about byte %llu: %s",
                       (unsigned long long)(u->read - u->z.avail_in),
                       u->z.msg ? u->z.msg : "it cannot be unpacked");
    if (u->unpacked > UNPACK_BYTES_MAX)
        return err_set(err, "it has more than %llu GiB when it is unpacked",
                       (unsigned long long)(UNPACK_BYTES_MAX >> 30));
    return (int64_t)n;
}

int64_t unpack_read(struct unpack *u, char *data, size_t bytes, struct err *err)
{
    size_t n = 0;

    if (!u->begun && begin(u, err) < 0)
        return -1;
    while (n < bytes && !u->over) {
        bool ended;

        /* what begins a member is looked at as a whole */
        if ((u->at == u->bytes || (u->packed && !u->inside && u->bytes - u->at < 2)) && fill(u, err) < 0)
            return -1;
        ended = u->at == u->bytes;
        if (ended && !u->inside) {
            u->over = true;
        } else if (!u->packed) {
            n += read_plain(u, data + n, bytes - n);
        } else if (!u->inside) {
            if (next_member(u, err) < 0)
                return -1;
        } else {
            int64_t some = inflate_some(u, data + n, bytes - n, err);

            if (some < 0)
                return -1;
            n += (size_t)some;
            u->over = u->torn = ended && !some && u->inside; /* zlib may have held bytes back until then */
        }
    }
    /* an archive that was compressed as a whole */
    if (u->packed && u->unpacked == n && n && refuse(data, n, err) < 0)
        return -1;
    return (int64_t)n;
}
