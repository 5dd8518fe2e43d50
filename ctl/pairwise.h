/* pairwise.h - sgctl doctor --cluster --probe: what is between nodes, measured by a job step of its own, against what was declared.
 *
 * pairwise_check() runs syncguard-measure on the nodes of the allocation that it is called in, else on idle nodes, for at most
 * PAIRWISE_LIMIT_S; the judgement is pure.  It opens no port: what it says to the tasks and hears of them goes through srun. */
#ifndef SYNCGUARD_CTL_PAIRWISE_H
#define SYNCGUARD_CTL_PAIRWISE_H

#include "ctl/findings.h"
#include "ctl/measure.h"
#include "ctl/slurm_nodes.h"
#include "topology/survey.h"

#define PAIRWISE_LIMIT_S 30.0

/* A pair between which nothing went, twice. */
struct pairwise_gap {
    uint32_t a, b;
    char why[64];
};

struct pairwise {
    size_t n;
    const char *const *name;         /* of the survey's nodes */
    const char *path;                /* of topology.conf */
    const struct topology *topology; /* NULL: there is none */
    const struct survey *survey;
    const bool
        *given_up; /* by node: nothing went with several partners, so that it was left out of the rest */
    const struct pairwise_gap *gap;
    size_t n_gaps,
        unconfirmed; /* unconfirmed: pairs that were slow, and not measured often enough to say so */
};

void pairwise_judge(const struct pairwise *p, struct findings *f);

/* The nodes of that partition, in Slurm's notation, of what `sinfo -h -o "%P %N"` printed; NULL: the default one.  The caller's; NULL: none. */
char *pairwise_nodes(const char *text, const char *partition);

/* t, slurm NULL: not known.  program: syncguard-measure. */
void pairwise_check(const struct topology *t, const char *path, const struct slurm_nodes *slurm,
                    const char *program, struct findings *f);

#endif
