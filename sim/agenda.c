#include "sim/agenda.h"

#include <stdlib.h>

#include "common/xalloc.h"

/* A heap of four children: as flat as two cache lines a level allow. */
#define FAN 4u

struct entry {
    double time;
    uint32_t item;
};

struct agenda {
    struct entry *heap;
    size_t n, cap;
    uint32_t *place; /* 1 + where the item stands; 0: nowhere */
    size_t places;
};

struct agenda *agenda_new(void)
{
    return xcalloc(1, sizeof(struct agenda));
}

void agenda_free(struct agenda *a)
{
    if (!a)
        return;
    free(a->heap);
    free(a->place);
    free(a);
}

static bool before(const struct entry *a, const struct entry *b)
{
    return a->time < b->time || (a->time == b->time && a->item < b->item);
}

static void put(struct agenda *a, size_t at, struct entry e)
{
    a->heap[at] = e;
    a->place[e.item] = (uint32_t)at + 1;
}

static void rise(struct agenda *a, size_t at, struct entry e)
{
    while (at && before(&e, &a->heap[(at - 1) / FAN])) {
        put(a, at, a->heap[(at - 1) / FAN]);
        at = (at - 1) / FAN;
    }
    put(a, at, e);
}

static void sink(struct agenda *a, size_t at, struct entry e)
{
    for (;;) {
        size_t first = at * FAN + 1, end = first + FAN < a->n ? first + FAN : a->n, least = first;

        for (size_t child = first + 1; child < end; child++)
            if (before(&a->heap[child], &a->heap[least]))
                least = child;
        if (first >= a->n || !before(&a->heap[least], &e))
            break;
        put(a, at, a->heap[least]);
        at = least;
    }
    put(a, at, e);
}

void agenda_set(struct agenda *a, uint32_t item, double time)
{
    struct entry e = { time, item };
    size_t at;

    a->place = xgrow(a->place, &a->places, (size_t)item + 1, sizeof(*a->place));
    if (!a->place[item]) {
        a->heap = xgrow(a->heap, &a->cap, a->n + 1, sizeof(*a->heap));
        rise(a, a->n++, e);
        return;
    }
    at = a->place[item] - 1;
    if (before(&e, &a->heap[at]))
        rise(a, at, e);
    else
        sink(a, at, e);
}

bool agenda_first(const struct agenda *a, uint32_t *item, double *time)
{
    if (!a->n)
        return false;
    *item = a->heap[0].item;
    *time = a->heap[0].time;
    return true;
}

void agenda_drop(struct agenda *a)
{
    struct entry last = a->heap[--a->n];

    a->place[a->heap[0].item] = 0;
    if (a->n)
        sink(a, 0, last);
}
