#include "agent/outbox.h"

#include <stdlib.h>
#include <time.h>

#include "common/xalloc.h"

struct outbox {
    struct backlog *to;
    struct telemetry_writer writer;
    uint8_t data[TELEMETRY_BATCH_MAX];
};

struct outbox *outbox_new(struct backlog *to)
{
    struct outbox *b = xcalloc(1, sizeof(*b));

    b->to = to;
    telemetry_begin(&b->writer, b->data, sizeof(b->data));
    return b;
}

void outbox_free(struct outbox *b)
{
    free(b);
}

void outbox_flush(struct outbox *b)
{
    struct timespec t;
    size_t bytes;

    if (!b->writer.items)
        return;
    clock_gettime(CLOCK_MONOTONIC, &t);
    bytes = telemetry_end(&b->writer, backlog_next(b->to),
                          (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
    backlog_add(b->to, b->data, bytes, (double)t.tv_sec);
    telemetry_begin(&b->writer, b->data, sizeof(b->data));
}

void outbox_put(struct outbox *b, const struct telemetry_item *item)
{
    if (telemetry_put(&b->writer, item) == 0)
        return;
    outbox_flush(b);
    telemetry_put(&b->writer, item);
}
