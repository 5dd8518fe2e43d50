/* fabric.h - the placement of ranks, and the links that a message between two of them crosses.
 *
 * Nodes hold ranks_per_node ranks each, rank r is on node r / ranks_per_node.  Within a node a message
 * crosses the sender's and the receiver's own link (a crossbar, as NVSwitch is), between nodes a NIC of
 * either node and the switches between them: a generalised fat tree (Zahavi, "D-Mod-K Routing
 * Providing Non-Blocking Traffic for Shift Permutations on Real Life Fat Trees", 2010).  On level l a switch
 * (level 0: a node) has `parents` above it, each over one cable, and a switch above has
 * `children` below it. All links are full duplex: two independent directed links.
 *
 * Routes are deterministic, by the destination (D-mod-k), in the numbering of SimGrid's FAT_TREE cluster, so
 * that both put the same flows on the same link.  They are computed, not stored, so memory does not grow with
 * ranks^2. Not supported: adaptive or multi-path routing, shapes other than trees.
 *
 * Seconds, bytes, bytes a second.  Pure, no allocation. */
#ifndef SYNCGUARD_NETWORK_FABRIC_H
#define SYNCGUARD_NETWORK_FABRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

#define FABRIC_LEVELS_MAX 3u
#define FABRIC_HOPS_MAX   (2 * FABRIC_LEVELS_MAX)
#define FABRIC_RANKS_MAX  (1u << 20)
#define FABRIC_LINKS_MAX  (1u << 24)

struct fabric_level {
    uint32_t children; /* of a switch of this level's upper end */
    uint32_t parents;  /* of a switch of its lower end; level 0: 1, see rails */
    double latency_s;  /* of a cable, switch included */
    double bytes_per_s;
};

struct fabric_shape {
    uint32_t nodes, ranks_per_node;
    uint32_t rails;          /* NICs of a node; local rank i uses NIC i mod rails */
    double node_latency_s;   /* of a message within a node */
    double node_bytes_per_s; /* of a rank's own link, each direction; unused with one rank a node */
    uint32_t levels;         /* of switches, 1 to FABRIC_LEVELS_MAX */
    struct fabric_level level[FABRIC_LEVELS_MAX]; /* [0]: the NICs' links */
};

/* Simple shapes with one rank per node and one rail; all fields may be changed before fabric_init().
 * flat: one non-blocking switch.  leafspine: leaves of `children` nodes each, connected to each of
 * `spines` by one cable; children / spines is the oversubscription (cables of one speed). */
void fabric_flat(struct fabric_shape *s, uint32_t nodes, double latency_s, double bytes_per_s);
void fabric_leafspine(struct fabric_shape *s, uint32_t nodes, uint32_t children, uint32_t spines,
                      double latency_s, double bytes_per_s);

struct fabric {
    struct fabric_shape shape;
    uint32_t ranks, links; /* directed links are numbered from 0 */
    /* Private from here on. */
    struct {
        uint32_t below;    /* nodes under one child of this level: product of the levels' children under it */
        uint32_t radix;    /* equivalent switches on its lower end */
        uint32_t up, down; /* first link */
    } level[FABRIC_LEVELS_MAX];
};

/* 0, or -1 with a reason: more ranks or links than the maxima above.  Counts are at least 1, rails at most
 * ranks_per_node, bandwidths above 0, and all nodes fit under one tree. */
int fabric_init(struct fabric *f, const struct fabric_shape *s, struct err *err);

struct fabric_route {
    uint32_t hops;
    uint32_t link[FABRIC_HOPS_MAX];
    double latency_s;
};
/* From rank to rank; no hop and no latency from a rank to itself. */
void fabric_route(const struct fabric *f, uint32_t from, uint32_t to, struct fabric_route *route);

double fabric_link_bytes_per_s(const struct fabric *f, uint32_t link);
/* The link of a node's NIC, and the cable between a leaf switch and one of its parents. */
uint32_t fabric_nic_link(const struct fabric *f, uint32_t node, uint32_t rail, bool up);
uint32_t fabric_leaf_link(const struct fabric *f, uint32_t leaf, uint32_t parent, bool up);

#endif
