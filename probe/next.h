/* next.h - the next definition of a wrapped function: the MPI library's own, or that of another tool
 * preloaded after the probe.  Each function is looked up at its first call, never in a constructor, so that a
 * process that does not use MPI pays nothing. */
#ifndef SYNCGUARD_PROBE_NEXT_H
#define SYNCGUARD_PROBE_NEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct next {
    const char *name;
    void *_Atomic at;
};

/* The caller casts it to the function's type. */
typedef void (*next_fn)(void);

/* Called in place of a function that no library defines.  A program gets there only if it found the probe's
 * wrapper with dlsym() or a weak reference.  init.c sets it once it knows the library. */
extern next_fn next_missing;

/* Another tool lies between the probe and the library: what it calls as PMPI_X comes back to the probe. Known
 * of a function from its first call on. */
extern bool next_layered __attribute__((visibility("hidden")));

/* Look the function up and cache it if found.  Never NULL. */
next_fn next_find(struct next *n);

/* Cached lookup.  Never NULL: next_missing, which raises an MPI error, where no library defines the
 * function. */
static inline next_fn next_get(struct next *n)
{
    void *at = atomic_load_explicit(&n->at, memory_order_acquire);

    return at ? (next_fn)at : next_find(n);
}

#define EXPORT __attribute__((visibility("default")))

/* Defines a function that is exported. */
#define EXPORTED(declaration) \
    EXPORT declaration;       \
    declaration

/* A wrapper that does nothing but call function(&next, arguments):
 *  WRAPPER(type, symbol, parameters, function, arguments...) */
#define WRAPPER(type, symbol, params, function, ...) \
    EXPORTED(type symbol params)                     \
    {                                                \
        static struct next next = { #symbol, NULL }; \
                                                     \
        return function(&next, ##__VA_ARGS__);       \
    }

/* A wrapper of MPI_NAME, and one of PMPI_NAME, which tools and Fortran layers call: DEFINE(symbol, ...)
 * twice. */
#define BOTH(DEFINE, name, ...)       \
    DEFINE(MPI_##name, ##__VA_ARGS__) \
    DEFINE(PMPI_##name, ##__VA_ARGS__)

/* The address of a function or variable of the MPI library; NULL when it has none of that name.  For a
 * variable this is the program's copy: an executable that was linked without -fPIC has its own. */
void *next_symbol(const char *name);

/* The function of that name of a library other than MPI, wherever it is loaded; NULL: no library has it. */
void *next_look(const char *name);
/* What the object that `by` is in means by that name, as without the probe: what is global, else what it was
 * linked with; NULL: neither is there. */
void *next_meant(const void *by, const char *name);
/* How many objects the process has loaded so far: as long as it stays, nothing new can be found. */
unsigned long long next_loaded(void);

/* dlsym(), whose failure the program does not see, neither in dlerror() nor in wrappers of malloc() and
 * free() that look for the next ones by dlsym() themselves. */
void *next_ask(void *object, const char *name);

#endif
