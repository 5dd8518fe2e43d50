/* pairwise.h - sgctl doctor --cluster --probe: what is between nodes, measured by a job step of its own,
 * against what was declared.
 *
 * pairwise_check() runs syncguard-measure on the nodes of the allocation that it is called in, else on idle
 * nodes, for less than 30 s, and by MPI for as long again; the judgements are pure.  It opens no port: what
 * it says to the tasks and hears of them goes through srun. */
#ifndef SYNCGUARD_DOCTOR_PAIRWISE_H
#define SYNCGUARD_DOCTOR_PAIRWISE_H

#include "doctor/findings.h"
#include "doctor/measure.h"
#include "doctor/slurm_nodes.h"
#include "topology/slow_links.h"
#include "topology/survey.h"

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

/* slow: what is found to be slow is added to it, for orders of ranks; NULL: not wanted. */
void pairwise_judge(const struct pairwise *p, struct findings *f, struct slow_links *slow);

/* What MPI makes of the same pairs. */
struct pairwise_by_mpi {
    size_t n;
    const char *const *name;
    const struct survey *survey;  /* by MPI */
    const struct survey *sockets; /* of the same nodes, maybe among others */
    const uint32_t *of;           /* its node, by node */
    const char *library, *type;   /* "Open MPI v4.1.4", "pmix" */
    size_t unconfirmed;           /* as above */
};

/* A survey of ratios: round trips and rates by MPI over those by sockets between the same nodes (rates: of
 * both ways together).  The caller's; NULL: no memory. */
struct survey *pairwise_relative(const struct survey *mpi, const char *const *name,
                                 const struct survey *sockets, const uint32_t *of);
/* Faults are nodes and pairs where MPI does much worse than elsewhere, beside what sockets do between the
 * same nodes: most likely it found another device there.  What is slow for both is the network's, and found
 * by pairwise_judge(). */
void pairwise_judge_mpi(const struct pairwise_by_mpi *p, struct findings *f);
/* In what `srun --mpi=list` printed: "pmix" or, without it, "pmi2"; NULL: neither. */
const char *pairwise_mpi_type(const char *text);

/* The nodes of that partition, in Slurm's notation, of what `sinfo -h -o "%P %N"` printed; NULL: the default
 * one.  The caller's; NULL: none. */
char *pairwise_nodes(const char *text, const char *partition);

struct pairwise_options {
    const char *program; /* syncguard-measure */
    const char *save;    /* the file of slow links to write; NULL: none */
    double clock_limit_s;
    bool mpi; /* then by MPI as well, which takes as long again */
};

/* t, slurm NULL: not known. */
void pairwise_check(const struct topology *t, const char *path, const struct slurm_nodes *slurm,
                    const struct pairwise_options *o, struct findings *f);

#endif
