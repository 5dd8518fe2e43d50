#include "gloo/message.h"

#include "gloo/collective.h"
#include "gloo/guest.h"
#include "probe/mix.h"
#include "probe/number.h"
#include "ring/hot.h"

#define PENDING 1024u /* posted, and not awaited; a power of two */
#define TRIES   8u

struct message {
    const struct gloo_buffer *buffer; /* NULL: free */
    struct ring_event event;
};

static struct message pending[PENDING];
static _Thread_local struct {
    struct message *message;
    struct ring_event *at; /* the call in progress */
    uint64_t since;
} self __attribute__((tls_model("initial-exec")));

static struct message *place(const struct gloo_buffer *buffer, uint32_t i)
{
    return &pending[(mix((uint64_t)(uintptr_t)buffer) + i) % PENDING];
}

static struct message *find_message(const struct gloo_buffer *buffer)
{
    for (uint32_t i = 0; i < TRIES; i++)
        if (place(buffer, i)->buffer == buffer)
            return place(buffer, i);
    return NULL;
}

static void set_number(struct ring_event *e)
{
    e->seq = number_count(number_of(number_key(e->comm, (uint32_t)e->root, e->tag, e->op == RING_OP_RECV)));
}

/* Until somebody waits for it. */
static void keep_message(const struct gloo_buffer *buffer, const struct ring_event *e)
{
    struct message *m = find_message(buffer);

    if (m)
        ring_message_missed(guest.ring); /* nobody waited for the one before in this buffer */
    for (uint32_t i = 0; i < TRIES && !m; i++)
        if (!place(buffer, i)->buffer)
            m = place(buffer, i);
    if (m)
        *m = (struct message){ buffer, *e };
    else
        ring_message_missed(guest.ring);
}

void message_posted(const struct gloo_buffer *buffer, enum ring_op op, int32_t peer, uint64_t tag,
                    uint64_t bytes)
{
    struct ring_event e = {
        .bytes = bytes, .root = peer, .op = (uint8_t)op, .flags = RING_EVENT_NONBLOCKING
    };
    struct group *g;

    if (!guest_lock())
        return;
    e.enter = ring_now(guest.ring);
    hot_p2p_posted(guest.ring, op == RING_OP_SEND ? bytes : 0);
    g = group_of_transport(buffer->transport.at);
    if (g && g->size == guest.world_size && tag <= INT32_MAX && peer < (int32_t)g->size) {
        collective_not(g, (uint32_t)tag);
        e.comm = g->name;
        e.tag = (int32_t)tag;
        if (peer >= 0)
            set_number(&e);
        keep_message(buffer, &e);
    } else {
        ring_message_missed(guest.ring);
    }
    guest_unlock();
}

bool message_await(const struct gloo_buffer *buffer, enum ring_op op)
{
    struct message *m;

    if (!guest_lock())
        return false;
    m = find_message(buffer);
    if (m && m->event.op == op) {
        self.message = m;
        self.since = ring_now(guest.ring);
        self.at = hot_enter_message(guest.ring, self.since, true, hot_message_new(&m->event));
    }
    guest_unlock();
    return self.message != NULL;
}

void message_awaited(int32_t peer, bool done)
{
    struct message *m = self.message;
    struct ring_event e;

    if (!m || !guest_lock())
        return;
    self.message = NULL;
    e = m->event;
    m->buffer = NULL;
    e.wait = self.since;
    e.leave = ring_now(guest.ring);
    if (e.root < 0 && peer >= 0 && peer < (int32_t)guest.world_size) {
        e.root = peer;
        set_number(&e);
    }
    if (hot_is_shown(guest.ring, self.at, self.since))
        ring_leave(guest.ring, e.leave);
    hot_add(&guest.ring->file->p2p_ticks, e.leave - e.wait);
    if (done && e.root >= 0 && guest_records())
        ring_emit(guest.ring, &e);
    guest_unlock();
}
