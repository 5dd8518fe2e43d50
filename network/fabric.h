/* fabric.h - the placement of ranks, and the links that a message between two of them crosses.
 *
 * Nodes hold ranks_per_node ranks each, rank r sits on node r / ranks_per_node.  Within a node a message
 * crosses the sender's and the receiver's own link (a crossbar, as NVSwitch is), between nodes a NIC of
 * either node and the switches between them: a parallel-ports generalised fat tree (Zahavi, "D-Mod-K Routing
 * Providing Non-Blocking Traffic for Shift Permutations on Real Life Fat Trees", 2010).  On level l a switch
 * (level 0: a node) has `parents` of them above it, each over `parallel` cables, and a switch above has
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
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define FABRIC_LEVELS_MAX 3u
#define FABRIC_HOPS_MAX   (2 * FABRIC_LEVELS_MAX)
#define FABRIC_RANKS_MAX  (1u << 20)
#define FABRIC_LINKS_MAX  (1u << 24)

struct fabric_level {
    uint32_t children; /* of a switch of this level's upper end */
    uint32_t parents;  /* of a switch (level 0: node) of its lower end; level 0: 1, see rails */
    uint32_t parallel; /* cables to each parent; level 0: 1, see rails */
    double latency_s;  /* of a cable, switch included */
    double bytes_per_s;
};

struct fabric_shape {
    uint32_t nodes, ranks_per_node;
    uint32_t rails;          /* NICs of a node; local rank i uses NIC i mod rails */
    bool planes;             /* NIC i of the nodes under a leaf leads to a leaf of its own (rail-optimised) */
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
        uint32_t cables;   /* in one direction */
    } level[FABRIC_LEVELS_MAX];
};

/* 0, or -1 with a reason and *f unchanged. */
int fabric_init(struct fabric *f, const struct fabric_shape *s, struct err *err);

struct fabric_route {
    uint32_t hops;
    uint32_t link[FABRIC_HOPS_MAX];
    double latency_s;
};
/* From rank to rank; no hop and no latency from a rank to itself. */
void fabric_route(const struct fabric *f, uint32_t from, uint32_t to, struct fabric_route *route);

uint32_t fabric_node(const struct fabric *f, uint32_t rank);
double fabric_link_bytes_per_s(const struct fabric *f, uint32_t link);

/* Links by location, for faults; FABRIC_NO_LINK if the link does not exist. */
#define FABRIC_NO_LINK UINT32_MAX
uint32_t fabric_rank_link(const struct fabric *f, uint32_t rank, bool out);
uint32_t fabric_nic_link(const struct fabric *f, uint32_t node, uint32_t rail, bool up);
/* Cable `port` (below parents x parallel) of switch `position` of a level, 1 to levels - 1, to the level
 * above; a level's switches are counted leaf by leaf. */
uint32_t fabric_switch_link(const struct fabric *f, uint32_t level, uint32_t position, uint32_t port,
                            bool up);
uint32_t fabric_switches(const struct fabric *f, uint32_t level);

#endif
