/* graph.h - the newest steps of a job as a graph of calls: each rank's own work, who meets whom, and what it
 * all costs.
 *
 * Calls come rank by rank, in the order in which each rank left them.  A collective is a meeting of its
 * members, a message one of its sender and its receiver: it is over a transfer after the last of them
 * arrived, and holds who waits for it until then.  A nonblocking call arrives when it is begun and holds its
 * rank in the call that completes it.  Nothing is known of the program: a step is complete when every rank
 * has come to its end (graph_step_end).
 *
 * A replay follows the graph again with some of the work or of the transfers changed, so that what is hidden
 * behind something else costs nothing (Kwon et al., "Daydream", ATC 2020; Lin et al., "Understanding
 * stragglers in large model training", 2025): T(as it was) / T(changed) is the price of what was taken away.
 *
 * Messages are matched by sender, receiver, communicator, tag and number, collectives by communicator and
 * number. The clocks of two nodes are unrelated; clock.h aligns them.
 *
 * Units: nanoseconds of each node's clock in, seconds out.  Times in steps that are remembered are exact to
 * 0.05 %. Memory: the newest steps, at most GRAPH_STEPS, in GRAPH_BYTES or in GRAPH_RANK_BYTES a rank,
 * whichever is more, but GRAPH_STEPS_MIN in any case; 10 bytes a call.  The calls since the newest step take
 * 30 bytes each, and 100 each message and collective. */
#ifndef SYNCGUARD_GRAPH_GRAPH_H
#define SYNCGUARD_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ring/call.h"

#define GRAPH_STEPS      256u
#define GRAPH_STEPS_MIN  4u
#define GRAPH_BYTES      (11u << 17) /* 1.4 MiB */
#define GRAPH_RANK_BYTES 1408u
#define GRAPH_KINDS_MAX  (1u << 18) /* of transfers; calls of others are left out */
#define GRAPH_PLACES_MAX (1u << 22) /* in the programs of all ranks */
/* calls of a rank since its newest step; with more, what is known so far is forgotten */
#define GRAPH_OPEN_MAX (1u << 15)
#define GRAPH_NONE     UINT32_MAX

struct graph;

struct graph *graph_new(void);
void graph_free(struct graph *g); /* NULL is fine */
/* all that it holds, but for its clocks; looks at all ranks */
size_t graph_held_bytes(const struct graph *g);

/* Times come aligned: they are of one clock, which begins at origin_ns, and seconds count from there.
 * error_s: standard deviation of the worst node's against another's; NaN: not known.  Before the first rank.
 */
void graph_share_clock(struct graph *g, uint64_t origin_ns, double error_s);
/* Rank and the number of its node; ranks on one node share a clock. Before its first call. */
void graph_rank(struct graph *g, uint32_t rank, uint32_t node);
/* It makes no more calls: steps are complete without it. */
void graph_rank_end(struct graph *g, uint32_t rank);

/* series: the name of its communicator, or of all that the program makes one after another to do the same. */
void graph_call(struct graph *g, const struct call *c, uint64_t series);
/* Some calls of this rank are missing here: what lies before its next call is not only its own work. */
void graph_lost(struct graph *g, uint32_t rank);
/* Many are missing: the rank's next step begins at the next end that it comes to. */
void graph_gap(struct graph *g, uint32_t rank);
/* The rank's calls so far, from the last end on, are those of step `number`; they increase. */
void graph_step_end(struct graph *g, uint32_t rank, uint32_t number);
/* No more calls come: steps that wait for what may follow are complete. */
void graph_finish(struct graph *g);
/* Another program, or other steps. */
void graph_reset(struct graph *g);

/* ---- complete steps ---- */

/* What an operation of a rank does, in the order of the program. */
enum graph_does { GRAPH_ARRIVES = 1, GRAPH_IS_HELD = 2 }; /* a blocking call does both */

struct graph_op {
    uint32_t rank, meeting;
    float work_s;   /* of its own, before it */
    float usual_s;  /* what that mostly is at this place of the step; NaN: not known */
    float lag_s;    /* held: how much later than the meeting's end it left */
    uint32_t place; /* in the rank's program, the same in all steps; GRAPH_NONE: not known */
    uint8_t does;
    bool first;    /* of those that its meeting holds */
    bool known;    /* work_s is all own work: no call is missing before it */
    bool has_work; /* there may be work before it: it is not the end of a call that arrived just before */
};

struct graph_meeting {
    uint32_t kind;         /* number of its kind: what it connects, its size; graph_kind_get() */
    uint32_t before;       /* the meeting before it on its communicator; GRAPH_NONE */
    float transfer_s;      /* from the last arrival to the end; NaN: all who were held came after the end */
    float max_s;           /* it was not longer than this; NaN: not known */
    float over_s;          /* the same, as the replay takes it: known or usual */
    double start_s, end_s; /* of the last arrival and the end, by the aligned clock */
};

/* Meetings that transfer the same between the same. */
struct graph_kind_info {
    bool message;
    uint8_t op;        /* of a collective: enum ring_op */
    uint32_t size;     /* bytes, as a power of two: sizes that vary a little are one kind */
    uint32_t from, to; /* ranks of a message */
    int32_t tag;
    uint32_t nodes;       /* of its members */
    const uint32_t *node; /* node[nodes], ascending; lent until the next call */
    uint64_t comm;        /* of a collective: its series */
    double bytes;         /* of the first of its calls */
};

struct graph_step {
    uint32_t number;
    const struct graph_op *op; /* n; each after all that it depends on */
    size_t n;
    double begin_s, end_s; /* of the first rank, of the last */
    double factor;         /* what all ranks did more of than usual; NaN: not known */
    double pause_s;        /* for how long most ranks did something else, in one place; 0: they did not */
};

/* Steps that are complete and remembered, and the step that is back before the newest.  Its operations are
 * lent until another step that is not the newest is asked for; the newest one's until the next call of a
 * rank. */
uint32_t graph_steps(const struct graph *g);
size_t graph_ops(const struct graph *g); /* operations in them */
struct graph_step graph_step_get(const struct graph *g, uint32_t back);
/* without its operations, which takes longer */
struct graph_step graph_step_about(const struct graph *g, uint32_t back);
/* When that step began for a rank; NaN: it took no part in it. */
double graph_begin_s(const struct graph *g, uint32_t back, uint32_t rank);
/* Can times of the two ranks be compared? */
bool graph_comparable(const struct graph *g, uint32_t a, uint32_t b);
/* Of an operation in a step that is remembered; lent until seven others were asked for. */
const struct graph_meeting *graph_meeting_get(const struct graph *g, uint32_t meeting);
uint32_t graph_kinds(const struct graph *g);
const struct graph_kind_info *graph_kind_get(const struct graph *g, uint32_t kind);

/* Places of work in the programs of all ranks, and the class of one: at places of one class ranks come from
 * the same call and go to the same call, with whomever. */
uint32_t graph_places(const struct graph *g);
uint32_t graph_place_class(const struct graph *g, uint32_t place);
uint32_t graph_classes(const struct graph *g);

/* Ranks of one role make the same calls, and are joined by communicators of their own where they have any
 * (the same stage of every replica).  Where they make them in several orders, and each order has at least two
 * ranks, each is a role of its own.  Roles count from 0; GRAPH_NONE while no step is complete. */
uint32_t graph_roles(const struct graph *g);
uint32_t graph_role(const struct graph *g, uint32_t rank);

/* Where the ranks of a role are divided into groups of one kind (which call the same, and are of one size),
 * each has a seat in its own, counted by rank: the ranks of one seat are peers across the groups, as those of
 * the same part of the experts are. Of kinds of groups those count of which no seat is a place of the
 * machine, as a node or neighbouring ones are.  GRAPH_NONE: there is no such kind, or it is not known yet. */
#define GRAPH_SEATINGS 4u /* kinds of groups of a role; more are left out */
uint32_t graph_seat(const struct graph *g, uint32_t rank, uint32_t seating);
/* Make the ranks of a role at a seat a role of their own. */
void graph_part(struct graph *g, uint32_t role, uint32_t seating, uint32_t seat);
/* The role that a rank had before any part was made of it. */
uint32_t graph_program(const struct graph *g, uint32_t rank);

/* ---- replay ---- */

/* A rank in an operation, as a replay has it, in seconds of the common time. */
struct graph_stay {
    double enter_s, leave_s;
    double begin_s, over_s; /* of the meeting's transfer; NaN: the operation does not wait for it */
};

/* What is different: the first two return what stands in place of the work or the transfer, in seconds; NULL:
 * as it was.  stay is called for each operation, in order; NULL: it is not. */
struct graph_change {
    double (*work)(const struct graph_op *op, const struct graph_step *s, void *arg);
    double (*transfer)(const struct graph_meeting *m, const struct graph_step *s, void *arg);
    void (*stay)(const struct graph_op *op, const struct graph_step *s, const struct graph_stay *stay,
                 void *arg);
    void *arg;
};

/* The time of the newest `steps` steps, with the change (NULL: as it was). */
double graph_replay(struct graph *g, uint32_t steps, const struct graph_change *change);

/* When the last rank was through a step, in seconds after the first one began the first step: as it was, and
 * with the change. */
struct graph_ends {
    double was_s, changed_s;
};

/* Both in one pass, which takes little longer than one of them. ends: room for `steps`, the oldest step
 * first; returns how many there are. */
uint32_t graph_replay_both(struct graph *g, uint32_t steps, const struct graph_change *change,
                           struct graph_ends *ends);

#endif
