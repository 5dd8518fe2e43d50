/* reader.c - the agent's end of a ring.  See ring.h, layout.h.  The job's user owns the file and may write
 * anything into it.  Sizes are checked when it is opened and each time it is read, positions are bounded, and
 * strings are terminated.  A malicious writer only gets wrong figures. */
#include "ring/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/clock.h"
#include "ring/seqlock.h"

/* Accessing a file that was truncated would raise SIGBUS. */
static bool still_whole(const struct ring *r)
{
    struct stat st;

    return r->fd < 0 || (fstat(r->fd, &st) == 0 && (uint64_t)st.st_size >= r->bytes);
}

/* Checks a copy that was read, not mapped, so that it cannot change after the check. */
static int header_read(int fd, struct ring_header *h)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -1;
    if (S_ISREG(st.st_mode) && pread(fd, h, sizeof(*h), 0) == (ssize_t)sizeof(*h) && h->magic == RING_MAGIC &&
        h->version == RING_VERSION && ring_capacity_ok(h->capacity) &&
        h->file_bytes == ring_file_bytes(h->capacity) && h->file_bytes == (uint64_t)st.st_size &&
        h->comms_offset == ring_comms_offset() && h->events_offset == ring_events_offset() &&
        (h->clock == RING_CLOCK_MONOTONIC || (h->clock == RING_CLOCK_COUNTER && CLOCK_HAVE_COUNTER)))
        return 0;
    errno = EPROTO;
    return -1;
}

struct ring *ring_open(const char *path, bool peek)
{
    struct ring_header h;
    struct ring *r = calloc(1, sizeof(*r));
    void *map;
    int saved;

    if (!r)
        return NULL;
    /* O_NONBLOCK: a FIFO in place of the ring must not block. */
    r->fd = open(path, (peek ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (r->fd < 0 || header_read(r->fd, &h) < 0)
        goto fail;
    r->peek = peek;
    r->bytes = ring_file_bytes(h.capacity);
    r->clock = (enum ring_clock)h.clock;
    map = mmap(NULL, r->bytes, PROT_READ | (peek ? 0 : PROT_WRITE), MAP_SHARED, r->fd, 0);
    if (map == MAP_FAILED)
        goto fail;
    ring_place(r, map, h.capacity);
    r->tail = atomic_load_explicit(&h.tail, memory_order_relaxed);
    return r;
fail:
    saved = errno;
    ring_close(r);
    errno = saved;
    return NULL;
}

void ring_close(struct ring *r)
{
    if (!r)
        return;
    if (r->file)
        munmap(r->file, r->bytes);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}

/* Copy n events from position, in at most two pieces. */
static void copy_out(const struct ring *r, uint64_t position, struct ring_event *out, size_t n)
{
    size_t at = (size_t)(position & r->mask), first = (size_t)r->mask + 1 - at;

    if (first > n)
        first = n;
    memcpy(out, &r->events[at], first * sizeof(*out));
    memcpy(out + first, r->events, (n - first) * sizeof(*out));
}

/* The writer may overtake a reader that only peeks: drop from out what it may have overwritten meanwhile. */
static size_t drop_overtaken(const struct ring *r, uint64_t position, struct ring_event *out, size_t n)
{
    uint64_t head = atomic_load_explicit(&r->file->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&r->file->tail, memory_order_acquire);
    uint64_t behind = head - position, lost = 0;

    if (behind > r->mask && tail != position &&
        tail - position <= behind) /* otherwise these slots are not free for the writer yet */
        lost = behind - r->mask;
    if (lost >= n)
        return 0;
    memmove(out, out + lost, (n - lost) * sizeof(*out));
    return n - lost;
}

size_t ring_drain(struct ring *r, struct ring_event *out, size_t max)
{
    uint64_t head, tail, n;

    if (!still_whole(r))
        return 0;
    head = atomic_load_explicit(&r->file->head, memory_order_acquire);
    tail = r->peek || r->hold ? r->tail : atomic_load_explicit(&r->file->tail, memory_order_relaxed);
    n = head - tail;
    if (n > r->mask + 1) { /* impossible positions: read what the ring can hold */
        n = r->mask + 1;
        tail = head - n;
    }
    if (n > max)
        n = max;
    copy_out(r, tail, out, n);
    r->tail = tail + n;
    if (r->peek)
        return drop_overtaken(r, tail, out, n);
    if (!r->hold || head - atomic_load_explicit(&r->file->tail, memory_order_relaxed) > r->mask / 4)
        ring_release(r);
    return n;
}

void ring_hold(struct ring *r)
{
    r->hold = true;
}

void ring_release(struct ring *r)
{
    if (!still_whole(r))
        return;
    atomic_store_explicit(&r->file->tail, r->tail, memory_order_release);
}

/* Of the n events before position `end`, the newest. */
static size_t copy_before(const struct ring *r, uint64_t end, uint64_t n, struct ring_event *out, size_t max)
{
    if (n > end)
        n = end;
    if (n > max)
        n = max;
    copy_out(r, end - n, out, n);
    return drop_overtaken(r, end - n, out, n);
}

size_t ring_past(const struct ring *r, struct ring_event *out, size_t max)
{
    uint64_t waiting;

    if (!still_whole(r))
        return 0;
    waiting = atomic_load_explicit(&r->file->head, memory_order_acquire) - r->tail;
    return waiting > r->mask ? 0 : copy_before(r, r->tail, r->mask - waiting, out, max);
}

size_t ring_last(const struct ring *r, struct ring_event *out, size_t max)
{
    if (!still_whole(r))
        return 0;
    return copy_before(r, atomic_load_explicit(&r->file->head, memory_order_acquire), r->mask + 1, out, max);
}

void ring_retire(struct ring *r)
{
    if (r->peek || !still_whole(r))
        return;
    /* Dropping pages saves memory; a file system that cannot do it does no harm. */
    if (fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)ring_events_offset(),
                  (off_t)(ring_file_bytes((uint32_t)r->mask + 1) - ring_events_offset())) < 0)
        return;
}

void ring_relax(struct ring *r)
{
    madvise(r->file, r->bytes, MADV_DONTNEED);
}

static void copy_text(char *out, const char *in, size_t size)
{
    memcpy(out, in, size);
    out[size - 1] = 0;
}

void ring_info_get(const struct ring *r, struct ring_info *info)
{
    const struct ring_header *h = r->file;
    uint32_t state;

    memset(info, 0, sizeof(*info));
    if (!still_whole(r))
        return;
    info->capacity = (uint32_t)r->mask + 1;
    info->rank = h->rank;
    info->incarnation = h->incarnation;
    info->thread = h->thread;
    info->task = h->task;
    info->world_rank = h->world_rank;
    info->world_size = h->world_size;
    info->pid = h->pid;
    info->clock = r->clock;
    state = atomic_load_explicit(&h->state, memory_order_acquire);
    info->state = state == RING_STATE_FINALIZED || state == RING_STATE_ABORTED ? (enum ring_state)state
                                                                               : RING_STATE_RUNNING;
    copy_text(info->program, h->program, sizeof(info->program));
    copy_text(info->library, h->library, sizeof(info->library));
    copy_text(info->topology, h->topology, sizeof(info->topology));
}

void ring_counts_get(const struct ring *r, struct ring_counts *counts)
{
    struct ring_header *h = r->file;

    memset(counts, 0, sizeof(*counts));
    if (!still_whole(r))
        return;
    counts->events = atomic_load_explicit(&h->head, memory_order_relaxed);
    counts->dropped = atomic_load_explicit(&h->dropped, memory_order_relaxed);
    counts->missed = atomic_load_explicit(&h->missed, memory_order_relaxed);
    counts->messages_missed = atomic_load_explicit(&h->messages_missed, memory_order_relaxed);
    counts->streams_forgotten = atomic_load_explicit(&h->streams_forgotten, memory_order_relaxed);
    counts->comms_missed = atomic_load_explicit(&h->comms_missed, memory_order_relaxed);
    counts->p2p_calls = atomic_load_explicit(&h->p2p_calls, memory_order_relaxed);
    counts->p2p_bytes = atomic_load_explicit(&h->p2p_bytes, memory_order_relaxed);
    counts->p2p_ticks = atomic_load_explicit(&h->p2p_ticks, memory_order_relaxed);
}

/* The fields that a call in progress has, and when it ended.  enter comes last, see hot_begin(). */
static struct ring_event event_read(const struct ring_event *at)
{
    struct ring_event e = { .leave = __atomic_load_n(&at->leave, __ATOMIC_ACQUIRE),
                            .comm = __atomic_load_n(&at->comm, __ATOMIC_ACQUIRE),
                            .bytes = __atomic_load_n(&at->bytes, __ATOMIC_ACQUIRE),
                            .seq = __atomic_load_n(&at->seq, __ATOMIC_ACQUIRE),
                            .root = __atomic_load_n(&at->root, __ATOMIC_ACQUIRE),
                            .tag = __atomic_load_n(&at->tag, __ATOMIC_ACQUIRE),
                            .op = __atomic_load_n(&at->op, __ATOMIC_ACQUIRE),
                            .flags = __atomic_load_n(&at->flags, __ATOMIC_ACQUIRE),
                            .awaits = __atomic_load_n(&at->awaits, __ATOMIC_ACQUIRE) };

    e.enter = __atomic_load_n(&at->enter, __ATOMIC_ACQUIRE);
    return e;
}

static void live_inside(struct ring_live *live, const struct ring_event *e)
{
    /* see hot_enter_message() */
    bool message = ring_op_is_message(e->op), waits = e->op == RING_OP_WAIT && !e->flags;
    uint8_t of = message ? e->op : e->awaits;

    if (waits)
        *live = (struct ring_live){ .enter = e->enter, .op = RING_OP_WAIT };
    else
        *live = (struct ring_live){ .comm = e->comm,
                                    .enter = e->enter,
                                    .bytes = e->bytes,
                                    .seq = message ? 0 : e->seq,
                                    .op = message ? RING_OP_POINT_TO_POINT : e->op,
                                    .flags = e->flags };
    if ((message || waits) && ring_op_is_message(of) && e->root >= 0) {
        live->message = of;
        live->peer = (uint32_t)e->root;
        live->tag = e->tag;
    }
}

/* entered 0: the last call ended without an event; otherwise its event is the newest. */
static void live_outside(struct ring_live *live, const struct ring *r, uint64_t entered, uint64_t head)
{
    const struct ring_header *h = r->file;
    struct ring_event newest = event_read(&r->events[(head - 1) & r->mask]);

    *live = (struct ring_live){ .enter = entered ? newest.leave
                                                 : atomic_load_explicit(&h->left, memory_order_acquire) };
    if (entered && !ring_op_is_pairwise(newest.op) && !(newest.flags & RING_EVENT_NONBLOCKING)) {
        live->comm = newest.comm;
        live->seq = newest.seq;
    } else {
        live->comm = atomic_load_explicit(&h->last_comm, memory_order_acquire);
        live->seq = atomic_load_explicit(&h->last_seq, memory_order_acquire);
    }
}

bool ring_live_get(const struct ring *r, struct ring_live *live)
{
    const struct ring_header *h = r->file;

    if (!still_whole(r))
        return false;
    for (int i = 0; i < 1000; i++) {
        uint64_t entered = atomic_load_explicit(&h->entered, memory_order_acquire);
        uint64_t left = atomic_load_explicit(&h->left, memory_order_acquire);
        uint64_t head = atomic_load_explicit(&h->head, memory_order_acquire);
        struct ring_event next = event_read(&r->events[head & r->mask]);

        if (entered && next.enter == entered) {
            /* While a place has the enter of the call in progress, its other fields are that call's.  But a
             * later event may have the same enter, that of a nonblocking collective which was posted then:
             * `entered` has changed before it is written. */
            if (atomic_load_explicit(&h->entered, memory_order_relaxed) != entered)
                continue;
            live_inside(live, &next);
            return true;
        }
        live_outside(live, r, entered, head);
        if (atomic_load_explicit(&h->head, memory_order_relaxed) == head &&
            atomic_load_explicit(&h->entered, memory_order_relaxed) == entered &&
            atomic_load_explicit(&h->left, memory_order_relaxed) == left)
            return true;
    }
    return false;
}

bool ring_marks_get(const struct ring *r, struct marks_figures *f)
{
    return still_whole(r) && marks_get(&r->file->marks, f);
}

static uint32_t low(uint64_t word)
{
    return (uint32_t)word;
}

static uint32_t high(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

size_t ring_comms_get(const struct ring *r, uint64_t *seen, struct ring_comm out[RING_COMMS_MAX])
{
    uint64_t changes, word[RING_PLACE_WORDS];
    size_t n = 0;

    if (!still_whole(r))
        return 0;
    changes = atomic_load_explicit(&r->file->comms, memory_order_acquire);
    if (changes == *seen)
        return 0;
    for (uint16_t i = 0; i < RING_COMMS_MAX; i++) {
        /* What is being written now comes with the next call. */
        if (!seqlock_read(&r->comms[i].version, r->comms[i].word, word, RING_PLACE_WORDS) ||
            word[RING_PLACE_CHANGED] <= *seen || word[RING_PLACE_CHANGED] > changes)
            continue;
        out[n++] = (struct ring_comm){ .name = word[RING_PLACE_NAME],
                                       .membership = word[RING_PLACE_MEMBERSHIP],
                                       .size = low(word[RING_PLACE_SIZE]),
                                       .rank = high(word[RING_PLACE_SIZE]),
                                       .first = low(word[RING_PLACE_FIRST]),
                                       .last = high(word[RING_PLACE_FIRST]),
                                       .flags = low(word[RING_PLACE_FLAGS]),
                                       .instance = high(word[RING_PLACE_FLAGS]),
                                       .place = i,
                                       .freed = word[RING_PLACE_CHANGED] != word[RING_PLACE_DESCRIBED] };
    }
    *seen = changes;
    if (!r->peek)
        atomic_store_explicit(&r->file->comms_seen, changes, memory_order_relaxed);
    return n;
}
