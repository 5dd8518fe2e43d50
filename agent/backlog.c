#include "agent/backlog.h"

#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

struct batch {
    void *data;
    size_t bytes;
    double acked_s; /* when it was acknowledged */
};

struct backlog {
    struct batch *ring; /* cap is a power of two; batch number n is at n % cap */
    size_t cap;
    uint64_t first, next; /* the batches held have numbers first to next - 1 */
    uint64_t acked;       /* last number acknowledged */
    uint64_t lost;
    size_t bytes, waiting, bytes_max;
    double keep_s;
};

struct backlog *backlog_new(uint64_t first, size_t bytes_max, double keep_s)
{
    struct backlog *b = xcalloc(1, sizeof(*b));

    b->cap = 64;
    b->ring = xcalloc(b->cap, sizeof(*b->ring));
    b->first = b->next = first;
    b->acked = first - 1;
    b->bytes_max = bytes_max;
    b->keep_s = keep_s;
    return b;
}

static struct batch *batch_at(const struct backlog *b, uint64_t batch)
{
    return &b->ring[batch & (b->cap - 1)];
}

static void drop_first(struct backlog *b)
{
    struct batch *old = batch_at(b, b->first);

    if (b->first > b->acked) {
        b->lost++;
        b->waiting -= old->bytes;
    }
    b->bytes -= old->bytes;
    free(old->data);
    *old = (struct batch){ 0 };
    b->first++;
}

void backlog_free(struct backlog *b)
{
    if (!b)
        return;
    while (b->first < b->next)
        drop_first(b);
    free(b->ring);
    free(b);
}

static void drop_expired(struct backlog *b, double now_s)
{
    while (b->first < b->next && b->first <= b->acked && batch_at(b, b->first)->acked_s + b->keep_s < now_s)
        drop_first(b);
}

void backlog_add(struct backlog *b, const void *data, size_t bytes, double now_s)
{
    struct batch new = { .data = xcalloc(1, bytes), .bytes = bytes }, *ring;

    memcpy(new.data, data, bytes);
    drop_expired(b, now_s);
    while (b->first < b->next && b->bytes + bytes > b->bytes_max)
        drop_first(b);
    if (b->next - b->first == b->cap) {
        ring = xcalloc(2 * b->cap, sizeof(*ring));
        for (uint64_t n = b->first; n < b->next; n++)
            ring[n & (2 * b->cap - 1)] = *batch_at(b, n);
        free(b->ring);
        b->ring = ring;
        b->cap *= 2;
    }
    *batch_at(b, b->next++) = new;
    b->bytes += bytes;
    b->waiting += bytes;
}

void backlog_ack(struct backlog *b, uint64_t batch, double now_s)
{
    if (batch >= b->next)
        return;
    for (; b->acked < batch; b->acked++) {
        if (b->acked + 1 < b->first)
            continue; /* dropped and counted as lost, but the controller had it after all */
        batch_at(b, b->acked + 1)->acked_s = now_s;
        b->waiting -= batch_at(b, b->acked + 1)->bytes;
    }
    drop_expired(b, now_s);
}

const void *backlog_get(const struct backlog *b, uint64_t batch, size_t *bytes)
{
    if (batch < b->first || batch >= b->next)
        return NULL;
    *bytes = batch_at(b, batch)->bytes;
    return batch_at(b, batch)->data;
}

void backlog_drop(struct backlog *b, uint64_t batch)
{
    while (b->first < b->next && b->first <= batch)
        drop_first(b);
}

uint64_t backlog_next(const struct backlog *b)
{
    return b->next;
}

uint64_t backlog_first(const struct backlog *b)
{
    return b->first;
}

uint64_t backlog_acked(const struct backlog *b)
{
    return b->acked;
}

uint64_t backlog_lost(const struct backlog *b)
{
    return b->lost;
}

size_t backlog_waiting_bytes(const struct backlog *b)
{
    return b->waiting;
}

size_t backlog_bytes(const struct backlog *b)
{
    return b->bytes;
}
