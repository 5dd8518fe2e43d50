/* message.h - messages of Gloo: a buffer is sent or received, and the program waits for it.
 *
 * A message is numbered as MPI's are (probe/number.h): n-th from its sender to its receiver in its group with
 * its tag.  The other end is known where the group has all ranks of the job; messages of other groups are
 * counted and not recorded. */
#ifndef SYNCGUARD_GLOO_MESSAGE_H
#define SYNCGUARD_GLOO_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "gloo/layout.h"
#include "ring/ring.h"

/* A buffer is to be sent to a rank of its group, or received from it; peer -1: from any. */
void message_posted(const struct gloo_buffer *buffer, enum ring_op op, int32_t peer, uint64_t tag,
                    uint64_t bytes);

/* This thread waits for it.  True: message_awaited() follows, with the rank that it was received from, or -1
 * (not known). */
bool message_await(const struct gloo_buffer *buffer, enum ring_op op);
void message_awaited(int32_t peer, bool done);

#endif
