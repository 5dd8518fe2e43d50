/* calls.h - gathers the calls of ranks from other programs' files, and writes them as a syncguard-trace.
 *
 * Calls may come in any order.  When they are written, each rank's stand in the order in which it left them,
 * calls that have no number of their own are numbered in the order in which their rank made them, and the
 * ranks' calls are merged so that those that met stand near each other.  Times stay as they came: each file
 * has a clock of its own, and whoever reads the trace aligns the clocks of its nodes (graph/clock.h).
 *
 * Memory: at most 200 bytes a call (64 of its own, as many of room for more, and as many while they are
 * sorted), at most CALLS_MAX calls.  Units: nanoseconds of the file's clock. */
#ifndef SYNCGUARD_TRACE_CALLS_H
#define SYNCGUARD_TRACE_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/err.h"
#include "ring/call.h"
#include "trace/line.h"

#define CALLS_MAX      (1u << 24)
#define CALLS_IN_ORDER UINT32_MAX /* as seq: it has no number of its own */
#define CALLS_TIME_MAX ((uint64_t)1 << 61)
#define CALLS_UNSIZED  UINT64_MAX /* as bytes: not known, and written as 0 */
#define CALLS_STUCK    UINT64_MAX /* as leave_ns: it was never left */

struct calls_figures {
    uint32_t ranks, comms;
    uint32_t silent; /* besides the ranks: others that have no file, with whom these exchange messages or are
                        stuck */
    uint32_t size;   /* ranks of the job, where that is known; 0: it is not */
    bool untimed;    /* see calls_untimed() */
    uint64_t collectives, messages; /* written: records */
    uint64_t stuck;                 /* among them: never left */
    uint64_t unsized;               /* among them: with an unknown number of bytes */
    uint64_t alone;                 /* left out: collectives of one rank with itself */
    uint64_t repeated;              /* left out: another call of that rank has this number */
    uint64_t strange;               /* collectives of which another rank has another operation */
    bool one_clock_apart;           /* some ranks have nothing in common with the others */
};

struct calls;

struct calls *calls_new(void);
void calls_free(struct calls *c); /* NULL is fine */

/* The job's name; "": not known. */
void calls_job(struct calls *c, const char *name);
/* How many ranks the job has: those that calls_rank() is not told of are members without records. */
void calls_size(struct calls *c, uint32_t ranks);
/* Of the calls' times only how long each held its rank is known: the trace says so. */
void calls_untimed(struct calls *c);
/* A rank whose calls come, by the clock of that number; node "": not known.  -1: there are too many, or
 * another clock's calls were of this rank already. */
int calls_rank(struct calls *c, uint32_t rank, uint32_t clock, const char *node, struct err *err);
/* The number of a communicator by its name, which is cut and cleaned.  -1: there are too many. */
int64_t calls_comm(struct calls *c, const char *name, struct err *err);
/* rank is a member of a communicator, whether a call of it comes or not; left, called: numbers of the newest
 * collective there that it is known to have left and to have called; -1: not known.  Written for
 * communicators in which a call was never left.  Once for each member.  -1: its number is out of bounds. */
int calls_member(struct calls *c, int64_t comm, uint32_t rank, int64_t left, int64_t called, struct err *err);
/* So many calls that a rank has made are not over, and are not given: they stand behind the one in which it
 * is stuck, or too little is known of them.  Of a rank that was given to calls_rank(). */
void calls_queued(struct calls *c, uint32_t rank, uint32_t n);
/* Of a rank that was given to calls_rank(); comm: of calls_comm(); op: RING_OP_NONE is an unknown collective.
 * -1: a time or number is out of bounds, or there are too many calls. */
int calls_add(struct calls *c, const struct call *call, struct err *err);
size_t calls_count(const struct calls *c);

/* A hash of what both ends of a message, or all of a collective, share; comm: a hash of the communicator. */
uint64_t calls_meeting(const struct call *k, uint64_t comm);

/* Once, at the end.  0, or -1 with the reason: there are no calls. */
int calls_write(struct calls *c, FILE *out, struct calls_figures *f, struct err *err);

#endif
