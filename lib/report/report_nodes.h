/* report_nodes.h - nodes as they are reported: what the views of jobs know of each is added up by name,
 * written as JSON, and read from it by pages and screens (sgctl(1), "nodes").
 *
 * Units: seconds; shares from 0 to 1; Unix time.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_NODES_H
#define SYNCGUARD_REPORT_REPORT_NODES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/map.h"
#include "report/report_agent.h"
#include "view/verdicts.h"
#include "wire/json.h"

struct view;
struct view_verdict;

/* What is added up of a node.  Texts belong to the views and to the caller. */
struct report_node_sums {
    const char *name, *switch_name;
    const char **job; /* ids */
    size_t n_jobs, jobs_cap;
    uint32_t ranks, joined;      /* joined: ranks whose lateness is known */
    uint32_t recorded;           /* ranks that the job's agents told of, those that have ended too */
    double lateness_s, slowdown; /* sum over the joined ranks; the highest */
    const char *verdict;
    const void *agent, *agent_job; /* the caller's */
};

struct report_nodes { /* all zero is empty */
    struct report_node_sums *row;
    size_t n, cap;
    struct map at; /* by the hash of the name, or where another name has that, by the next */
};

/* The node of the verdict's i-th culprit: the culprit itself, or the node of a rank.  "": not known, or a
 * switch, none of whose nodes is the cause. */
const char *report_culprit_node(const struct view *v, const struct view_verdict *d, uint32_t i, double now_s);

/* The node's row, created at the first call. */
struct report_node_sums *report_nodes_get(struct report_nodes *t, const char *name);
/* The same for a node with ranks of this job. */
struct report_node_sums *report_nodes_of(struct report_nodes *t, const struct view *v, const char *job,
                                         const char *name, const char *switch_name, double now_s);
/* Add all nodes on which the view has ranks. */
void report_nodes_add(struct report_nodes *t, const struct view *v, const char *job, double now_s);
void report_nodes_sort(struct report_nodes *t); /* by name; nothing can be added then */
void report_nodes_free(struct report_nodes *t);

struct report_node {
    char node[64], switch_name[64];
    struct json_texts jobs; /* ids */
    char jobs_text[64];     /* "4711.0, 4712.0", as many as fit */
    int64_t ranks;          /* that run on it */
    int64_t ranks_recorded; /* those that have ended, too */
    double lateness_s;      /* mean of its ranks */
    double slowdown;        /* the highest of them */
    char verdict[512];
    bool has_agent;
    struct report_agent agent;
    /* Of a controller alone, from its history. */
    int64_t culprit_count;     /* times that a verdict named it */
    double last_culprit;       /* Unix time of the newest */
    double last_culprit_age_s; /* when the answer was made; not written */
    double lemon_score;        /* probability that this node slows its jobs */
    int64_t culprit_jobs, seen_jobs;
};
/* Without agent and history. */
void report_node_get(struct report_node *r, const struct report_node_sums *n);
enum report_node_of { NODE_OF_TRACE, NODE_OF_JOBS };
json_t *report_node_json(const struct report_node *r, enum report_node_of of); /* the caller's */
void report_node_free(struct report_node *r);                                  /* its texts */

/* A job step that runs or ran on a node: for how long, and what the node did to it. */
struct report_node_step {
    char id[48], user[64], name[128];
    bool running;
    double at;         /* Unix time at which it was last looked at: its end, if it has ended */
    double age_s;      /* the same when the answer was made; not written */
    double seconds;    /* on the node */
    double culprit_s;  /* in which a verdict named the node, or ranks on it; 0: none ever did */
    double lost_s;     /* that the step lost by it */
    double slowdown;   /* the highest of those verdicts */
    char class[24];    /* of that verdict */
    char verdict[512]; /* the newest that named it */
};
#define REPORT_NODE_STEPS_MAX 100
struct report_node_steps {
    char node[64];
    size_t n;
    struct report_node_step *step; /* the newest first */
};
json_t *report_node_step_json(const struct report_node_step *r); /* the caller's */
/* Those of an answer, at most REPORT_NODE_STEPS_MAX; -1 with the reason. */
int report_node_steps_read(struct report_node_steps *s, const json_t *answer, struct err *err);
void report_node_steps_free(struct report_node_steps *s);

#define REPORT_NODE_ROWS_MAX 100000
struct report_node_rows {
    size_t n;
    struct report_node *node;
};
/* Those of an answer, at most REPORT_NODE_ROWS_MAX; NULL with the reason: it is none, or an error. */
struct report_node_rows *report_node_rows_read(const json_t *answer, struct err *err);
void report_node_rows_free(struct report_node_rows *s); /* NULL is fine */

#endif
