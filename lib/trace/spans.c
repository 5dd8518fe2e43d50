#include "trace/spans.h"

#include <stdlib.h>

#include "common/xalloc.h"

void spans_add(struct spans *s, uint64_t begin_ns, uint64_t end_ns)
{
    struct span *last = s->n ? &s->span[s->n - 1] : NULL;

    if (last && begin_ns >= last->begin_ns && begin_ns <= last->end_ns) { /* as most come: in order */
        last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
        return;
    }
    s->span = xgrow(s->span, &s->cap, s->n + 1, sizeof(*s->span));
    s->span[s->n++] = (struct span){ begin_ns, end_ns };
}

static int by_begin(const void *left, const void *right)
{
    const struct span *a = left, *b = right;

    return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

void spans_merge(struct spans *s)
{
    size_t kept = 0;

    if (!s->n)
        return;
    qsort(s->span, s->n, sizeof(*s->span), by_begin);
    for (size_t i = 1; i < s->n; i++) {
        struct span *last = &s->span[kept];

        if (s->span[i].begin_ns > last->end_ns)
            s->span[++kept] = s->span[i];
        else if (s->span[i].end_ns > last->end_ns)
            last->end_ns = s->span[i].end_ns;
    }
    s->n = kept + 1;
}

const struct span *spans_before(const struct spans *s, uint64_t ns)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->span[middle].begin_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &s->span[low - 1] : NULL;
}

void spans_free(struct spans *s)
{
    free(s->span);
    *s = (struct spans){ 0 };
}
