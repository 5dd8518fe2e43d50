/* flow.h - one rank's collectives, in order, made small: what an agent sends on.
 *
 * Out come samples (blocks of n collectives of one communicator, n a power of two that grows with the rank's
 * own rate, so that a job of any speed sends about rate_hz samples a rank and second) and training steps
 * (from the period of the largest communicator's sequence). Unusual collectives, and those around them, are
 * sent whole beside their block. Nothing of the real time enters: the same calls give the same items, live
 * and from a recorded trace.
 *
 * Units: nanoseconds of the node's clock, bytes. Memory is fixed: FLOW_COMMS_MAX communicators with records
 * at a time, the one that was silent longest gives way. */
#ifndef SYNCGUARD_SAMPLING_FLOW_H
#define SYNCGUARD_SAMPLING_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/call.h"
#include "wire/telemetry.h"

#define FLOW_COMMS_MAX 32u

struct flow;

/* Takes each item as it is made; it is lent for the call. */
typedef void flow_sink(const struct telemetry_item *item, void *arg);

struct flow *flow_new(uint32_t rank, uint16_t app, double rate_hz);
void flow_free(struct flow *f); /* NULL is fine */

/* The next collective of the rank, ordered by when it was left; the threads' rings merged.  members: of its
 * communicator, 0: not known; those of one member make no sample: they count as the rank's own work.  p2p_ns:
 * in messages since the collective before. */
void flow_call(struct flow *f, const struct call *call, uint32_t members, uint64_t p2p_ns, flow_sink *sink,
               void *arg);

/* Calls of the rank are missing here, others than collectives: of its own work since its last collective
 * nothing is known. */
void flow_lost(struct flow *f);

/* Send what is open (a block that waits for its end longer than max_age_ns before now_ns; 0: all of it). */
void flow_flush(struct flow *f, uint64_t now_ns, uint64_t max_age_ns, flow_sink *sink, void *arg);

/* Samples to aim at a second; whole: every collective as its own block, every step as its own item, whatever
 * the rate. */
void flow_control(struct flow *f, double rate_hz, bool whole);

#endif
