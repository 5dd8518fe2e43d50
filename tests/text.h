/* text.h - a text that grows, such as a trace that a test writes.  The caller frees s. */
#ifndef SYNCGUARD_TESTS_TEXT_H
#define SYNCGUARD_TESTS_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/xalloc.h"

struct text {
    char *s;
    size_t n, cap;
};

/* At most 511 bytes at a time. */
__attribute__((format(printf, 2, 3))) static inline void put(struct text *t, const char *fmt, ...)
{
    char line[512];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    t->s = xgrow(t->s, &t->cap, t->n + (size_t)n + 1, 1);
    memcpy(t->s + t->n, line, (size_t)n + 1);
    t->n += (size_t)n;
}

#endif
