#include "probe/number.h"

#include <stddef.h>

struct number_line
    number_lines[NUMBER_STREAMS / NUMBER_WAYS]; /* 256 KiB of zero pages, resident where used */
_Atomic uint32_t number_clock;

static _Atomic uint64_t *forgotten;

void number_setup(_Atomic uint64_t *counter)
{
    forgotten = counter;
}

/* In a free place, or in the one unused longest. */
static struct number_stream *begin_stream(uint64_t key)
{
    struct number_stream *way = number_line(key)->way, *s = way;
    uint32_t now = atomic_load_explicit(&number_clock, memory_order_relaxed) + 1, oldest = 0;
    uint64_t old;

    for (unsigned i = 0; i < NUMBER_WAYS; i++) {
        uint32_t age = now - atomic_load_explicit(&way[i].used, memory_order_relaxed);

        if (!atomic_load_explicit(&way[i].key, memory_order_relaxed)) {
            s = &way[i];
            break;
        }
        if (age >= oldest) {
            oldest = age;
            s = &way[i];
        }
    }
    old = atomic_load_explicit(&s->key, memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&s->key, &old, key, memory_order_relaxed,
                                                 memory_order_relaxed))
        return NULL;
    if (old && forgotten)
        atomic_fetch_add_explicit(forgotten, 1, memory_order_relaxed);
    atomic_store_explicit(&s->next, 0, memory_order_relaxed);
    atomic_store_explicit(&s->used, now, memory_order_relaxed);
    atomic_store_explicit(&number_clock, now, memory_order_relaxed);
    return s;
}

static struct number_stream *find_stream(uint64_t key)
{
    struct number_stream *s = number_line(key)->way;

    for (unsigned i = 0; i < NUMBER_WAYS; i++, s++)
        if (atomic_load_explicit(&s->key, memory_order_relaxed) == key)
            return s;
    return NULL;
}

struct number_stream *number_search(uint64_t key)
{
    struct number_stream *s = find_stream(key);

    return s ? s : begin_stream(key);
}

void number_undo(uint64_t key, uint32_t number)
{
    struct number_stream *s = find_stream(key);

    if (s && atomic_load_explicit(&s->next, memory_order_relaxed) == number + 1)
        atomic_store_explicit(&s->next, number, memory_order_relaxed);
}

void number_back(uint64_t key)
{
    struct number_stream *s = find_stream(key);
    uint32_t next = s ? atomic_load_explicit(&s->next, memory_order_relaxed) : 0;

    if (next)
        atomic_store_explicit(&s->next, next - 1, memory_order_relaxed);
}
