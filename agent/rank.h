/* rank.h - one MPI program of one task on this node: its rings made into telemetry.
 *
 * Whatever is in a ring is the job's own writing: an event that cannot be is dropped and counted as missed.
 * Times come out as nanoseconds of the node's clock. */
#ifndef SYNCGUARD_AGENT_RANK_H
#define SYNCGUARD_AGENT_RANK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/flow.h"
#include "ring/ring.h"

/* How a rank is told about: the states of ring/ring.h, and one that nobody could write. */
enum rank_state { RANK_RUNNING = RING_STATE_RUNNING, RANK_FINALIZED, RANK_ABORTED, RANK_VANISHED };

/* What the ranks of a node share. */
struct rank_output {
    const struct ring_clock_map *clock; /* ready */
    flow_sink *put;
    void *arg;
    bool many; /* ranks: leave no ring in our resident memory between two drains */
};

struct rank;

/* info: of its first ring. */
struct rank *rank_new(const struct ring_info *info, double rate_hz, bool whole);
void rank_free(struct rank *r); /* NULL is fine */

uint32_t rank_number(const struct rank *r);
uint32_t rank_app(const struct rank *r);
pid_t rank_pid(const struct rank *r); /* as its process knows it */
bool rank_has_thread(const struct rank *r, uint32_t thread);
/* Takes the ring.  -1 (and the ring is closed) when the rank has that thread already, or too many. */
int rank_add(struct rank *r, struct ring *ring, const struct ring_info *info);

/* Take what the rings hold, in the order of time; returns how many events. */
size_t rank_drain(struct rank *r, const struct rank_output *out);
/* Once a second: its state, what it is inside of, its counts, blocks that wait too long. */
void rank_second(struct rank *r, const struct rank_output *out);
/* Send what is still open: the program or the step has ended. */
void rank_flush(struct rank *r, const struct rank_output *out);

enum rank_state rank_state(const struct rank *r);
/* Over, drained and said: nothing more will come, its memory is given back (what it was stays known). */
bool rank_over(const struct rank *r);
/* It appeared, or its state changed, since the last time this was asked. */
bool rank_take_news(struct rank *r);
json_t *rank_describe(const struct rank *r); /* an element of "ranks" in doc/protocol.md */

/* To a controller that knows nothing: the communicators again; rank_take_news() is true again, and counts and
 * what it is inside of come with the next second. */
void rank_announce(struct rank *r, const struct rank_output *out);
void rank_control(struct rank *r, double rate_hz, bool whole);

#endif
