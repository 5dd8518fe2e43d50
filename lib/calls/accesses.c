#include "calls/accesses.h"

#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"

struct accesses {
    struct call *waiting; /* from first on, by their ends */
    size_t cap;
    uint32_t first, n;
    uint64_t over_ns; /* end of the one that was the next last */

    struct map ranks; /* that access it: their places in ... */
    uint64_t *newest_ns;
    size_t newest_cap;
    uint32_t least; /* place of the smallest */
    uint32_t clock;
    bool apart; /* there are several clocks */
};

struct accesses *accesses_new(void)
{
    return xcalloc(1, sizeof(struct accesses));
}

void accesses_free(struct accesses *a)
{
    if (!a)
        return;
    map_free(&a->ranks);
    free(a->waiting);
    free(a->newest_ns);
    free(a);
}

size_t accesses_bytes(const struct accesses *a)
{
    return a ? sizeof(*a) + a->cap * sizeof(*a->waiting) + a->newest_cap * sizeof(*a->newest_ns) +
                   a->ranks.size * (sizeof(uint64_t) + sizeof(uint32_t))
             : 0;
}

static void note_newest(struct accesses *a, const struct call *c)
{
    uint32_t n = (uint32_t)a->ranks.n, at = map_get(&a->ranks, c->rank);

    if (at == MAP_NONE) {
        at = n++;
        map_put(&a->ranks, c->rank, at);
        a->newest_ns = xgrow(a->newest_ns, &a->newest_cap, n, sizeof(*a->newest_ns));
        a->newest_ns[at] = c->leave_ns;
        if (c->leave_ns < a->newest_ns[a->least])
            a->least = at;
        return;
    }
    a->newest_ns[at] = c->leave_ns;
    if (at != a->least)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (a->newest_ns[i] < a->newest_ns[a->least])
            a->least = i;
}

/* Behind those that ended before it or with it. */
static void insert(struct accesses *a, const struct call *c)
{
    uint32_t at;

    if (a->first) {
        memmove(a->waiting, a->waiting + a->first, a->n * sizeof(*a->waiting));
        a->first = 0;
    }
    a->waiting = xgrow(a->waiting, &a->cap, a->n + 1, sizeof(*a->waiting));
    for (at = a->n; at && a->waiting[at - 1].leave_ns > c->leave_ns; at--)
        a->waiting[at] = a->waiting[at - 1];
    a->waiting[at] = *c;
    a->n++;
}

bool accesses_add(struct accesses *a, const struct call *c, uint32_t clock)
{
    if (!a->ranks.n)
        a->clock = clock;
    a->apart = a->apart || a->clock != clock;
    if (a->apart) {
        a->n = 0;
        return false;
    }
    note_newest(a, c);
    if (c->leave_ns < a->over_ns)
        return false;
    insert(a, c);
    return true;
}

bool accesses_next(struct accesses *a, struct call *c)
{
    if (!a->n || (a->waiting[a->first].leave_ns > a->newest_ns[a->least] && a->n < ACCESSES_WAITING))
        return false;
    *c = a->waiting[a->first++];
    a->n--;
    a->over_ns = c->leave_ns;
    return true;
}
