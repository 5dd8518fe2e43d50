/* links.h - where the network is slow: what each kind of transfer takes now over what it took before,
 * explained by one place.
 *
 * Kinds of transfers (graph/graph.h) that reach more than one node are compared with their own past.  Of the
 * places that could be slow - the adapter of a node, the link between two nodes, a communicator beside which
 * others do the same between the same nodes, or all - the one is named that explains most of what is slow:
 * the least squares of one excess for the kinds that go there and none for the others.  Collectives of more
 * than two nodes count for a link or an adapter where they are slow, too; where they are not, they don't
 * count against it: who comes last may find there what the others sent. What a transfer varies by less than a
 * thousandth of a step counts little.  Another place is named when it explains clearly more. Pure; memory 157
 * bytes a kind and 100 a place. */
#ifndef SYNCGUARD_CALLS_LINKS_H
#define SYNCGUARD_CALLS_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

struct links;

struct links *links_new(void);
void links_free(struct links *l); /* NULL is fine */
void links_reset(struct links *l);

/* Take the graph's step that is back before the newest; in order. */
void links_step(struct links *l, const struct graph *g, uint32_t back);

struct links_slow {
    bool standing;
    uint32_t nodes, node[2]; /* 2: the link between them; 1: the adapter of the node; 0: everything ... */
    /* ... or only the collectives of more than two nodes: messages are as fast as before */
    bool collectives;
    /* or only the collectives of the communicator comm: those of others that do the same between the same
       nodes are as fast as before */
    bool of_comm;
    uint64_t comm;     /* its series */
    uint32_t from, to; /* numbers of the first slow step and of the newest */
    double excess;     /* of its transfers, 1 is twice as long */
    /* standard error of the log of 1 + excess, from how it differed from step to step, before and since */
    double error;
    bool fading;          /* its newest steps were fast: one more, and it is let go */
    double spread;        /* standard deviation of the log of that from step to step */
    double spread_before; /* the median of the same before it was slow; NaN: not known */
};
const struct links_slow *links_get(const struct links *l);

/* The smallest excess that would be named now of all transfers (nodes 0), of those of one node (1) or of one
 * link (2), of those places where it must be largest; NaN: no transfer of them is learnt. */
double links_limit(const struct links *l, uint32_t nodes);

bool links_same_place(const struct links_slow *a, const struct links_slow *b);
/* Do transfers of this kind go through the place? */
bool links_has(const struct links_slow *s, const struct graph_kind_info *k);

#endif
