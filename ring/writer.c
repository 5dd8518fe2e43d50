/* writer.c - the probe's end of a ring.  See ring.h, layout.h.
 * This runs inside users' programs, so everything that can fail does so in ring_create(). */
#include "ring/hot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring/clock.h"
#include "ring/shared.h"

#define INCARNATIONS_MAX 4096u /* MPI programs that one task runs in turn; further ones are not guarded */

/* Give the complete file its name, so that a reader never sees half a header.  Thread 0 takes the first free
 * incarnation; other threads use that of thread 0. */
static int file_publish(const char *dir, const char *temporary, struct ring *r, struct ring_info *info)
{
    char path[PATH_MAX];

    for (;;) {
        r->file->incarnation = info->incarnation;
        if (shared_path(path, "%s/%u.%u.%u.ring", dir, info->rank, info->incarnation, info->thread) < 0)
            return -1;
        if (link(temporary, path) == 0)
            return 0;
        if (errno != EEXIST || info->thread != 0 || ++info->incarnation >= INCARNATIONS_MAX)
            return -1;
    }
}

static void header_fill(struct ring_header *h, struct ring_info *info, uint32_t capacity)
{
    info->capacity = capacity;
    info->pid = getpid();
    info->clock = clock_choose();
    info->state = RING_STATE_RUNNING;

    h->magic = RING_MAGIC;
    h->version = RING_VERSION;
    h->capacity = capacity;
    h->file_bytes = ring_file_bytes(capacity);
    h->comms_offset = ring_comms_offset();
    h->events_offset = ring_events_offset();
    h->rank = info->rank;
    h->thread = info->thread;
    h->task = info->task;
    h->world_rank = info->world_rank;
    h->world_size = info->world_size;
    h->pid = info->pid;
    h->clock = info->clock;
    snprintf(h->program, sizeof(h->program), "%s", info->program);
    snprintf(h->library, sizeof(h->library), "%s", info->library);
    snprintf(h->topology, sizeof(h->topology), "%s", info->topology);
    atomic_store_explicit(&h->state, info->state, memory_order_relaxed);
}

struct ring *ring_create(const char *dir, struct ring_info *info, uint32_t capacity)
{
    char temporary[PATH_MAX];
    struct ring *r;
    void *map;
    int fd, saved;

    if (!ring_capacity_ok(capacity)) {
        errno = EINVAL;
        return NULL;
    }
    if (info->thread == 0)
        info->incarnation = 0;
    if (shared_path(temporary, "%s/.%u.%u.%ld.tmp", dir, info->rank, info->thread, (long)getpid()) < 0)
        return NULL;
    r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->fd = -1;
    r->bytes = ring_file_bytes(capacity);
    fd = shared_make(temporary, r->bytes);
    if (fd < 0)
        goto fail;
    map = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        goto fail;
    ring_place(r, map, capacity);
    header_fill(r->file, info, capacity);
    r->clock = info->clock;
    if (file_publish(dir, temporary, r, info) < 0)
        goto fail;
    unlink(temporary);
    close(fd);
    return r;
fail:
    saved = errno;
    if (fd >= 0) {
        unlink(temporary);
        close(fd);
    }
    ring_close(r);
    errno = saved;
    return NULL;
}

uint64_t ring_now(const struct ring *r)
{
    return clock_read(r->clock);
}

void ring_emit(struct ring *r, const struct ring_event *e)
{
    if (ring_op_is_message(e->op))
        hot_message(r, e);
    else
        hot_emit(r, e);
}

static bool is_message(uint16_t op)
{
    return op == RING_OP_POINT_TO_POINT || op == RING_OP_WAIT;
}

void ring_enter(struct ring *r, const struct ring_live *live)
{
    if (is_message(live->op))
        hot_enter_message(r, live);
    else
        hot_enter(r, live);
}

void ring_leave(struct ring *r, uint64_t now)
{
    uint64_t what = atomic_load_explicit(&r->file->live_what, memory_order_relaxed);

    if (is_message((uint16_t)(what >> 32)))
        hot_leave_message(r, now);
    else
        hot_leave(r, (uint32_t)what, now);
}

void ring_p2p(struct ring *r, uint64_t bytes, uint64_t ticks)
{
    hot_p2p(r, bytes, ticks);
}

void ring_missed(struct ring *r)
{
    atomic_fetch_add_explicit(&r->file->missed, 1, memory_order_relaxed);
}

void ring_message_missed(struct ring *r)
{
    atomic_fetch_add_explicit(&r->file->messages_missed, 1, memory_order_relaxed);
}

int ring_comm_add(struct ring *r, const struct ring_comm *c)
{
    uint32_t n = atomic_load_explicit(&r->file->comms, memory_order_relaxed);

    if (n >= RING_COMMS_MAX)
        return -1;
    r->comms[n] = *c;
    atomic_store_explicit(&r->file->comms, n + 1, memory_order_release);
    return 0;
}

void ring_state_set(struct ring *r, enum ring_state state)
{
    atomic_store_explicit(&r->file->state, state, memory_order_release);
}
