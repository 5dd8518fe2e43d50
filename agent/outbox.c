#include "agent/outbox.h"

#include <stdlib.h>

#include "common/now.h"
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
    uint64_t now = now_ns();
    size_t bytes;

    if (!b->writer.items)
        return;
    bytes = telemetry_end(&b->writer, backlog_state_get(b->to)->next, now);
    backlog_add(b->to, b->data, bytes, (double)now * 1e-9);
    telemetry_begin(&b->writer, b->data, sizeof(b->data));
}

void outbox_put(struct outbox *b, const struct telemetry_item *item)
{
    if (telemetry_put(&b->writer, item) == 0)
        return;
    outbox_flush(b);
    telemetry_put(&b->writer, item);
}
