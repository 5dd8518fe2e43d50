/* nodes.h - sgctl doctor --cluster: the setup of each node, as a task there finds it, against this host's and
 * its own needs.
 *
 * The judgement is pure; nodes_check() asks, by a step of srun's on every node that has room for one. A node
 * that has none, or takes no jobs, was not seen: that is no fault. One that was asked and is silent is. */
#ifndef SYNCGUARD_DOCTOR_NODES_H
#define SYNCGUARD_DOCTOR_NODES_H

#include "doctor/doctor.h"
#include "doctor/findings.h"
#include "doctor/host_report.h"
#include "doctor/node_step.h"
#include "doctor/slurm_nodes.h"

#define NODES_STEPS_MAX 8u /* one for each partition, as a job has one */

/* What becomes of a node. */
enum node_use { NODE_ASKED, NODE_BUSY, NODE_CLOSED };

/* By the state that Slurm gives it and, if not NULL, an allocation's list of nodes: what is outside is
 * NODE_BUSY. */
enum node_use nodes_use(const struct slurm_node *n, const char *allocation);

struct nodes_facts {
    const char *const *asked; /* names */
    size_t n;
    const struct node_answers *answers;
    const struct host_report *own; /* this host's */
    double limit_s;
    /* Why this host's munge does not decode the credential, or "". */
    const char *(*decode)(void *arg, const char *credential, struct err *err);
    void *arg;
};

void nodes_judge(const struct nodes_facts *c, struct findings *f);

/* conf: --conf as it was given, or NULL.  allocation: as above.  limit_s: for all steps together.  Silent
 * nodes are not asked. */
void nodes_check(const struct doctor *d, const char *conf, const struct slurm_nodes *slurm,
                 const char *allocation, double limit_s, struct findings *f);

#endif
