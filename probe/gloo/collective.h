/* collective.h - collectives of Gloo, from their posting to their event.
 *
 * The program posts a collective, one of the group's threads runs it, and the program may wait for it.  The
 * group's tags number collectives on all of its ranks alike: a tag is the event's sequence number.  Events
 * are written in the order of tags, for that is the order that the program sees; one that ended before an
 * earlier one is held back until that has ended.
 *
 * An event lasts from the posting to the end; its wait is when the program began to wait, or its end, if
 * nobody was waiting then.  As long as no thread was ever seen waiting, which is so where PyTorch waits in a
 * way that is not known, it lasts from when a thread began to run it: that is not decided before the group
 * has some collectives, so that the first one is recorded alike on all ranks, however fast it was. */
#ifndef SYNCGUARD_GLOO_COLLECTIVE_H
#define SYNCGUARD_GLOO_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "gloo/group.h"

/* PyTorch's group takes this tag for its next collective, and posts it. */
void collective_posted(const void *group, uint32_t tag);
/* How many it has posted so far.  Call it under the guest's lock. */
uint64_t collective_count(void);
/* PyTorch took this tag for messages of its own, as in monitored_barrier(), and no collective.  Call it under
 * the guest's lock. */
void collective_not(struct group *g, uint32_t tag);

/* The group that this context (gloo::Context) is of.  NULL: none that is recorded. */
struct group *collective_group(const void *context);
/* This thread runs a collective of this group; collective_leave() follows. */
void collective_enter(struct group *g, const struct group_collective *c);
bool collective_recorded(void); /* the process is recorded */
void collective_missed(void);   /* one could not be read, or is of no group that is known */
void collective_leave(bool failed);

/* This thread of the program begins to wait for what it posted.  True: collective_awaited() follows. */
bool collective_await(void);
void collective_awaited(void);

#endif
