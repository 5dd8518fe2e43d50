/* numbering.h - the numbers of a trace's records: which of them are missing, come twice, or come too late.
 *
 * A rank numbers its collectives in each communicator, and its messages with each other rank, one way, with
 * one tag.  Collectives stand in order.  What a wait for several messages completed may stand in any order,
 * and a posted message can be completed long after one that was posted later: only what is still missing then
 * is lost.
 *
 * Memory: some 40 bytes for each pair of a rank and a communicator, and for each series of messages; at most
 * NUMBERING_MAX of each. */
#ifndef SYNCGUARD_TRACE_NUMBERING_H
#define SYNCGUARD_TRACE_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/line.h"

#define NUMBERING_MAX (1u << 21)

struct numbers { /* of one series; zero but for next: none came yet */
    uint32_t next;
    uint64_t seen; /* bit i: next - 1 - i */
};
/* false: it came before, or that is too long ago to tell */
bool numbers_add(struct numbers *k, uint32_t number);

enum numbering_is {
    NUMBERING_GOOD,
    NUMBERING_TWICE, /* it came before */
    NUMBERING_LATE,  /* of a collective: behind a newer one; of a message: far behind */
    NUMBERING_BEYOND /* there are too many series */
};

struct numbered {
    enum numbering_is is;
    bool first;         /* of its rank in its communicator; of collectives alone */
    uint32_t skipped;   /* numbers before it that did not come, ... */
    bool found;         /* ... or it is one that had been counted so */
    bool lost_calls;    /* collectives of its rank are missing before it */
    bool lost_messages; /* and messages, which do not come any more */
};

struct numbering;

struct numbering *numbering_new(uint32_t ranks); /* ranks: one more than the largest */
void numbering_free(struct numbering *n);        /* NULL is fine */

/* The next record.  comm: what identifies its communicator. */
struct numbered numbering_take(struct numbering *n, const struct trace_record *r, uint64_t comm);
/* Of the rank: numbers that were skipped and did not come later. */
uint64_t numbering_lost(const struct numbering *n, uint32_t rank);

#endif
