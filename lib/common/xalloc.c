#include "common/xalloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*on_failure)(void);

void xalloc_at_failure(void (*report)(void))
{
    on_failure = report;
}

static void *checked(void *p)
{
    if (!p) {
        fputs("out of memory\n", stderr);
        if (on_failure)
            on_failure();
        abort();
    }
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
    return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
    return s ? checked(strdup(s)) : NULL;
}

char *xasprintf(const char *fmt, ...)
{
    va_list ap;
    char *s;

    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        s = NULL;
    va_end(ap);
    return checked(s);
}

void *xgrow(void *array, size_t *cap, size_t need, size_t size)
{
    size_t n = *cap ? *cap : 8;

    if (need <= *cap)
        return array;
    while (n < need)
        n *= 2;
    array = xrealloc(array, n, size);
    memset((char *)array + *cap * size, 0, (n - *cap) * size);
    *cap = n;
    return array;
}
