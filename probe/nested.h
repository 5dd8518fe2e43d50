/* nested.h - calls that the program makes inside another one, from a callback.
 *
 * A ring shows one call, at the place of its event, which the inner call takes.  What was shown is kept, up
 * to NESTED_MAX calls deep, and gets its event when it ends.  A call that was left by a jump or an exception
 * looks like one in progress until a call is made that is not below it; the library said nothing of it, so it
 * has no event. */
#ifndef SYNCGUARD_PROBE_NESTED_H
#define SYNCGUARD_PROBE_NESTED_H

#include "probe/probe.h"

/* Out of line. */
void nested_keep(struct ring *r, const void *frame);

/* Before a call writes to the ring or is shown in it. */
HOT void nested_begin(struct ring *r, const void *frame)
{
    uint64_t entered = atomic_load_explicit(&r->file->entered, memory_order_relaxed);

    if (__builtin_expect(hot_place(r)->enter == entered && entered, 0))
        nested_keep(r, frame);
    self.shown = frame;
}

/* What is known of a call that was entered at this time and is not shown any more.  False: nothing. */
bool nested_take(uint64_t enter, struct ring_event *e);

#endif
