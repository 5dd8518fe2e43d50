/* report_switches.h - the tree of switches above a job's nodes: how many nodes each has below it, what their
 * ranks work and wait, who is worst, which of them verdicts name, and which uplinks slow links pass.
 *
 * As far as Slurm names the switches to the tasks (SLURM_TOPOLOGY_ADDR); nodes without one are only counted.
 * Each switch stands before those below it; of neighbours those with something that a verdict names below
 * come first, otherwise they are in the order of their names, so that rows stay where they are.
 *
 * Pure: only reads the view.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_SWITCHES_H
#define SYNCGUARD_REPORT_REPORT_SWITCHES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "view/verdicts.h"

#define REPORT_SWITCHES_MAX 256u
#define REPORT_NAMED_MAX    256u /* nodes that verdicts name, of all switches together */

/* A node that a verdict names: itself, a rank on it, or a link that ends there. */
struct report_named {
    /* culprit: as the verdict names it; of a link its other node */
    char name[64], class[16], scope[16], culprit[64];
    int64_t ranks;
    double slowdown, wait_s; /* means over its ranks: own work over the others', wait a step */
};

struct report_switch {
    char name[64], class[16]; /* class: of a verdict on the switch itself */
    int64_t depth;            /* switches above it */
    int64_t slow_routes;      /* slow links of which only one end is below it */
    int64_t nodes, ranks;     /* below it */
    double slowdown, wait_s;  /* means over its ranks */
    double worst_slowdown;
    int64_t worst_rank;
    char worst_node[64];
    size_t first, n_named; /* in report_switches.named */
};

struct report_switches {
    int64_t total; /* switches, also those beyond the list */
    /* of those directly above nodes: with something that a verdict names */
    int64_t eventful;
    int64_t nodes, unknown_nodes, ranks; /* all nodes; those whose switch is not known */
    size_t n, n_named;
    struct report_switch *list;
    struct report_named *named;
};

/* With at most max switches, and what these verdicts name.  The caller frees it. */
struct report_switches *report_switches_get(const struct view *v, const struct view_verdict *verdict,
                                            size_t verdicts, double now_s, size_t max);
json_t *report_switches_json(const struct report_switches *s);
/* NULL: o is no object. */
struct report_switches *report_switches_read(const json_t *o);
void report_switches_free(struct report_switches *s); /* NULL is fine */

#endif
