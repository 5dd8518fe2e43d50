/* spans.h - times in which something was done, as one set: spans that touch are one. */
#ifndef SYNCGUARD_TRACE_SPANS_H
#define SYNCGUARD_TRACE_SPANS_H

#include <stddef.h>
#include <stdint.h>

struct span {
    uint64_t begin_ns, end_ns;
};

/* All zero: none.  n = 0 empties it. */
struct spans {
    struct span *span;
    size_t n, cap;
};

void spans_add(struct spans *s, uint64_t begin_ns, uint64_t end_ns);
void spans_merge(struct spans *s); /* sort them, and make one of those that touch */
/* The last one that begins before that moment; NULL: there is none.  After spans_merge(). */
const struct span *spans_before(const struct spans *s, uint64_t ns);
void spans_free(struct spans *s);

#endif
