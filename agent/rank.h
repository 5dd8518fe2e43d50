/* rank.h - one MPI program of one task on this node: turns the events in its rings into telemetry.
 *
 * The job itself writes the rings: an impossible event is dropped and counted as missed.
 * Times are nanoseconds of the node's clock. */
#ifndef SYNCGUARD_AGENT_RANK_H
#define SYNCGUARD_AGENT_RANK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/rendezvous.h"
#include "ring/ring.h"
#include "sampling/flow.h"

/* The states of ring/ring.h, and VANISHED: the process ended without writing a state. */
enum rank_state { RANK_RUNNING = RING_STATE_RUNNING, RANK_FINALIZED, RANK_ABORTED, RANK_VANISHED };

/* Calls are sent one by one that a rank left in the first open_s of every period_s of the wall clock: on all
 * nodes the same ones, as far as their clocks agree.  open_s 0: none; not below period_s: all. */
struct call_window {
    double open_s, period_s;
};

/* What the ranks of a node share. */
struct rank_output {
    const struct ring_clock_map *clock; /* ready */
    struct rendezvous *rendezvous;
    flow_sink *put;
    void *arg;
    bool many;       /* many ranks: keep no ring in resident memory between two drains */
    unsigned newest; /* enum telemetry_kind that the controller can read */
    struct call_window window;
    double wall_s;  /* the wall clock minus the node's */
    uint32_t calls; /* that each rank may send in one drain */
};

struct rank;

/* info: of its first ring. */
struct rank *rank_new(const struct ring_info *info, double rate_hz);
void rank_free(struct rank *r); /* NULL is fine */

const struct ring_info *
rank_info(const struct rank *r);      /* lent; the process is named as in its own namespace */
pid_t rank_pid(const struct rank *r); /* of its process as this node counts; -1: not known */
bool rank_has_thread(const struct rank *r, uint32_t thread);
/* Takes the ring.  -1 when the rank already has that thread or too many threads; the ring is then closed. */
int rank_add(struct rank *r, struct ring *ring, const struct ring_info *info);

/* Read the rings' events in order of time; returns how many. */
size_t rank_drain(struct rank *r, const struct rank_output *out);
/* What was read until now was sent: the agent that follows a killed one need not read it again. */
void rank_release(struct rank *r);
/* Once a second: update state, call in progress and counts, and send blocks that have waited too long. */
void rank_second(struct rank *r, const struct rank_output *out);
/* Send what is still open, because the program or the step has ended. */
void rank_flush(struct rank *r, const struct rank_output *out);

enum rank_state rank_state(const struct rank *r);
/* The program has ended, and all its events were sent.  Its memory is freed; its description stays. */
bool rank_over(const struct rank *r);
/* Whether the rank appeared or its state changed since the last call. */
bool rank_take_news(struct rank *r);
json_t *rank_describe(const struct rank *r); /* an element of "ranks" in doc/protocol.md */

/* For a controller that has lost everything: send the communicators again, make rank_take_news() true, and
 * send counts and call in progress with the next second. */
void rank_announce(struct rank *r, const struct rank_output *out);
void rank_rate(struct rank *r, double rate_hz); /* samples to aim at a second */

#endif
