/* network.h - the time of collectives on a fabric: computes when each member leaves from when each arrives.
 *
 * A message takes the latency of its route, then its bytes at the rate that max-min fair sharing gives it
 * (share.h; SimGrid's CM02 with factors of 1).  There are three ways to execute a schedule:
 *
 *   exact      an event loop over messages.  Any number of jobs at once (network_play()).  O(events) with a
 *              re-solve of the rates of those messages that a start or an end can touch.
 *   by rounds  the rates of a round's messages are those with all of them in flight together, solved once for
 *              each distinct round and cached; times propagate from round to round without events.  A ring
 *              takes O(members) (ring_rounds.h).  Equal to exact, to rounding, where no link is ever shared
 *              (network_count.shared); otherwise an approximation, which overestimates sharing between
 *              messages that skew keeps apart, and ignores that between messages of different rounds and
 *              jobs.
 *   sampled    where links are shared: by rounds, with the message times of an exact run of the same
 *              collective (of a ring: some of its rounds).  A sample is reused for runs with similar
 *              spread of arrivals and the same faults; otherwise a new one is taken.
 *
 * A parameter server is a service of its node: it receives messages as they arrive, and the member on its
 * node continues while others fetch the sum.
 *
 * Not modelled: packets, congestion control, adaptive routes; see doc/decisions/0013-network-model.md.
 * Seconds, bytes, bytes a second.  One thread. */
#ifndef SYNCGUARD_NETWORK_NETWORK_H
#define SYNCGUARD_NETWORK_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/fabric.h"
#include "network/schedule.h"

struct network;

/* Copies the fabric.  A message starts when both ends are ready, and they continue when it has been
 * transferred. */
struct network *network_new(const struct fabric *f);
void network_free(struct network *n); /* NULL is fine; free its collectives first */

/* Share links in inverse proportion to the latency of the messages' routes, as TCP penalises long
 * connections? Default: no, equally, and no program changes that: it is for tests/simgrid, because SimGrid's
 * CM02 does so.  Not while anything runs. */
void network_weigh_latency(struct network *n, bool weigh);

/* Faults, to be changed between collectives only (and inside a network_play() program's next()).
 * A link's bandwidth is divided by slowdown, extra_latency_s is added.  1 and 0: healthy. */
void network_set_link(struct network *n, uint32_t link, double slowdown, double extra_latency_s);
void network_heal(struct network *n); /* clear all faults */

/* Incast: the loss of messages that leave a switch by one port at the same time.  Up to `buffer` of them lose
 * nothing; for each further one, `loss` times its bytes are sent again, so k messages together get
 * k / (k + loss (k - buffer)) of the port, as with ports that drop the tails of bursts.  loss has to be
 * measured; 0: none (the default).  May be changed when faults may. */
void network_set_incast(struct network *n, uint32_t buffer, double loss);

/* A gate before a link (network/gate_queues.h); both 0: none.  With gates, collectives are executed message
 * by message. Not while anything runs. */
void network_set_gate(struct network *n, uint32_t link, uint32_t limit, double gap_s);

/* ---- collectives ---- */

struct network_collective;

/* An all-reduce whose member i is on rank[i] (copied; distinct). */
struct network_collective *network_collective_new(struct network *n, const struct schedule_spec *spec,
                                                  const uint32_t *rank);
void network_collective_free(struct network_collective *c); /* NULL is fine */

enum network_mode {
    NETWORK_AUTO, /* by rounds where that is exact; else sampled if that is fast; else by rounds */
    NETWORK_ROUNDS,
    NETWORK_EXACT,
    NETWORK_SAMPLED,
};
extern const char *const network_modes[]; /* "auto", "rounds", "exact", "sampled", NULL */

/* Statistics of a run; they add up over runs unless cleared. */
struct network_count {
    enum network_mode mode; /* which execution ran last: never AUTO */
    bool closed; /* by rounds: some ring was computed in closed form, without walking its messages */
    /* Exact: messages shared a link; by rounds: they could have, so the times are approximate. */
    bool shared;
    uint64_t messages; /* of the schedules that ran, walked or not */
    uint64_t walked;   /* messages whose times were computed one by one */
    uint64_t events;   /* exact: starts of transfer, ends of transfer, ends of compute */
    uint64_t solves;   /* max-min problems */
    uint64_t samples;  /* exact runs for the sampled execution; their messages are counted, too */
};

/* One collective alone on the network, in seconds from any origin; arrive and leave by member, which may be
 * the same array.  Not from within network_play(). */
void network_run(struct network_collective *c, enum network_mode mode, const double *arrive_s,
                 double *leave_s, struct network_count *count);

/* By rounds only: is it exact for this collective, that is, is no link ever shared? */
bool network_rounds_exact(struct network_collective *c);

/* ---- several jobs at once, exact ---- */

struct network_op {
    enum { NETWORK_COMPUTE, NETWORK_ENTER, NETWORK_END } kind;
    double seconds; /* compute; infinity: until network_wake() */
    /* enter: as its member `member`; a member's n-th entry meets the others' n-th */
    struct network_collective *collective;
    uint32_t member;
};

/* A job: `ranks` state machines, each asked in turn what it does next.  next() is called once at time 0, and
 * then whenever the op before is done; never after NETWORK_END. */
struct network_job {
    uint32_t ranks;
    void (*next)(void *arg, uint32_t rank, double now_s, struct network_op *op);
    void *arg;
};

/* Within a next(): a rank of a job (identified by its arg) that computes, or was inside a collective that is
 * abandoned, is done at at_s, now or later. */
void network_wake(struct network *n, const void *job, uint32_t rank, double at_s);
/* Within a next() that ends a compute: discard all messages of the collective.  Members that were inside wait
 * for network_wake(); those that enter next do so for the first time. */
void network_abandon(struct network_collective *c);

/* Run jobs until all have ended, or wait for others that never come. */
void network_play(struct network *n, const struct network_job *job, size_t jobs, struct network_count *count);

#endif
