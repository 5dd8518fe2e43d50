/* xalloc.h - memory in our own programs: out of memory aborts with a line on stderr.
 * Never in guests (probe, plugin): they use plain calloc and continue without the memory. */
#ifndef SYNCGUARD_COMMON_XALLOC_H
#define SYNCGUARD_COMMON_XALLOC_H

#include <stddef.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif

/* Called before the program ends for lack of memory: it must not allocate. */
void xalloc_at_failure(void (*report)(void));

void *xcalloc(size_t n, size_t size);           /* zeroed */
void *xrealloc(void *p, size_t n, size_t size); /* n * size, overflow checked */
char *xstrdup(const char *s);                   /* NULL returns NULL */
__attribute__((format(printf, 1, 2))) char *xasprintf(const char *fmt, ...);

/* Make room for one more in an array of *cap elements: doubles, new part zeroed.  Returns the array. */
void *xgrow(void *array, size_t *cap, size_t need, size_t size);

#endif
