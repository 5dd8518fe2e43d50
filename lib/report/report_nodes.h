/* report_nodes.h - the nodes of views, by name, with their jobs, lateness and verdicts. */
#ifndef SYNCGUARD_REPORT_REPORT_NODES_H
#define SYNCGUARD_REPORT_REPORT_NODES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "common/map.h"
#include "view/verdicts.h"

struct view;
struct view_verdict;

/* Texts belong to the views and to the caller. */
struct report_node {
    const char *name, *switch_name;
    const char **job; /* ids */
    size_t n_jobs, jobs_cap;
    uint32_t ranks, joined;      /* joined: ranks whose lateness is known */
    uint32_t recorded;           /* ranks that the job's agents told of, those that have ended too */
    double lateness_s, slowdown; /* sum over the joined ranks; the highest */
    const char *verdict;
    const void *agent; /* the caller's */
};

struct report_nodes { /* all zero is empty */
    struct report_node *row;
    size_t n, cap;
    struct map at; /* by the hash of the name, or where another name has that, by the next */
};

/* The node of the verdict's i-th culprit: the culprit itself, or the node of a rank.  "": not known, or a
 * switch, none of whose nodes is the cause. */
const char *report_culprit_node(const struct view *v, const struct view_verdict *d, uint32_t i, double now_s);

/* The node's row, created at the first call. */
struct report_node *report_nodes_get(struct report_nodes *t, const char *name);
/* The same for a node with ranks of this job. */
struct report_node *report_nodes_of(struct report_nodes *t, const struct view *v, const char *job,
                                    const char *name, const char *switch_name, double now_s);
/* Add all nodes on which the view has ranks. */
void report_nodes_add(struct report_nodes *t, const struct view *v, const char *job, double now_s);
void report_nodes_sort(struct report_nodes *t);        /* by name; nothing can be added then */
json_t *report_node_json(const struct report_node *n); /* the caller owns it */
void report_nodes_free(struct report_nodes *t);

#endif
