/* number.h - numbers the messages of a rank, so that both ends of a message give it the same number without
 * communicating.
 *
 * A stream is what MPI keeps in order: the messages that one rank sends to another on one communicator with
 * one tag. The sender counts a message when it has posted the send.  The receiver counts when it has posted
 * the receive, if that names source and tag: receives of one stream match its messages in the order of
 * posting, in whatever order they complete. A call that the library refused, or that an error handler jumped
 * out of, counts none. A receive with a wildcard is counted when it completes, because its stream is not
 * known earlier.  Two cases give two messages of a stream each other's numbers: wildcard receives that
 * complete in separate calls in another order than they were posted, and a wildcard receive that is overtaken
 * by a later receive that names the same stream.
 *
 * Counting goes on while recording is off.  The table has a fixed size and no locks.  When it is full, the
 * stream of its line that was unused longest is forgotten, and counted as such; it would start from 0 again.
 * A program with a new tag for each step loses nothing by this. */
#ifndef SYNCGUARD_PROBE_NUMBER_H
#define SYNCGUARD_PROBE_NUMBER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NUMBER_STREAMS 16384u

/* One line of the processor's cache: finding a stream loads nothing else. */
#define NUMBER_WAYS 4u
struct number_line {
    struct number_stream {
        _Atomic uint64_t key; /* 0: free */
        _Atomic uint32_t next, used;
    } way[NUMBER_WAYS];
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct number_line) == 64, "a line is a cache line");

extern struct number_line number_lines[NUMBER_STREAMS / NUMBER_WAYS] __attribute__((visibility("hidden")));
/* Counts new streams, and orders by them the uses of all. */
extern _Atomic uint32_t number_clock __attribute__((visibility("hidden")));

/* Count forgotten streams here, instead of nowhere. */
void number_setup(_Atomic uint64_t *forgotten);

/* A stream of this rank: peer is the other rank.  Names of communicators are hashes, so 0 is as improbable as
 * that two streams have the same key.  Both halves of the factor spread their bits over the upper ones, which
 * select the line. */
static inline uint64_t number_key(uint64_t comm, uint32_t peer, int32_t tag, bool received)
{
    uint64_t peer_tag = ((uint64_t)peer << 1 | received) << 32 | (uint32_t)tag;

    return comm + peer_tag * 0x6487ed51c2b2ae35u;
}

static inline struct number_line *number_line(uint64_t key)
{
    return &number_lines[key >> 52];
}
_Static_assert(NUMBER_STREAMS / NUMBER_WAYS == 1u << (64 - 52), "the key selects each line");

/* Find or begin any stream.  NULL where another thread took the place at the same time. */
struct number_stream *number_search(uint64_t key);

/* Where the next message of a stream is counted: looked up before a call, counted after it. */
struct number {
    uint64_t key; /* 0: there is no message, or its stream is not known yet */
    struct number_stream *stream;
};

/* Most lines have one stream. */
static inline struct number number_of(uint64_t key)
{
    struct number_stream *s = number_line(key)->way;

    if (__builtin_expect(atomic_load_explicit(&s->key, memory_order_relaxed) != key, 0))
        s = number_search(key);
    return (struct number){ key, s };
}

static inline uint32_t number_next(struct number n)
{
    return n.stream ? atomic_load_explicit(&n.stream->next, memory_order_relaxed) : 0;
}

/* The number of the next message, from 0.  MPI orders the messages of a stream only where the program orders
 * its calls, so no atomic addition is needed.  The stream may have been given up for another meanwhile. */
static inline uint32_t number_count(struct number n)
{
    struct number_stream *s = n.stream;
    uint32_t next;

    if (__builtin_expect(!s || atomic_load_explicit(&s->key, memory_order_relaxed) != n.key, 0))
        s = number_search(n.key);
    if (!s)
        return 0;
    next = atomic_load_explicit(&s->next, memory_order_relaxed);
    atomic_store_explicit(&s->next, next + 1, memory_order_relaxed);
    atomic_store_explicit(&s->used, atomic_load_explicit(&number_clock, memory_order_relaxed),
                          memory_order_relaxed);
    return next;
}

/* The message with this number was never sent or received: give the number back if it is the latest. */
void number_undo(uint64_t key, uint32_t number);
/* A receive of the stream was cancelled, and those after it have been counted down. */
void number_back(uint64_t key);

#endif
