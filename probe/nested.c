/* nested.c - see nested.h */
#include "probe/nested.h"

#include <string.h>

void nested_keep(struct ring *r, const void *frame)
{
    struct ring_event *at = hot_place(r);

    while (self.n_nested && (uintptr_t)self.nested[self.n_nested - 1].frame <= (uintptr_t)frame)
        self.n_nested--; /* calls at and below this frame are over */
    if ((uintptr_t)self.shown > (uintptr_t)frame) {
        if (self.n_nested == NESTED_MAX)
            memmove(self.nested, self.nested + 1, --self.n_nested * sizeof(*self.nested));
        self.nested[self.n_nested].frame = self.shown;
        self.nested[self.n_nested++].event = *at;
    }
    atomic_store_explicit(&r->file->entered, 0, memory_order_release);
    __atomic_store_n(&at->enter, 0, __ATOMIC_RELEASE);
}

bool nested_take(uint64_t enter, struct ring_event *e)
{
    for (unsigned i = self.n_nested; i-- > 0;)
        if (self.nested[i].event.enter == enter) {
            *e = self.nested[i].event;
            self.n_nested = i;
            return true;
        }
    return false;
}
