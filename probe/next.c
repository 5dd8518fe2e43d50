/* next.c - see next.h */
#include "probe/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX 4096

static void *_Atomic library; /* handle of the MPI library where RTLD_NEXT does not reach it */

struct objects {
    char *name[OBJECTS_MAX];
    size_t n;
};

/* A wrapper of malloc() or free() may look for the next one at its first call.  If that is made by the
 * loader, which frees its message of a symbol that is not there at its next lookup, each lookup calls the
 * other. */
static void call_allocator_first(void)
{
    static atomic_bool called;
    void *volatile at;

    if (atomic_exchange_explicit(&called, true, memory_order_relaxed))
        return;
    at = malloc(1);
    free(at);
}

void *next_ask(void *object, const char *name)
{
    int saved = errno;
    void *at;

    call_allocator_first();
    at = dlsym(object, name);
    (void)dlerror(); /* the program must not see that there was none */
    errno = saved;
    return at;
}

static int collect_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct objects *o = arg;

    (void)size;
    if (o->n < OBJECTS_MAX && info->dlpi_name && *info->dlpi_name &&
        (o->name[o->n] = strdup(info->dlpi_name)))
        o->n++;
    return 0;
}

/* The loaded object that an address is in.  NULL: none. */
static const void *object_of(const void *at)
{
    Dl_info info;

    return dladdr(at, &info) ? info.dli_fbase : NULL;
}

/* The function or variable that a loaded object has, or one that it was linked with; *object is then kept
 * open, so that it is not unloaded.  NULL: it has none but the probe's, which is what the main program has of
 * all that is global. */
static void *ask_file(const char *file, const char *name, void **object)
{
    static const char anchor;
    void *at;

    *object = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    at = *object ? next_ask(*object, name) : NULL;
    if (at && object_of(at) == object_of(&anchor))
        at = NULL;
    if (*object && !at)
        dlclose(*object);
    (void)dlerror(); /* of dlopen() */
    return at;
}

/* A program may load MPI with RTLD_LOCAL, as Python does for an extension module that is linked with it.  The
 * library is then only in that module's search order, so look into every loaded object; *object as above. */
static void *find_local(const char *name, void **object)
{
    struct objects *o = calloc(1, sizeof(*o));
    void *at = NULL;

    if (!o)
        return NULL;
    dl_iterate_phdr(collect_object, o);
    for (size_t i = 0; i < o->n; i++) {
        if (!at)
            at = ask_file(o->name[i], name, object);
        free(o->name[i]);
    }
    free(o);
    return at;
}

static void *find_symbol(const char *name, void *where)
{
    void *object = atomic_load_explicit(&library, memory_order_acquire), *at;
    int saved = errno;

    at = next_ask(where, name);
    if (!at && object)
        at = next_ask(object, name);
    if (!at && (at = find_local(name, &object)))
        atomic_store_explicit(&library, object, memory_order_release);
    errno = saved;
    return at;
}

void *next_symbol(const char *name)
{
    return find_symbol(name, RTLD_DEFAULT);
}

void *next_look(const char *name)
{
    int saved = errno;
    void *object, *at = next_ask(RTLD_NEXT, name);

    if (!at)
        at = find_local(name, &object);
    errno = saved;
    return at;
}

void *next_meant(const void *by, const char *name)
{
    int saved = errno;
    void *object, *at = next_ask(RTLD_NEXT, name);
    Dl_info info;

    if (!at && dladdr(by, &info) && info.dli_fname)
        at = ask_file(info.dli_fname, name, &object);
    errno = saved;
    return at;
}

static int take_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(unsigned long long *)arg = info->dlpi_adds;
    return 1; /* the first object has it */
}

unsigned long long next_loaded(void)
{
    unsigned long long loaded = 0;

    dl_iterate_phdr(take_loaded, &loaded);
    return loaded;
}

static int unsupported(void)
{
    return 16; /* MPI_ERR_OTHER of Open MPI; of others until init.c knows the library */
}

next_fn next_missing = (next_fn)unsupported;

bool next_layered;

/* Does MPI_X lie in another object than PMPI_X?  The library has both. */
static void look_for_tools(const char *name, void *at)
{
    char pmpi[64];
    void *library_at;

    if (next_layered || name[0] != 'M' || snprintf(pmpi, sizeof(pmpi), "P%s", name) >= (int)sizeof(pmpi))
        return;
    library_at = find_symbol(pmpi, RTLD_NEXT);
    if (library_at && object_of(at) && object_of(library_at) && object_of(at) != object_of(library_at))
        next_layered = true;
}

next_fn next_find(struct next *n)
{
    void *at = find_symbol(n->name, RTLD_NEXT);

    if (!at)
        return next_missing; /* not remembered: the library may be loaded later */
    look_for_tools(n->name, at);
    atomic_store_explicit(&n->at, at, memory_order_release);
    return (next_fn)at;
}
