/* graph_rank.c - the calls of a rank that are in no step yet, and the ends of steps among them. */
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define SPARE_MAX 64u /* calls of a rank that there is room for, though there are few */

void graph_raw_insert(struct graph *g, struct rank *k, size_t at, const struct raw *raw)
{
    if (k->n == k->cap) {
        k->cap += k->cap / 4 + 8;
        k->raw = xrealloc(k->raw, k->cap, sizeof(*k->raw));
    }
    memmove(k->raw + at + 1, k->raw + at, (k->n++ - at) * sizeof(*k->raw));
    k->raw[at] = *raw;
    for (size_t i = 0; i < k->n_ends; i++)
        k->end[i].at += k->end[i].at - k->gone > at;
    meeting_at(g, raw->meeting)->refs++;
}

void graph_raw_add(struct graph *g, struct rank *k, const struct raw *raw)
{
    size_t at = k->n;

    while (at > 0 && k->raw[at - 1].enter_ns > raw->enter_ns)
        at--;
    graph_raw_insert(g, k, at, raw);
}

void graph_raw_drop(struct graph *g, struct rank *k, size_t from, size_t to)
{
    if (from == to)
        return;
    for (size_t i = from; i < to; i++)
        meeting_at(g, k->raw[i].meeting)->refs--;
    memmove(k->raw + from, k->raw + to, (k->n - to) * sizeof(*k->raw));
    k->n -= to - from;
    if (k->cap > SPARE_MAX && k->n < k->cap / 4) {
        k->cap /= 2;
        k->raw = xrealloc(k->raw, k->cap, sizeof(*k->raw));
    }
}

void graph_end_insert(struct rank *k, size_t at, const struct end *end)
{
    if (k->n_ends == k->ends_cap) {
        k->ends_cap += k->ends_cap / 4 + 2;
        k->end = xrealloc(k->end, k->ends_cap, sizeof(*k->end));
    }
    memmove(k->end + at + 1, k->end + at, (k->n_ends++ - at) * sizeof(*k->end));
    k->end[at] = *end;
}

void graph_end_drop(struct rank *k)
{
    memmove(k->end, k->end + 1, --k->n_ends * sizeof(*k->end));
}
