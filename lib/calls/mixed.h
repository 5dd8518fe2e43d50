/* mixed.h - what is slow from the start: a link that has two speeds, or all messages of a node.
 *
 * Some of the messages between two nodes take several times as long as the others there, and as all messages
 * of the same size between other nodes that do the same.  Flows that a fabric spreads by a hash of their
 * addresses may share one of its links with others, or take a bad one.
 *
 * Detectors that compare with before see nothing where it was never better, and that all messages of a link
 * are slower than others' may be its distance.  Here fast ones among them show that it is not.  Of one kind
 * at least they are as fast as the others' or, where its median is so long that no distance explains it,
 * clearly faster than that; there is no kind of messages between the two nodes without slow ones.  Compared
 * are messages between ranks of the same roles (graph/graph.h), so that their place in the program is the
 * same.
 *
 * Or all messages from and to a node, to two others at the least, take several times as long as those of the
 * same size that others exchange that do the same: its adapter is slow, or the way to it is.  The first
 * MIXED_STEPS steps are looked at.  Pure; memory 88 bytes a kind of transfers until then. */
#ifndef SYNCGUARD_CALLS_MIXED_H
#define SYNCGUARD_CALLS_MIXED_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/price.h"
#include "graph/graph.h"

#define MIXED_STEPS 256u

struct mixed;

struct mixed *mixed_new(void);
void mixed_free(struct mixed *m); /* NULL is fine */
void mixed_reset(struct mixed *m);

/* Take the graph's step that is back before the newest; in order. */
void mixed_step(struct mixed *m, const struct graph *g, uint32_t back);

struct mixed_link {
    bool standing;
    uint32_t node[2]; /* ascending; the second GRAPH_NONE: all messages of the first */
    double share;     /* of its messages that are slow; of those whose time is known */
    double times;     /* how long these take, over the fast ones; of a node, over others' */
};
const struct mixed_link *mixed_get(const struct mixed *m);

/* What its slow messages would take if they were fast, for each of `kinds` kinds; 0: others. */
void mixed_instead(const struct mixed *m, struct price_slow *slow, uint32_t kinds);

#endif
