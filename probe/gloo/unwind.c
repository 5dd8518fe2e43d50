#include "gloo/unwind.h"

#include "gloo/inside.h"

#define CLEANUP_PHASE   2 /* of unwinding: the frame is left */
#define CONTINUE_UNWIND 8

/* The personality routine of unwind_call()'s frame, as of the Itanium C++ ABI, which has neither handlers nor
 * destructors. */
__attribute__((used, visibility("hidden"))) int unwind_personality(int version, int actions, uint64_t class,
                                                                   void *exception, void *context);
int unwind_personality(int version, int actions, uint64_t class, void *exception, void *context)
{
    (void)version;
    (void)class;
    (void)exception;
    (void)context;
    if (actions & CLEANUP_PHASE)
        inside_leave(false);
    return CONTINUE_UNWIND;
}

/* Not inlined, for the frame is what has the personality; 0x1b: its address is relative, of four bytes. */
__attribute__((noinline)) uintptr_t unwind_call(unwind_fn function, const uintptr_t arguments[6])
{
    uintptr_t result;

    __asm__ volatile(".cfi_personality 0x1b, unwind_personality");
    result = function(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    __asm__ volatile("" : "+r"(result)); /* no tail call */
    return result;
}
