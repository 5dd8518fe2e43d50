/* topology.h - a cluster's nodes and switches as Slurm knows them: a tree, or several.
 *
 * Filled in by topology_conf.h from a file, or switch by switch from what libslurm reports.  Nodes and
 * switches may be below several switches (fat trees, rails): such a fabric is folded into a tree, in which
 * each node is below one switch and each switch below at most one (fold.h). Blocks (topology/block) are
 * switches with nodes, below one that stands for what joins them. What was measured of a link is set by its
 * user; the rest is assumed by topology_assume().
 *
 * Never aborts and never prints: the plugin uses it.  Bytes per second, seconds; NaN is unknown. */
#ifndef SYNCGUARD_TOPOLOGY_TOPOLOGY_H
#define SYNCGUARD_TOPOLOGY_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

#define TOPOLOGY_NODES_MAX    65536u
#define TOPOLOGY_SWITCHES_MAX 65536u
#define TOPOLOGY_LINKS_MAX    (1u << 20) /* between nodes and switches, as the file names them */
#define TOPOLOGY_LEVELS_MAX   16u        /* of switches */
#define TOPOLOGY_CABLES_MAX   64u
#define TOPOLOGY_NONE         UINT32_MAX

/* From a node or switch to the switch above it, full duplex: a number of cables, and a message takes one of
 * them. */
struct topology_link {
    double measured_bytes_per_s, measured_latency_s; /* NaN: not measured */
    /* than such links usually are: 1 and 0 unless that was measured (slow_links.h) */
    double slower, delay_s;
    double bytes_per_s, latency_s; /* measured, or else assumed; of all cables */
    uint32_t cables;
};

/* Two nodes between which messages are slower, or take longer, than by the links on their way. */
struct topology_pair {
    uint32_t a, b;          /* nodes, a < b */
    double slower, delay_s; /* at least 1, at least 0 */
};

struct topology_node {
    char *name;
    uint32_t parent;         /* a switch */
    uint32_t n_above;        /* switches that name it: several leaves on rails */
    struct topology_link up; /* its cables: one to each switch that is alike */
};

struct topology_switch {
    char *name;
    uint32_t parent;  /* TOPOLOGY_NONE: a root */
    uint32_t height;  /* 0: has nodes; else one more than the highest switch below */
    uint32_t n_below; /* switches and nodes directly below in the tree */
    /* The first of the switches with the same below them; only that one has something below in the tree. The
     * next of them, or TOPOLOGY_NONE. */
    uint32_t same, alike;
    uint32_t ways;     /* switches directly above, of those that are alike */
    unsigned line;     /* of the file; 0: not from a file */
    double link_speed; /* LinkSpeed=, in units of the site's own; NaN: not given */
    struct topology_link up;
    char *switches; /* the names below it, as written; private */
};

struct topology {
    char *origin; /* the file, or "slurmctld": how reasons begin */
    struct topology_node *node;
    struct topology_switch *a_switch;
    size_t n_nodes, n_switches;
    bool blocks;                /* topology_join() */
    bool flat;                  /* it was declared to have no switches */
    struct topology_pair *pair; /* each once */
    size_t n_pairs;
    /* Private. */
    size_t cap_nodes, cap_switches, cap_pairs;
    uint32_t *by_name; /* switches */
};

/* NULL: no memory. */
struct topology *topology_new(const char *origin);
void topology_free(struct topology *t); /* NULL is fine */

/* Add a switch with nodes or switches below it, not both, in Slurm's notation; "" or NULL: none.  0, or -1
 * with the reason, after which only topology_free() is of use. */
int topology_add(struct topology *t, const char *name, const char *nodes, const char *switches,
                 double link_speed, unsigned line, struct err *err);

/* All of them are blocks, which jobs span: something above joins them, and of switches nothing is known. */
int topology_join(struct topology *t, struct err *err);

/* After the last switch: resolve the names.  Nodes are sorted by name from here on, and nothing has been
 * measured. 0, or -1 with the reason: a switch twice or unknown, a circle, too many levels. */
int topology_finish(struct topology *t, struct err *err);
/* Slurm accepts a file without switches; placing a job needs at least one.  0, or -1 with what is needed. */
int topology_needed(const struct topology *t, struct err *err);

/* An index, or TOPOLOGY_NONE: unknown. */
uint32_t topology_find_node(const struct topology *t, const char *name);
uint32_t topology_find_switch(const struct topology *t, const char *name);

/* Messages between two different nodes are that much slower: the worst that was said of them counts.  -1: no
 * memory. */
int topology_slow_pair(struct topology *t, uint32_t a, uint32_t b, double slower, double delay_s);
/* A node is below another switch with nodes than was said. */
void topology_move(struct topology *t, uint32_t node, uint32_t a_switch);

/* How fast links are that were not measured. */
struct topology_assumption {
    double node_bytes_per_s, latency_s; /* of a node's link; of any link */
    /* Capacity below a switch over that of its link up: of switches with nodes, of those above, ...; the last
     * counts for all further levels. */
    double oversubscription[TOPOLOGY_LEVELS_MAX];
    size_t n_oversubscription; /* at least 1 */
};

/* 12.5 GB/s (100 Gbit/s), 1 us, 2 to 1 everywhere. */
extern const struct topology_assumption topology_usual;

/* Set bytes_per_s, latency_s and cables of all links; a cable between switches is about as fast as a node's,
 * and more than TOPOLOGY_CABLES_MAX count as so many faster ones. Slurm gives LinkSpeed no unit and no
 * meaning: here a switch's link up is as much slower than assumed as its LinkSpeed is lower than the highest
 * one of its height. What makes one link slower makes none above it slower. */
void topology_assume(struct topology *t, const struct topology_assumption *a);

#endif
