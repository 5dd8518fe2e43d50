/* rendezvous.h - when the last rank of this node came to a collective, and when that was over.
 *
 * Of some collectives ranks record an end that may lie before the last one came (RING_EVENT_EARLY), but all
 * record when they came.  Where all members are on one node, whose clock they share, the last arrival shows
 * the end: nobody has the result before, and the one who came last waited for nobody, so that its stay is
 * what the collective itself took at the least.  All members have left when that one did.
 *
 * Of a communicator whose members are on several nodes it says nothing.  That they are all here is known once
 * all have come to one of its collectives.
 *
 * Units: nanoseconds of the node's clock.  Memory: RENDEZVOUS_COMMS_MAX communicators, the one that was
 * silent longest gives way, and of each at most RENDEZVOUS_OPEN_MAX collectives in a row (96 KiB). */
#ifndef SYNCGUARD_AGENT_RENDEZVOUS_H
#define SYNCGUARD_AGENT_RENDEZVOUS_H

#include <stdint.h>

#include "ring/call.h"

#define RENDEZVOUS_COMMS_MAX 64u
#define RENDEZVOUS_OPEN_MAX  4096u

enum rendezvous_state {
    RENDEZVOUS_UNKNOWN, /* it was given up, or the members are not known to be on this node */
    RENDEZVOUS_AWAITED, /* not all have come, as far as they were read */
    RENDEZVOUS_OVER
};

struct rendezvous;

struct rendezvous *rendezvous_new(void);
void rendezvous_free(struct rendezvous *v); /* NULL is fine */

/* A member came to a collective, once: its begin and its recorded end.  members: of its communicator. */
void rendezvous_come(struct rendezvous *v, const struct call *c, uint32_t members);
/* *over_ns: when it was over, only where it was. */
enum rendezvous_state rendezvous_get(struct rendezvous *v, const struct call *c, uint64_t *over_ns);
/* Records of some rank are missing: nobody is waited for until all have come to another one. */
void rendezvous_give_up(struct rendezvous *v);

#endif
