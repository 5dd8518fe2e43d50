/* import_records.h - records of calls that do not say all of what a call is: collectives are counted for each
 * operation by itself, and some have no time at which they began.  This finds one order for all ranks of a
 * communicator, and times as far as there are any.
 *
 * Records are in the order in which each rank completed its calls.  Memory: about 60 bytes a collective while
 * they are ordered.  Units: nanoseconds of each rank's own clock. */
#ifndef SYNCGUARD_TRACE_IMPORT_RECORDS_H
#define SYNCGUARD_TRACE_IMPORT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct record {
    uint32_t process, comm;
    uint32_t rank, peer; /* in the communicator */
    uint8_t op;          /* enum ring_op */
    uint32_t number;     /* of a collective among those of its operation; CALLS_IN_ORDER: it has none */
    uint32_t seq;        /* among all of its communicator; what records_number() finds */
    uint64_t bytes;      /* as of a call */
    uint64_t enter_ns, leave_ns; /* leave_ns 0: not known */
    uint64_t lasted_ns;
    uint64_t written_ns; /* when the record was; 0: not known */
};

/* Number the collectives of each communicator from 0, or where it has but one operation from that one's first
 * number: each rank's in the order of its records, and those of an operation as they are counted. */
void records_number(struct record *record, size_t n);

/* Find times for records that have none.  A record that was written soon after its call ended tells when that
 * was.  1: all collectives have times then, and messages do, or leave_ns is 0.  0: when they were written
 * does not show that; all collectives have times on one clock then of which only their differences mean
 * something, and only within one call: those who met leave at one moment, and each was held as long as it
 * was.  No message has a time then.  -1 with the reason: one after the other they last longer than a trace
 * may. */
int records_time(struct record *record, size_t n, struct err *err);

#endif
