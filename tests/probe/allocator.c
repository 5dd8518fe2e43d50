/* allocator.c - somebody else's library to preload: it stands before malloc() and free(), as those do that
 * look for leaks, and counts.  Each is found when it is first called; the loader itself calls free(), at its
 * next lookup, for what it had to say of a symbol that was not there. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static atomic_ulong calls;

void *malloc(size_t bytes)
{
    if (!next_malloc)
        next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    atomic_fetch_add(&calls, 1);
    return next_malloc(bytes);
}

void free(void *at)
{
    if (!next_free)
        next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    atomic_fetch_add(&calls, 1);
    next_free(at);
}
