/* pairwise_private.h - shared by pairwise*.c: one step of measuring tasks, and the rounds in which they
 * measure. */
#ifndef SYNCGUARD_DOCTOR_PAIRWISE_PRIVATE_H
#define SYNCGUARD_DOCTOR_PAIRWISE_PRIVATE_H

#include "doctor/clocks.h"
#include "doctor/measure_step.h"
#include "doctor/pairwise.h"

/* Seconds from the step's beginning. */
struct pairwise_limits {
    double start_s;     /* all tasks are there, ... */
    double start_gap_s; /* or no further one has come for so long */
    double measure_s;   /* all pairs once */
    double again_s;     /* all pairs again, in as far as there is time */
    double confirm_s;   /* those again that were slow */
    double last_s;      /* no answer is waited for any longer */
    double round_s;     /* for one round's answers */
};

struct pairwise_run {
    struct measure_step step;
    const struct pairwise_limits *limits;
    unsigned round, turn;
    struct pairwise_task {
        struct measure_reply hello; /* node "": it has not come */
        uint32_t node;              /* the survey's; TOPOLOGY_NONE: not measured */
        unsigned failures;
        bool other; /* its program speaks another protocol */
    } * task;
    size_t n;          /* nodes of the survey */
    uint32_t *task_of; /* by node */
    const char **name;
    bool *given_up;
    struct survey *survey;
    struct clocks *clocks;
    struct pairwise_gap *gap;
    size_t n_gaps, cap_gaps;
    /* By MPI, whose calls wait as long as it takes: a pair that does not answer ends the measurement. */
    bool mpi;
    const struct survey *sockets; /* what is judged is relative to it; NULL: nothing is */
    const uint32_t *of;           /* its node, by node */
};

/* Start a task on each of the nodes; mpi as in measure_step_begin(). */
void pairwise_run_begin(struct pairwise_run *r, const json_t *nodes, const char *program, const char *mpi);
/* Wait for the tasks; they are told of each other. */
void pairwise_run_gather(struct pairwise_run *r, const struct slurm_nodes *slurm);
/* Measure, into the survey and the clocks.  How many pairs were slow, and not measured often enough. */
size_t pairwise_run_measure(struct pairwise_run *r);
void pairwise_run_free(struct pairwise_run *r); /* what is in it */

/* By MPI between the nodes that were measured by sockets. */
void pairwise_mpi(const struct pairwise_run *sockets, const char *program, struct findings *f);

/* The names of one node, or of two; b TOPOLOGY_NONE: of one. */
json_t *pairwise_names(const char *const *name, uint32_t a, uint32_t b);
/* Nodes that reach the faster group's rate with nobody: names. */
json_t *pairwise_slower_group(const struct pairwise *p, const struct survey_finding *s);

#endif
