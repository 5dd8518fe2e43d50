/* layout.h - the layout of a ring's file; private to ring/, the probe, gloo/ and nccl/.
 *
 *   0      struct ring_header: constant fields, then one cache line each for the fields that the writer, any
 *          thread and the reader change, to avoid false sharing
 *   4096   RING_COMMS_MAX struct ring_place
 *   ...    capacity struct ring_event
 *
 * Every field that changes after creation is atomic.  Little-endian only: both ends are on one node.
 *
 * The call in progress is at events[head], the place of its event, which the writer completes and publishes
 * when the call ends.  So that this place is always free, at most capacity - 1 events wait for the reader.  A
 * reader takes it for a call in progress only while its enter equals the header's entered, before and after
 * reading it: enter is the first field that the writer stores there, entered the last, and a later event may
 * have the enter of an earlier call. */
#ifndef SYNCGUARD_RING_LAYOUT_H
#define SYNCGUARD_RING_LAYOUT_H

#include <stdatomic.h>

#include "ring/ring.h"

#define RING_MAGIC        0x52474e52474e5953u /* "SYNGRNGR" */
#define RING_VERSION      5u
#define RING_CAPACITY_MIN 64u
#define RING_CAPACITY_MAX (1u << 20)
#define RING_CACHE_LINE   64
#define RING_PAGE         4096u

/* The word of a place ... */
enum ring_place_word {
    RING_PLACE_CHANGED,   /* ring_header.comms when it was described or freed; 0: never */
    RING_PLACE_DESCRIBED, /* when it was described */
    RING_PLACE_NAME,
    RING_PLACE_MEMBERSHIP,
    RING_PLACE_SIZE,  /* and, in the upper half, rank */
    RING_PLACE_FIRST, /* and last */
    RING_PLACE_FLAGS, /* and instance */
    RING_PLACE_WORDS
};
/* ... of a communicator: one cache line, which reader and writer may touch at the same time (seqlock.h). */
struct ring_place {
    _Atomic uint64_t version, word[RING_PLACE_WORDS];
};
_Static_assert(sizeof(struct ring_place) == RING_CACHE_LINE, "a place is a cache line");

struct ring_header {
    uint64_t magic;
    uint32_t version, capacity;
    uint64_t file_bytes, comms_offset, events_offset;
    uint32_t rank, incarnation, thread, task, world_rank, world_size;
    int32_t pid;
    uint32_t clock;
    char program[64], library[64], topology[128];

    /* the writer's */
    _Alignas(RING_CACHE_LINE) _Atomic uint64_t head; /* events written so far */
    _Atomic uint64_t dropped, p2p_calls, p2p_bytes, p2p_ticks;
    _Atomic uint64_t comms; /* communicators described and freed so far, together */
    _Atomic uint32_t state;
    _Atomic uint64_t entered; /* the last call, in ticks; 0: it ended without an event, at `left` */
    _Alignas(RING_CACHE_LINE) _Atomic uint64_t left;
    /* the last collective, where the newest event is none that a call has just left */
    _Atomic uint64_t last_comm;
    _Atomic uint32_t last_seq;

    /* any thread's */
    _Alignas(RING_CACHE_LINE) _Atomic uint64_t missed;
    _Atomic uint64_t messages_missed, streams_forgotten, comms_missed;

    /* the reader's */
    _Alignas(RING_CACHE_LINE) _Atomic uint64_t tail; /* events taken so far */
    _Atomic uint64_t comms_seen;                     /* of comms */

    /* a guest's that sees phases of steps; of an earlier release's probe all zero, that is none */
    _Alignas(RING_CACHE_LINE) struct marks_page marks;
};
_Static_assert(sizeof(struct ring_header) <= RING_PAGE, "the header is a page");
_Static_assert(2 * RING_PAGE + RING_COMMS_MAX * sizeof(struct ring_place) +
                       RING_CAPACITY_MAIN * sizeof(struct ring_event) <=
                   RING_MAIN_BYTES,
               "a main ring fits into the bytes that the plugin asks for");

static inline uint64_t ring_comms_offset(void)
{
    return RING_PAGE;
}

static inline uint64_t ring_events_offset(void)
{
    uint64_t comms_bytes = RING_COMMS_MAX * sizeof(struct ring_place);

    return ring_comms_offset() + (comms_bytes + RING_PAGE - 1) / RING_PAGE * RING_PAGE;
}

static inline uint64_t ring_file_bytes(uint32_t capacity)
{
    return ring_events_offset() + capacity * sizeof(struct ring_event);
}

static inline bool ring_capacity_ok(uint32_t capacity)
{
    return capacity >= RING_CAPACITY_MIN && capacity <= RING_CAPACITY_MAX && (capacity & (capacity - 1)) == 0;
}

struct ring {
    struct ring_header *file;
    struct ring_event *events;
    struct ring_place *comms;
    uint64_t mask; /* capacity - 1 */
    size_t bytes;
    int fd; /* reader only; -1 */
    bool peek;
    bool hold; /* reader: drained events stay until ring_release() */
    enum ring_clock clock;

    uint64_t head;                  /* writer: its own copy */
    struct ring_event *place;       /* writer: where event number head goes */
    uint64_t full, full_of_message; /* writer: head at which nothing fits, or no message, see hot_room() */
    uint64_t tail;                  /* peek, hold: our own position */
    uint64_t p2p_ticks, p2p_calls;  /* writer: the header's totals at the last collective */
    bool unnamed;    /* writer: the newest event is a blocking collective that the header does not name yet */
    uint16_t places; /* writer: that communicators have had so far ... */
    /* ... and of them those that are free, in the order of freeing */
    uint16_t freed[RING_COMMS_MAX], freed_first, n_freed;
};

/* The ring is in this mapped file. */
static inline void ring_place(struct ring *r, void *map, uint32_t capacity)
{
    r->file = map;
    r->comms = (struct ring_place *)((char *)map + ring_comms_offset());
    r->events = (struct ring_event *)((char *)map + ring_events_offset());
    r->mask = capacity - 1;
    r->place = r->events;
}

#endif
