/* graph_meeting.c - meetings that calls still come to, found by their names; what stays of them is in the
 * steps (graph_kept.c). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define WAITS_FOR_HALF 8u /* steps, for the other end of a message */

static size_t home_of(const struct graph *g, uint64_t key)
{
    return hash_mix(key) & (g->at_size - 1);
}

/* Where the key is, or would be. */
static size_t at_of(const struct graph *g, uint64_t key)
{
    size_t at = home_of(g, key);

    while (g->meeting_at[at] != GRAPH_NONE && g->meeting[g->meeting_at[at]].key != key)
        at = (at + 1) & (g->at_size - 1);
    return at;
}

uint32_t meeting_find(const struct graph *g, uint64_t key)
{
    return g->at_size ? g->meeting_at[at_of(g, key)] : GRAPH_NONE;
}

uint64_t meeting_collective_key(uint64_t comm, uint32_t seq)
{
    return hash_mix(hash_mix(comm) + seq);
}

static void index_resize(struct graph *g, size_t size)
{
    free(g->meeting_at);
    g->at_size = size;
    g->meeting_at = xcalloc(size, sizeof(*g->meeting_at));
    memset(g->meeting_at, 0xff, size * sizeof(*g->meeting_at));
    for (uint32_t i = 0; i < g->slots; i++)
        if (g->meeting[i].used)
            g->meeting_at[at_of(g, g->meeting[i].key)] = i;
}

uint32_t meeting_new(struct graph *g, uint64_t key)
{
    uint32_t slot = g->free_slot;

    if (2 * ((size_t)g->n_meetings + 1) > g->at_size)
        index_resize(g, g->at_size ? 2 * g->at_size : 256);
    if (slot != GRAPH_NONE) {
        g->free_slot = g->meeting[slot].before;
    } else {
        if (g->slots == g->meetings_cap) {
            g->meetings_cap += g->meetings_cap / 8 + 64;
            g->meeting = xrealloc(g->meeting, g->meetings_cap, sizeof(*g->meeting));
        }
        slot = g->slots++;
    }
    g->meeting[slot] = (struct meeting){ .used = true,
                                         .key = key,
                                         .number = GRAPH_NONE,
                                         .before = GRAPH_NONE,
                                         .newest = (uint8_t)g->steps,
                                         .transfer_s = NAN,
                                         .max_s = NAN,
                                         .start_s = -INFINITY,
                                         .end_s = NAN };
    g->meeting_at[at_of(g, key)] = slot;
    g->n_meetings++;
    return slot;
}

/* Takes it out of the index; those behind it that it was in the way of move up (Knuth 1973, 6.4, algorithm
 * R). */
static void index_remove(struct graph *g, uint64_t key)
{
    size_t at = at_of(g, key), mask = g->at_size - 1, next = at;

    for (;;) {
        next = (next + 1) & mask;
        if (g->meeting_at[next] == GRAPH_NONE)
            break;
        if (((next - home_of(g, g->meeting[g->meeting_at[next]].key)) & mask) >= ((next - at) & mask)) {
            g->meeting_at[at] = g->meeting_at[next];
            at = next;
        }
    }
    g->meeting_at[at] = GRAPH_NONE;
}

/* Nobody comes to it any more, as far as one can know. */
static bool is_over(const struct graph *g, const struct meeting *m)
{
    uint8_t idle = (uint8_t)(g->steps - m->newest);

    if (m->refs)
        return false;
    if (!g->kind[m->kind].info.message)
        return idle > (m->number == GRAPH_NONE ? WAITS_FOR_HALF : 1);
    return !isnan(m->message.send_s + m->message.recv_s) || idle > WAITS_FOR_HALF;
}

/* Give back what only an earlier burst needed: `most` are open at a time now. */
static void shrink(struct graph *g, uint32_t max)
{
    uint32_t to = 0;

    max += max / 8 + 64;
    if (max > g->meetings_cap - g->meetings_cap / 4)
        return;
    for (uint32_t i = max; i < g->slots; i++)
        if (g->meeting[i].used && g->meeting[i].refs)
            return;
    for (uint32_t i = max; i < g->slots; i++) {
        if (!g->meeting[i].used)
            continue;
        while (g->meeting[to].used)
            to++;
        g->meeting_at[at_of(g, g->meeting[i].key)] = to;
        g->meeting[to] = g->meeting[i];
    }
    g->slots = g->slots < max ? g->slots : max;
    g->meetings_cap = max;
    g->meeting = xrealloc(g->meeting, max, sizeof(*g->meeting));
    g->free_slot = GRAPH_NONE;
    for (uint32_t i = g->slots; i-- > 0;)
        if (!g->meeting[i].used) {
            g->meeting[i].before = g->free_slot;
            g->free_slot = i;
        }
}

void meetings_close(struct graph *g)
{
    uint32_t max = g->n_meetings;

    for (uint32_t i = 0; i < g->slots; i++) {
        struct meeting *m = &g->meeting[i];

        if (!m->used || !is_over(g, m))
            continue;
        index_remove(g, m->key);
        m->used = false;
        m->before = g->free_slot;
        g->free_slot = i;
        g->n_meetings--;
    }
    shrink(g, max);
}

void meetings_forget(struct graph *g)
{
    free(g->meeting);
    free(g->meeting_at);
    g->meeting = NULL;
    g->meeting_at = NULL;
    g->meetings_cap = g->at_size = 0;
    g->n_meetings = g->slots = 0;
    g->free_slot = GRAPH_NONE;
}
