/* updates.h - jobs whose workers read parameters from servers, work, and write updates back, without waiting
 * for one another: who they are, how stale each update is, and who is slow.
 *
 * A server is seen to go on without somebody: between two messages of one worker it received from another,
 * answered, received again and answered again.  A server that waits for all, or that takes its workers in
 * turns, never does; one that takes them in a fixed order, some more often than others, does.  Nothing is
 * said (updates_figures.found) unless
 *   - each worker went by another at each server, or was gone by;
 *   - the order in which the server received from them is not a fixed one: the numbers of others' updates
 *     between a worker's own do not repeat, in two stretches of 16, for any of the workers;
 *   - ranks that are not servers exchange messages with servers only, servers with none of themselves, and no
 *     other rank calls anything;
 *   - what a worker writes in an iteration has always the same size, the same for all workers of a server,
 *     and within four times that of what it reads: tasks and their results seldom do;
 *   - none of them has taken part in a collective since: ranks that meet wait for one another.
 * Such an order is seen as one when some worker is in it up to 8 times.  What it cannot be told from: an
 * order that is fixed, but longer than that for every worker, or that changes again and again.  Workers whose
 * iterations take so nearly the same time, or such simple multiples of it, that their order repeats are not
 * seen before it varies.
 * Of a farm whose tasks and results are of one size the same is seen; what is said of slow workers is true of
 * it, too.
 *
 * Messages below UPDATES_BYTES are requests, acknowledgements and the like.  All of the larger ones that a
 * server receives from a worker before it answers are one update, which is applied when the first of them is
 * there; those that it sends are one read, of when the first was begun.  Staleness is the number of others'
 * updates applied at the same server between a worker's read and its next write, by the order of the server's
 * own calls, which have one clock: it is the delay tau of model/staleness.h.
 *
 * Or the workers read a server's memory and write to it by one-sided calls (RING_OP_ACCESS), while it makes
 * none. What each of them reads is then what the server answers, and what it writes its update, in the order
 * in which the accesses ended.  That order is known where the workers have one clock (updates_clock());
 * nothing is said of memory that ranks of several clocks access.  Accesses that overlap may have taken effect
 * in another order than they ended in.  So a worker goes by another only if all writes of that one have ended
 * before, and its next begins after, all that shows it; and an update that overlaps with others does not
 * count in their order.
 *
 * Pure and causal; a call at a time, each rank's in the order in which it left them, whatever the order
 * between ranks.  Memory: 200 bytes for a rank's exchange with another one, 1.5 KB a rank once a server was
 * seen, 1 KB more a server.  Units: seconds, updates; NaN not known. */
#ifndef SYNCGUARD_CALLS_UPDATES_H
#define SYNCGUARD_CALLS_UPDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/interval.h"
#include "ring/call.h"

#define UPDATES_BYTES     4096u      /* smaller messages hold no parameters */
#define UPDATES_PAIRS_MAX (1u << 16) /* with more, nothing is looked for, or kept */
#define UPDATES_TURNS     32u        /* newest iterations that a rank's times stand on ... */
#define UPDATES_STALE     64u        /* ... and updates that its staleness does */

struct updates;

struct updates *updates_new(void);
void updates_free(struct updates *u); /* NULL is fine */
size_t updates_bytes(const struct updates *u);

/* The times of a rank's calls are this clock's; without it, clock 0's. */
void updates_clock(struct updates *u, uint32_t rank, uint32_t clock);
void updates_call(struct updates *u, const struct call *c);
void updates_gap(struct updates *u,
                 uint32_t rank); /* between its newest call and the next some are missing */
void updates_end_rank(struct updates *u, uint32_t rank);

struct updates_rank {
    uint32_t rank;
    bool serves;
    uint32_t turns; /* that the times stand on */
    /* worker: mean time of an iteration, its own work in it, and what it waits for messages; server: the same
     * from one update to the next, where work is all but that waiting */
    double turn_s, work_s, wait_s;
    double usual_work_s; /* median */
    /* worker: its own work over that of the other workers, server: the time that it takes for an update over
     * that of the other servers; medians, 1 is as they; NaN where there are too few others.  became_slow: the
     * server's time over its own before. */
    double times;
    /* It is slower than what chance and their differences explain; worker: and others went by it in its
     * newest iterations. */
    bool slow;
    /* server: not slower than the others, or the only one, but than it was itself (calls/serving.h): for so
     * long, since so many of its updates */
    bool became_slow;
    double since_s;
    uint64_t since_update;
    /* server: share of its time in its newest turns that it does not wait for messages, with its 90 %
     * interval; limit: that is nearly all of it, what it does is serving, and workers wait in its queue: with
     * more of them the rate stays what it is */
    double busy_ratio;
    struct interval busy;
    bool limit;
    /* The rate of all with it as fast as the others, over the rate as it is.  A slow worker costs its own
     * share, a slow server what all workers wait for it longer than for others, or, where it is the only one,
     * than they did before (model/serving.h). */
    double slowdown;
    /* worker: of its newest updates; the most of all */
    double stale_mean, stale_p95;
    uint32_t stale_max;
    /* worker: since when it has written nothing, on the clock of the server that heard from it last, until
     * that one's newest update; silent: for many of its iterations, and it counts in no sum */
    double silent_s;
    bool silent;
    double bytes;     /* of an update: all that a worker writes, a server's part */
    uint64_t updates; /* that it wrote, or that were written to it, since it last met others */
};

struct updates_figures {
    bool found; /* it goes on */
    uint32_t servers, workers;
    uint32_t silent;   /* of the workers: they write no more, though others do */
    double per_s;      /* iterations of all workers: the sum of their own rates; NaN before all are known */
    double busy_ratio; /* share of its time that the busiest server does not wait for messages; the same */
    double wait_ratio; /* share of the workers' time that they wait for messages, of those that are known */
    double stale_mean, stale_p95;
    uint32_t stale_max;
    size_t n;
    const struct updates_rank *rank; /* n, by number; lent until the next call of any of these */
};
/* Computed when it is asked for first after a call, in a time proportional to the ranks, and again to them
 * for each server, which is compared with the other servers.  Once more than half of the workers are silent,
 * as at the end, where the last ones finish, they are the figures of when they were asked for before.
 */
void updates_get(struct updates *u, struct updates_figures *f);
bool updates_found(const struct updates *u);
/* All but their order says so, and whether that is a fixed one cannot be told yet. */
bool updates_undecided(const struct updates *u);

#endif
