/* comms.h - the communicators that a ring describes, for the events that are drained from it.
 *
 * It reads the ring's table before each drain.  An event may be of a communicator whose place was given to
 * another one since the last drain; so what had a place before is remembered until the place changes once
 * more. */
#ifndef SYNCGUARD_AGENT_COMMS_H
#define SYNCGUARD_AGENT_COMMS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring.h"

struct comms;

struct comms *comms_new(void);
void comms_free(struct comms *c); /* NULL is fine */

/* Takes a communicator; it is lent for the call.  freed: it was described before, and was freed. */
typedef void comms_sink(const struct ring_comm *comm, bool freed, void *arg);

/* What was described and freed since the last call. */
void comms_read(struct comms *c, const struct ring *ring, comms_sink *sink, void *arg);
/* All that are described and not freed. */
void comms_each(const struct comms *c, comms_sink *sink, void *arg);
uint32_t comms_size(struct comms *c, uint64_t name); /* members; 0: not described */

#endif
