/* path.h - the critical path of one step of a graph: what each moment of it waited for, from its last end
 * backwards.
 *
 * A rank that a meeting held waited for its transfer, and before that for the last who arrived there;
 * everything else is the rank's own work.  What is shortened elsewhere does not shorten the step (Yang &
 * Miller, "Critical path analysis for the execution of parallel and distributed programs", ICDCS 1988).
 * Nothing is replayed: these are the times that were measured.
 *
 * Units: seconds of the graph's common time. */
#ifndef SYNCGUARD_CALLS_PATH_H
#define SYNCGUARD_CALLS_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

enum path_kind {
    PATH_WORK,
    PATH_WAIT,     /* for others */
    PATH_TRANSFER, /* of a message or a collective; a sender's time in its call, too */
    PATH_CALL,     /* still inside of the call when the transfer was over */
    PATH_UNKNOWN,
    PATH_KINDS
};

struct path_piece {
    uint32_t rank, from; /* from: the other rank that a transfer came from; otherwise the same */
    uint32_t meeting;    /* of a transfer; otherwise GRAPH_NONE */
    uint8_t kind;        /* enum path_kind */
    double begin_s, end_s;
};

struct path {
    struct graph_step step;   /* lent by the graph, as are its operations */
    uint32_t ranks;           /* known to the caller */
    double *enter_s, *out_s;  /* by operation: when it began to hold its rank, when the rank went on */
    uint32_t *before, *after; /* the rank's operations around it; GRAPH_NONE */
    uint32_t *first;          /* by rank: its first operation; GRAPH_NONE */
    struct path_piece *piece; /* of the path, earliest first, without a gap */
    size_t n;
    /* last arrivals by meeting, from `base` on, while the path is looked for */
    uint32_t *arrival, base, meetings;
};

/* Of the step that is back before the newest; NULL: it has no operation.  ranks: one more than the largest.
 */
struct path *path_new(const struct graph *g, uint32_t back, uint32_t ranks);
void path_free(struct path *p); /* NULL is fine */

/* When what an operation waits for was there, and the transfer began; NaN: it waits for nothing that is
 * known. */
double path_begin_s(const struct path *p, const struct graph *g, uint32_t op);

#endif
