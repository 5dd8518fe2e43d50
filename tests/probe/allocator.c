/* allocator.c - somebody else's library to preload: it stands before malloc() and free(), as those do that
 * look for leaks, and counts.  It finds them before anybody calls it: the loader itself frees what it says of
 * a symbol that is not there, as the probe asks for, at the next question. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static atomic_ulong calls;

__attribute__((constructor)) static void find(void)
{
    next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
}

void *malloc(size_t bytes)
{
    if (!next_malloc)
        find();
    atomic_fetch_add(&calls, 1);
    return next_malloc(bytes);
}

void free(void *at)
{
    if (!next_free)
        find();
    atomic_fetch_add(&calls, 1);
    next_free(at);
}
