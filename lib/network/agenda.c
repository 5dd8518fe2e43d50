#include "network/agenda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

#define FAN        8u /* times in one cache line */
#define LEVELS_MAX 11u
#define QUEUES     8u /* items with further delays get their own times */
#define TREE       QUEUES

/* Items in order of their times. */
struct queue {
    double delay;
    uint32_t head, n, size; /* size: a power of two */
    struct waiting {
        double time;
        uint32_t item;
    } * at;
};

struct agenda {
    /* time[0]: of each item; time[k][i]: the least of time[k - 1][FAN * i] and the next; INFINITY: none. */
    double *time[LEVELS_MAX];
    uint32_t levels, capacity; /* time[levels] has one number, the least of all */
    struct queue queue[QUEUES];
    uint32_t queues;
};

struct agenda *agenda_new(void)
{
    struct agenda *a = xcalloc(1, sizeof(*a));

    a->time[0] = xcalloc(1, sizeof(double));
    a->time[0][0] = INFINITY;
    a->capacity = 1;
    return a;
}

void agenda_free(struct agenda *a)
{
    if (!a)
        return;
    for (uint32_t k = 0; k <= a->levels; k++)
        free(a->time[k]);
    for (uint32_t q = 0; q < a->queues; q++)
        free(a->queue[q].at);
    free(a);
}

/* ---- items with their own times ---- */

static inline double lesser(double a, double b)
{
    return a < b ? a : b;
}

static inline double least_of(const double *t)
{
    return lesser(lesser(lesser(t[0], t[1]), lesser(t[2], t[3])),
                  lesser(lesser(t[4], t[5]), lesser(t[6], t[7])));
}

static void grow_times(struct agenda *a)
{
    uint32_t n = a->capacity * FAN, k = ++a->levels;

    a->capacity = n;
    for (uint32_t level = 0; level < k; level++, n /= FAN) {
        a->time[level] = xrealloc(a->time[level], n, sizeof(double));
        for (uint32_t i = n / FAN; i < n; i++)
            a->time[level][i] = INFINITY;
    }
    a->time[k] = xcalloc(1, sizeof(double));
    a->time[k][0] = least_of(a->time[k - 1]);
}

void agenda_set(struct agenda *a, uint32_t item, double time)
{
    double was;

    while (item >= a->capacity)
        grow_times(a);
    was = a->time[0][item];
    a->time[0][item] = time;
    for (uint32_t k = 1; k <= a->levels; k++) {
        double *least = &a->time[k][item / FAN], before = *least;

        item /= FAN;
        if (time >= before) {
            if (was != before)
                return;
            time = least_of(&a->time[k - 1][item * FAN]);
            if (time == before)
                return;
        }
        *least = time;
        was = before;
    }
}

/* The index of a time among eight, the first if equal; compared as integers, which needs no branches. */
static inline uint32_t place_in(const double *t, double time)
{
    uint64_t at[FAN], want;
    uint32_t same = 0;

    memcpy(at, t, sizeof(at));
    memcpy(&want, &time, sizeof(want));
#pragma GCC unroll 8
    for (uint32_t i = 0; i < FAN; i++)
        same |= (uint32_t)(at[i] == want) << i;
    return (uint32_t)__builtin_ctz(same);
}

/* ---- queues ---- */

static struct queue *queue_of(struct agenda *a, double delay)
{
    uint32_t q = 0;

    while (q < a->queues && a->queue[q].delay != delay)
        q++;
    if (q < a->queues)
        return &a->queue[q];
    for (q = 0; q < a->queues && a->queue[q].n; q++)
        ;
    if (q == QUEUES)
        return NULL;
    a->queues += q == a->queues;
    a->queue[q].delay = delay; /* an empty queue can take another delay */
    return &a->queue[q];
}

static void queue_grow(struct queue *q)
{
    struct waiting *at = xcalloc(q->size ? 2 * (size_t)q->size : 16, sizeof(*at));

    for (uint32_t i = 0; i < q->n; i++)
        at[i] = q->at[(q->head + i) & (q->size - 1)];
    free(q->at);
    q->at = at;
    q->head = 0;
    q->size = q->size ? 2 * q->size : 16;
}

void agenda_after(struct agenda *a, uint32_t item, double now, double delay)
{
    struct queue *q = queue_of(a, delay);

    if (!q) {
        agenda_set(a, item, now + delay);
        return;
    }
    if (q->n == q->size)
        queue_grow(q);
    q->at[(q->head + q->n++) & (q->size - 1)] = (struct waiting){ now + delay, item };
}

/* ---- the earliest item ---- */

/* The queue of the earliest item; TREE: it has its own time. */
static inline uint32_t first_of(const struct agenda *a, double *time)
{
    uint32_t from = TREE;

    *time = a->time[a->levels][0];
    for (uint32_t q = 0; q < a->queues; q++) {
        const struct queue *of = &a->queue[q];

        if (of->n && of->at[of->head].time < *time) {
            *time = of->at[of->head].time;
            from = q;
        }
    }
    return from;
}

double agenda_first_s(const struct agenda *a)
{
    double time;

    first_of(a, &time);
    return time;
}

uint32_t agenda_take(struct agenda *a)
{
    double time;
    uint32_t from = first_of(a, &time), item = 0;
    struct queue *q = &a->queue[from];

    if (from == TREE) {
        for (uint32_t k = a->levels; k--;)
            item = item * FAN + place_in(&a->time[k][item * FAN], time);
        agenda_set(a, item, INFINITY);
        return item;
    }
    item = q->at[q->head].item;
    q->head = (q->head + 1) & (q->size - 1);
    q->n--;
    return item;
}
