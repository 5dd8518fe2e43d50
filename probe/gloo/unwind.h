/* unwind.h - calls a function of C++ that may throw.
 *
 * An exception passes through, and leaves what the thread was inside of (inside.h), for the call that it ends
 * will not return. gcc's own way, a cleanup in a function built with -fexceptions, needs libgcc_s, which a
 * preloaded object would bring into every process. */
#ifndef SYNCGUARD_GLOO_UNWIND_H
#define SYNCGUARD_GLOO_UNWIND_H

#include <stdint.h>

/* A function whose parameters are numbers, pointers and references, six at most. */
typedef uintptr_t (*unwind_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

uintptr_t unwind_call(unwind_fn function, const uintptr_t arguments[6]);

#endif
