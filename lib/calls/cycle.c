#include "calls/cycle.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"

/* calls before the first look; chosen: with fewer, what a program sets up looks like a cycle */
#define LOOK_FIRST 12u
/* A cycle of fewer calls must repeat three times, and 2 * SHORT calls more: few calls repeat by chance. */
#define SHORT 8u
#define MARK  0x80000000u
#define INNER_MIN \
    4u /* times that a part must repeat to be the cycle's own: less often is how a step is made */

void cycle_free(struct cycle *c)
{
    free(c->token);
    memset(c, 0, sizeof(*c));
}

/* The shortest distance over which the newest tokens repeat often enough. */
static uint32_t find_length(const struct cycle *c)
{
    /* of each length of the newest tokens read backwards, the longest prefix that is also the suffix */
    uint32_t *prefix = xcalloc(c->n + 1, sizeof(*prefix)), k = 0, best = 0;
    const uint32_t *newest = c->token + c->n - 1;

    for (size_t i = 1; i < c->n; i++) {
        while (k && *(newest - i) != *(newest - k))
            k = prefix[k];
        k += *(newest - i) == *(newest - k);
        prefix[i + 1] = k;
    }
    for (size_t m = 2; m <= c->n; m++) {
        uint32_t length = (uint32_t)m - prefix[m];

        if (m >= (length < SHORT ? 3u : 2u) * length + (length < SHORT ? 2 * SHORT : 0) &&
            (!best || length < best))
            best = length;
    }
    free(prefix);
    return best <= CYCLE_MAX ? best : 0;
}

static bool has_mark(const struct cycle *c, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (c->token[c->n - 1 - i] & MARK)
            return true;
    return false;
}

/* The least of its rotations' names stands for all. */
static uint64_t name_of(const uint32_t *t, uint32_t n)
{
    uint64_t min = UINT64_MAX;

    for (uint32_t r = 0; r < n; r++) {
        uint64_t name = HASH_START;

        for (uint32_t i = 0; i < n; i++)
            name = hash_bytes(name, &t[(r + i) % n], sizeof(*t));
        min = name < min ? name : min;
    }
    return min;
}

static bool repeats(const uint32_t *t, uint32_t n, uint32_t inner)
{
    for (uint32_t i = inner; i < n; i++)
        if (t[i] != t[i - inner])
            return false;
    return true;
}

/* What the cycle's tokens repeat, but for the marked ones. */
static void find_inner(struct cycle *c)
{
    uint32_t *t = xcalloc(c->length, sizeof(*t)), n = 0;

    for (uint32_t i = 0; i < c->length; i++)
        if (!(c->token[c->n - c->length + i] & MARK))
            t[n++] = c->token[c->n - c->length + i];
    c->inner = c->length;
    c->inner_name = 0;
    c->name = 0;
    for (uint32_t i = 0; i < n; i++)
        c->name += hash_bytes(HASH_START, &t[i], sizeof(*t));
    for (uint32_t inner = 1; inner * INNER_MIN <= n; inner++)
        if (n % inner == 0 && repeats(t, n, inner)) {
            c->inner = inner;
            c->inner_name = name_of(t, inner);
            break;
        }
    free(t);
}

uint32_t cycle_count(const struct cycle *c, uint32_t token)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->length; i++)
        n += (c->token[c->end - 1 - i] & ~MARK) == (token & ~MARK);
    return n;
}

/* The newer half is as good; a cycle that was found in the older one stays before it. */
static void forget_older(struct cycle *c)
{
    size_t from = c->n / 2, kept = c->length && c->end - c->length < from ? c->length : 0;

    memmove(c->token, c->token + c->end - kept, kept * sizeof(*c->token));
    memmove(c->token + kept, c->token + from, (c->n - from) * sizeof(*c->token));
    c->end = kept ? kept : c->length ? c->end - from : 0;
    c->n = kept + c->n - from;
    c->look = 0;
}

void cycle_push(struct cycle *c, uint32_t token, bool mark)
{
    if (c->n >= 4 * CYCLE_MAX)
        forget_older(c);
    c->token = xgrow(c->token, &c->cap, c->n + 1, sizeof(*c->token));
    c->token[c->n++] = mark ? token | MARK : token & ~MARK;
    if (mark && !c->marked) { /* what was found before was less than a cycle */
        c->marked = true;
        c->length = 0;
    }
    if (c->length || c->n < c->look || c->n < LOOK_FIRST)
        return;
    c->look = c->n + 1 + c->n / 8;
    c->length = find_length(c);
    if (c->length && c->marked && !has_mark(c, c->length))
        c->length = 0;
    if (!c->length)
        return;
    c->end = c->n;
    find_inner(c);
    c->token = xrealloc(c->token, c->n, sizeof(*c->token)); /* more come only when it is looked for again */
    c->cap = c->n;
}
