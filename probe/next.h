/* next.h - the definition behind ours: the MPI library's own, or that of another tool preloaded behind us.
 * Looked up at the first call of each function, never in the constructor: a process that does not use MPI
 * pays nothing. */
#ifndef SYNCGUARD_PROBE_NEXT_H
#define SYNCGUARD_PROBE_NEXT_H

#include <stdatomic.h>
#include <stddef.h>

struct next {
    const char *name;
    void *_Atomic at;
};

/* Any function that is called through these is cast to its type by the caller. */
typedef void (*next_fn)(void);

/* Stands for what nobody behind us defines.  A program can come there only if it asked with dlsym() or a weak
 * reference whether its library has the function, and found ours.  Set where the library is known (init.c). */
extern next_fn next_missing;

next_fn next_find(struct next *n);

/* Never NULL: where nobody behind us defines the function, it is one that raises an MPI error. */
static inline next_fn next_get(struct next *n)
{
    void *at = atomic_load_explicit(&n->at, memory_order_acquire);

    return at ? (next_fn)at : next_find(n);
}

/* A symbol of the MPI library that may be missing, function or data; NULL.  Data is found where the program
 * sees it: an executable that was linked without -fPIC holds its own copy. */
void *next_symbol(const char *name);

#endif
