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
    struct backlog_state state;
    size_t bytes, bytes_max; /* held, and at most */
    double keep_s;
};

struct backlog *backlog_new(uint64_t first, size_t bytes_max, double keep_s)
{
    struct backlog *b = xcalloc(1, sizeof(*b));

    b->cap = 64;
    b->ring = xcalloc(b->cap, sizeof(*b->ring));
    b->state.first = b->state.next = first;
    b->state.acked = first - 1;
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
    struct batch *old = batch_at(b, b->state.first);

    if (b->state.first > b->state.acked) {
        b->state.lost++;
        b->state.waiting_bytes -= old->bytes;
    }
    b->bytes -= old->bytes;
    free(old->data);
    *old = (struct batch){ 0 };
    b->state.first++;
}

void backlog_free(struct backlog *b)
{
    if (!b)
        return;
    while (b->state.first < b->state.next)
        drop_first(b);
    free(b->ring);
    free(b);
}

static void drop_expired(struct backlog *b, double now_s)
{
    while (b->state.first < b->state.next && b->state.first <= b->state.acked &&
           batch_at(b, b->state.first)->acked_s + b->keep_s < now_s)
        drop_first(b);
}

void backlog_add(struct backlog *b, const void *data, size_t bytes, double now_s)
{
    struct batch new = { .data = xcalloc(1, bytes), .bytes = bytes }, *ring;

    memcpy(new.data, data, bytes);
    drop_expired(b, now_s);
    while (b->state.first < b->state.next && b->bytes + bytes > b->bytes_max)
        drop_first(b);
    if (b->state.next - b->state.first == b->cap) {
        ring = xcalloc(2 * b->cap, sizeof(*ring));
        for (uint64_t n = b->state.first; n < b->state.next; n++)
            ring[n & (2 * b->cap - 1)] = *batch_at(b, n);
        free(b->ring);
        b->ring = ring;
        b->cap *= 2;
    }
    *batch_at(b, b->state.next++) = new;
    b->bytes += bytes;
    b->state.waiting_bytes += bytes;
}

void backlog_ack(struct backlog *b, uint64_t batch, double now_s)
{
    if (batch >= b->state.next)
        return;
    for (; b->state.acked < batch; b->state.acked++) {
        if (b->state.acked + 1 < b->state.first)
            continue; /* dropped and counted as lost, but the controller had it after all */
        batch_at(b, b->state.acked + 1)->acked_s = now_s;
        b->state.waiting_bytes -= batch_at(b, b->state.acked + 1)->bytes;
    }
    drop_expired(b, now_s);
}

const void *backlog_get(const struct backlog *b, uint64_t batch, size_t *bytes)
{
    if (batch < b->state.first || batch >= b->state.next)
        return NULL;
    *bytes = batch_at(b, batch)->bytes;
    return batch_at(b, batch)->data;
}

void backlog_drop(struct backlog *b, uint64_t batch)
{
    while (b->state.first < b->state.next && b->state.first <= batch)
        drop_first(b);
}

const struct backlog_state *backlog_state_get(const struct backlog *b)
{
    return &b->state;
}
