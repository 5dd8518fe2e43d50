#include "trace/sink.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/xalloc.h"
#include "wire/json.h"

#define STREAMS_MAX (1u << 20) /* records of further streams are written, but not counted */
#define RANKS_MAX   (1u << 24)

/* One rank's collectives in one communicator, or its messages of one stream. */
struct stream {
    int64_t first, last;
    uint64_t records;
};

struct trace {
    int fd;
    bool has_header;
    uint64_t records, bytes;
    struct map at; /* numbers of the streams */
    struct stream *stream;
    size_t n_streams, streams_cap;
    uint8_t *rank_seen;
    size_t rank_cap, ranks;
};

struct trace *trace_new(int fd)
{
    struct trace *t = xcalloc(1, sizeof(*t));

    t->fd = fd;
    return t;
}

void trace_free(struct trace *t)
{
    if (!t)
        return;
    map_free(&t->at);
    free(t->stream);
    free(t->rank_seen);
    free(t);
}

static void account_record(struct trace *t, const char *line, size_t bytes)
{
    json_t *record = json_loadb(line, bytes, JSON_DISABLE_EOF_CHECK, NULL);
    int64_t rank = json_get_int(record, "r", INT64_MIN + 1, INT64_MAX, INT64_MIN),
            seq = json_get_int(record, "s", 0, INT64_MAX, -1);
    const char *comm = json_get_string(record, "c"), *op = json_get_string(record, "o");
    /* what a message has besides: its direction, partner and tag */
    int64_t of[3] = { 0, json_get_int(record, "p", 0, INT64_MAX, -1),
                      json_get_int(record, "g", 0, INT64_MAX, -1) };
    struct stream *s;
    uint64_t key;
    uint32_t at;

    t->records++;
    if (rank == INT64_MIN || !comm || seq < 0)
        goto out;
    of[0] = of[1] >= 0 && op && !strcmp(op, "send");
    key = hash_bytes(hash_bytes(HASH_START, &rank, sizeof(rank)), comm, strlen(comm));
    key = hash_bytes(key, of, sizeof(of));
    at = map_get(&t->at, key);
    if (at == MAP_NONE) {
        if (t->n_streams >= STREAMS_MAX)
            goto out;
        at = (uint32_t)t->n_streams++;
        map_put(&t->at, key, at);
        t->stream = xgrow(t->stream, &t->streams_cap, t->n_streams, sizeof(*t->stream));
        t->stream[at] = (struct stream){ .first = seq, .last = seq };
        if (rank >= 0 && rank < RANKS_MAX) {
            t->rank_seen = xgrow(t->rank_seen, &t->rank_cap, (size_t)rank + 1, 1);
            t->ranks += !t->rank_seen[rank];
            t->rank_seen[rank] = 1;
        }
    }
    s = &t->stream[at];
    s->first = seq < s->first ? seq : s->first;
    s->last = seq > s->last ? seq : s->last;
    s->records++;
out:
    json_decref(record);
}

static int write_whole(struct trace *t, const char *text, size_t bytes, struct err *err)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t n = write(t->fd, text + done, bytes - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            int why = errno;
            off_t end = lseek(t->fd, 0, SEEK_CUR);

            /* Remove the torn line, which is possible in a file, not in a pipe. */
            if (end >= (off_t)done && ftruncate(t->fd, end - (off_t)done) == 0)
                lseek(t->fd, end - (off_t)done, SEEK_SET);
            return err_set(err, "cannot write the trace: %s", strerror(why));
        }
        done += (size_t)n;
    }
    t->bytes += bytes;
    return 0;
}

int trace_put(struct trace *t, const char *text, size_t bytes, struct err *err)
{
    static const char header[] = "{\"format\":";
    const char *from = text, *end = text + bytes;

    if (!bytes)
        return 0;
    if (end[-1] != '\n')
        return err_set(err, "the controller sent a torn line");
    for (const char *line = text, *next; line < end; line = next) {
        next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        if ((size_t)(next - line) <= sizeof(header) || memcmp(line, header, sizeof(header) - 1) != 0) {
            account_record(t, line, (size_t)(next - line));
            continue;
        }
        if (t->has_header) {
            if (write_whole(t, from, (size_t)(line - from), err) < 0)
                return -1;
            from = next;
        }
        t->has_header = true;
    }
    return write_whole(t, from, (size_t)(end - from), err);
}

struct trace_counts trace_counts_get(const struct trace *t)
{
    struct trace_counts c = { .records = t->records, .bytes = t->bytes, .ranks = t->ranks };

    for (size_t i = 0; i < t->n_streams; i++) {
        const struct stream *s = &t->stream[i];
        uint64_t span = (uint64_t)s->last - (uint64_t)s->first + 1;

        c.lost += span > s->records ? span - s->records : 0;
    }
    return c;
}
