/* node_step.h - runs `sgctl doctor --json` on nodes: one guarded step of srun's, a task for each node,
 * bounded in time.
 *
 * srun labels each line with its task. A task says its node and its sgctl's version first, and then reports
 * (host_report.h); what a node's shell or Slurm says instead is kept as the reason. */
#ifndef SYNCGUARD_DOCTOR_NODE_STEP_H
#define SYNCGUARD_DOCTOR_NODE_STEP_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct node_step {
    const char *const *nodes; /* their names */
    size_t n;
    const char *partition;  /* NULL: the step is one of the allocation that this process runs in */
    const char *program;    /* sgctl */
    const char *conf;       /* its --conf; NULL: none */
    const char *credential; /* for host_report_take() there; NULL: none */
    double limit_s;
    bool progress; /* on standard error, from two seconds on */
};

struct node_answers {
    struct node_answer {
        char node[256], version[64]; /* "": not known */
        char said[300];              /* the last line that is neither; "" */
        char *report;                /* its text, whole; NULL: none came */
        size_t bytes, cap;
        bool open;   /* a report has begun */
        double at_s; /* this host's wall clock when it was whole */
    } * answer;      /* by task */
    size_t n;
    double from_s;  /* this host's wall clock when srun was started */
    char srun[300]; /* the last that srun itself said; "" */
    bool late;      /* srun was ended at the limit */
};

/* n tasks, of which nothing is known. */
void node_answers_begin(struct node_answers *a, size_t n, double now_s);
/* A line that srun printed, at this time. */
void node_answers_line(struct node_answers *a, const char *line, double now_s);
size_t node_answers_count(const struct node_answers *a); /* whole reports */
void node_answers_free(struct node_answers *a);          /* leaves it empty */

/* -1 with the reason: srun cannot be started.  a: from what came in time. */
int node_step_run(const struct node_step *s, struct node_answers *a, struct err *err);

#endif
