/* layout.h - a job's nodes on the cluster's tree, and what its messages cost there in a given order of its
 * ranks.
 *
 * A round of a phase (pattern.h) takes the longest latency of its messages, plus the bytes on its busiest
 * link over that link's rate:
 *
 *     time = sum over phases of rounds * (max over messages of latency + max over links of bytes / rate)
 *
 * This is model/collective.h's latency and bandwidth (Hockney 1994), with the bandwidth that is left where
 * messages share a link: the congestion of Hoefler & Snir, "Generic topology mapping strategies for
 * large-scale parallel architectures", ICS 2011. Where a link has several cables, each message takes one of
 * them by chance, as routes by destination or hash do, and the busiest one counts: of n messages on c cables
 * about n/c + z_c sqrt(n/c (1 - 1/c)), with the mean z_c of the largest of c standard normals
 * (model/order.h). On one switch with one rank per node it is what model/collective.h says. A message crosses
 * the links from its node up to the lowest common switch and down again; each link is full duplex. Messages
 * inside a node cost nothing, because no order of the nodes changes them.
 *
 * Between two nodes that were measured to be slow (topology.h) there is one more link, which only their
 * messages cross, one at a time: its bandwidth is that of the slowest link on the way divided by the measured
 * factor, and the delay is added.
 *
 * Never aborts and never prints. Seconds, bytes. */
#ifndef SYNCGUARD_TOPOLOGY_LAYOUT_H
#define SYNCGUARD_TOPOLOGY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "topology/pattern.h"
#include "topology/topology.h"

struct layout_node {
    const char *name; /* borrowed */
    uint32_t ranks;   /* at least 1 */
};

/* A node of the job (its index is that of layout_new()'s nodes), or a switch above one. */
struct layout_vertex {
    const char *name;
    uint32_t parent;              /* TOPOLOGY_NONE: the root */
    uint32_t depth;               /* links up to the root */
    uint32_t child, sibling;      /* first and next one, or TOPOLOGY_NONE; in Slurm's order */
    uint32_t nodes, ranks;        /* of the job, here and below */
    double s_per_byte, latency_s; /* of a cable up */
    double cables, spread;        /* spread: of messages over them, z_c sqrt((1 - 1/c) / c) */
};

/* The link between two nodes of the job that were measured to be slow, in both directions. */
struct layout_pair {
    uint32_t a, b;              /* a < b */
    double s_per_byte, delay_s; /* 0: it takes nothing beyond the way */
};

struct layout {
    uint32_t nodes, ranks, vertices;
    uint32_t per_node; /* ranks of each node; 0: they differ */
    uint32_t top;      /* the lowest vertex with all nodes below it */
    struct layout_vertex *vertex;
    struct layout_pair *pair; /* sorted */
    uint32_t n_pairs;
    bool *paired;      /* by node: it has a pair; NULL: none has */
    double *up, *down; /* private: messages on the links, and then on the pairs, from a to b and back */
};

/* The pair of these two nodes; TOPOLOGY_NONE: they have none. */
uint32_t layout_find_pair(const struct layout *l, uint32_t a, uint32_t b);

/* Seconds per byte of each message when so many cross the link up of v in one direction; grows with them. */
double layout_link_s(const struct layout_vertex *v, double messages);

/* The job's nodes in Slurm's order; the topology is borrowed, and topology_assume() was called.  NULL with
 * the reason: a node that is not in it or given twice, too many ranks, nodes without a common switch, no
 * memory. */
struct layout *layout_new(const struct topology *t, const struct layout_node *nodes, size_t n,
                          struct err *err);
void layout_free(struct layout *l); /* NULL is fine */

struct layout_cost {
    double time_s;
    double latency_s; /* of it, what does not depend on the bytes */
    uint32_t
        /* the vertex below the link that takes the most of it; from `vertices` on, a pair; or TOPOLOGY_NONE:
           nothing is sent */
        link;
    double pair_messages; /* over slow pairs, in all phases */
    double link_bytes;    /* over that link in the direction of more, in the phase that takes longest */
};

/* Flows between slots for layout_slots(): of nodes if all have as many ranks, else of ranks.  NULL: no
 * memory. */
struct flows *layout_flows(const struct layout *l, const struct pattern *p);
/* The node of each slot, where nodes have their ranks one after another in this order: f->slots numbers. */
void layout_slots(const struct layout *l, const struct flows *f, const uint32_t *order, uint32_t *slot_node);
/* The node of each rank, where nodes get a rank in turn (Slurm's cyclic distribution): l->ranks numbers. */
void layout_cyclic(const struct layout *l, uint32_t *rank_node);

void layout_cost(struct layout *l, const struct flows *f, const uint32_t *slot_node, struct layout_cost *c);
/* No order costs less than this; often one costs as much. */
double layout_bound_s(const struct layout *l, const struct flows *f);

/* A host file (SLURM_HOSTFILE): a line per rank. */
void layout_write_hosts(const struct layout *l, const uint32_t *order, FILE *out);

#endif
