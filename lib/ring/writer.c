/* writer.c - the probe's end of a ring.  See ring.h, layout.h.
 * This runs inside users' programs, so everything that can fail does so in ring_create(). */
#include "ring/hot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring/clock.h"
#include "ring/seqlock.h"
#include "ring/shared.h"

/* MPI programs that one task runs in turn; further ones are not guarded */
#define INCARNATIONS_MAX 4096u

/* Give the complete file its name, so that a reader never sees half a header.  Thread 0 takes the first
 * incarnation that is free, from info's on; other threads use that of thread 0. */
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

static void name_last(struct ring *r, const struct ring_event *e)
{
    atomic_store_explicit(&r->file->last_comm, e->comm, memory_order_release);
    atomic_store_explicit(&r->file->last_seq, e->seq, memory_order_release);
    r->unnamed = false;
}

bool ring_room(struct ring *r, const uint64_t *full)
{
    uint64_t tail = atomic_load_explicit(&r->file->tail, memory_order_acquire);

    r->full = tail + r->mask;
    r->full_of_message = r->full - r->mask / 4;
    return r->head < *full;
}

void ring_keep_last(struct ring *r)
{
    name_last(r, &r->events[(r->head - 1) & r->mask]);
}

void ring_emit(struct ring *r, const struct ring_event *e)
{
    if (e->op == RING_OP_ACCESS)
        hot_access(r, e);
    else if (ring_op_is_message(e->op))
        hot_message(r, e);
    else
        hot_collective(r, e);
}

void ring_leave(struct ring *r, uint64_t now)
{
    const struct ring_event *at = hot_place(r);
    bool collective = at->op > RING_OP_NONE && at->op < RING_OP_POINT_TO_POINT;

    if (collective && at->enter == atomic_load_explicit(&r->file->entered, memory_order_relaxed))
        name_last(r, at);
    hot_left(r, now);
}

void ring_drop(struct ring *r, uint64_t now)
{
    hot_add(&r->file->dropped, 1);
    ring_leave(r, now);
}

void ring_missed(struct ring *r)
{
    atomic_fetch_add_explicit(&r->file->missed, 1, memory_order_relaxed);
}

void ring_message_missed(struct ring *r)
{
    atomic_fetch_add_explicit(&r->file->messages_missed, 1, memory_order_relaxed);
}

static uint64_t pair(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static void place_write(struct ring *r, struct ring_place *p, uint64_t *word)
{
    uint64_t changes = atomic_load_explicit(&r->file->comms, memory_order_relaxed) + 1;

    word[RING_PLACE_CHANGED] = changes;
    if (!word[RING_PLACE_DESCRIBED])
        word[RING_PLACE_DESCRIBED] = changes;
    seqlock_write(&p->version, p->word, word, RING_PLACE_WORDS);
    atomic_store_explicit(&r->file->comms, changes, memory_order_release);
}

int ring_comm_add(struct ring *r, const struct ring_comm *c)
{
    uint64_t word[RING_PLACE_WORDS] = {
        [RING_PLACE_NAME] = c->name,
        [RING_PLACE_MEMBERSHIP] = c->membership,
        [RING_PLACE_SIZE] = pair(c->size, c->rank),
        [RING_PLACE_FIRST] = pair(c->first, c->last),
        [RING_PLACE_FLAGS] = pair(c->flags, c->instance),
    };
    int place;

    if (r->places < RING_COMMS_MAX) {
        place = r->places++;
    } else if (r->n_freed) {
        place = r->freed[r->freed_first];
        r->freed_first = (r->freed_first + 1) % RING_COMMS_MAX;
        r->n_freed--;
        if (atomic_load_explicit(&r->comms[place].word[RING_PLACE_DESCRIBED], memory_order_relaxed) >
            atomic_load_explicit(&r->file->comms_seen, memory_order_relaxed))
            atomic_fetch_add_explicit(&r->file->comms_missed, 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&r->file->comms_missed, 1, memory_order_relaxed);
        return -1;
    }
    place_write(r, &r->comms[place], word);
    return place;
}

void ring_comm_end(struct ring *r, int place)
{
    uint64_t word[RING_PLACE_WORDS];

    if (place < 0)
        return;
    for (size_t i = 0; i < RING_PLACE_WORDS; i++)
        word[i] = atomic_load_explicit(&r->comms[place].word[i], memory_order_relaxed);
    place_write(r, &r->comms[place], word);
    r->freed[(r->freed_first + r->n_freed++) % RING_COMMS_MAX] = (uint16_t)place;
}

void ring_state_set(struct ring *r, enum ring_state state)
{
    atomic_store_explicit(&r->file->state, state, memory_order_release);
}
