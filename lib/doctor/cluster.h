/* cluster.h - sgctl doctor --cluster: what was declared of a cluster against what Slurm and the controller
 * know of it.
 *
 * The judgement is pure; cluster_check() asks.  It changes nothing.  What the controller does not tell this
 * user, or what cannot be asked from this machine, is unknown, never a fault. */
#ifndef SYNCGUARD_DOCTOR_CLUSTER_H
#define SYNCGUARD_DOCTOR_CLUSTER_H

#include <jansson.h>

#include "doctor/findings.h"
#include "doctor/pairwise.h"
#include "doctor/slurm_nodes.h"
#include "topology/topology.h"
#include "wire/client.h"

#define CLUSTER_JOBS_MAX 64u /* running steps that are looked at, the newest first */

struct cluster_facts {
    const char *path;                /* of topology.conf */
    const struct topology *topology; /* NULL: not read */
    const char *topology_why;        /* why not; NULL: there is no such file */
    const struct slurm_nodes *slurm; /* NULL: slurm_why has the reason */
    const char *slurm_why;
    const json_t *status, *nodes; /* the controller's answers; NULL: controller_why has the reason */
    const json_t *jobs;           /* an array of its answers to "job", of running steps */
    const char *controller_why;
    const char *version; /* of this program */
};

void cluster_judge(const struct cluster_facts *c, struct findings *f);

/* topology NULL: the file that Slurm uses.  slurm NULL: slurm_why has the reason.  measure: how is measured
 * between nodes (doctor/pairwise.h); NULL: nothing is measured. */
void cluster_check(const struct client_options *client, double timeout_s, const char *topology,
                   const struct slurm_nodes *slurm, const char *slurm_why,
                   const struct pairwise_options *measure, struct findings *f);

#endif
