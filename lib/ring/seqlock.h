/* seqlock.h - words in shared memory that one process publishes as a whole, and others copy as a whole (a
 * sequence lock).
 *
 * Nobody waits: a reader that comes while the words are written has no copy, and may try again.  Does not
 * call anything. */
#ifndef SYNCGUARD_RING_SEQLOCK_H
#define SYNCGUARD_RING_SEQLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The only writer: word[n] to shared[n].  version: odd while they are being written; also after a writer that
 * died there, whose successor mends it. */
static inline void seqlock_write(_Atomic uint64_t *version, _Atomic uint64_t *shared, const uint64_t *word,
                                 size_t n)
{
    uint64_t writing = atomic_load_explicit(version, memory_order_relaxed) | 1;

    atomic_store_explicit(version, writing, memory_order_relaxed);
    for (size_t i = 0; i < n; i++)
        atomic_store_explicit(&shared[i], word[i], memory_order_release);
    atomic_store_explicit(version, writing + 1, memory_order_release);
}

/* Copies shared[n] to word[n]; false where they were being written, and word is no consistent copy. */
static inline bool seqlock_read(const _Atomic uint64_t *version, const _Atomic uint64_t *shared,
                                uint64_t *word, size_t n)
{
    uint64_t before = atomic_load_explicit(version, memory_order_acquire);

    if (before & 1)
        return false;
    for (size_t i = 0; i < n; i++)
        word[i] = atomic_load_explicit(&shared[i], memory_order_acquire);
    return atomic_load_explicit(version, memory_order_relaxed) == before;
}

#endif
