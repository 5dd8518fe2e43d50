/* tuning.h - which algorithm a step's MPI library is told to take for all-reduces, by variables of its
 * environment.
 *
 * Another one than the library's own choice, where model/algorithm.h is sure that it is faster for what the
 * job's last run did. Nothing where the user set anything of the kind, nothing is known of earlier runs, or
 * the library combines ranks on the node first in a way that is not known.
 *
 *     Open MPI 4.1, and 5.0 with one rank per node    OMPI_MCA_coll_tuned_use_dynamic_rules, OMPI_MCA_coll_tuned_allreduce_algorithm
 *     MPICH 4.0 to 4.3 with one rank per node         MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM
 *
 * A ring is only ever named: Open MPI does one that it was told to also for operations that do not commute,
 * and computes them wrongly.
 *
 * Reads $HOME/.openmpi/mca-params.conf; never aborts and never prints. */
#ifndef SYNCGUARD_SPANK_TUNING_H
#define SYNCGUARD_SPANK_TUNING_H

#include "spank/earlier.h"
#include "spank/placement.h"

enum tuning_result {
    TUNING_OWN,    /* the user has set something of the kind */
    TUNING_LEFT,   /* no algorithm is known to be faster */
    TUNING_NAMED,  /* one is, and must not be set */
    TUNING_FASTER, /* one is */
};

struct tuning {
    enum tuning_result result;
    enum algorithm_library library; /* NAMED and FASTER, as what follows */
    struct algorithm_choice choice;
    char text[320]; /* why, or what it gains, for one line */
};

/* earlier: NULL if there was no answer.  cost: of the order in force (placement.h).  environment: as
 * environ. */
void tuning_choose(struct tuning *t, const struct earlier *earlier, uint32_t ranks, uint32_t nodes,
                   const struct algorithm_cost *cost, char *const *environment);

struct tuning_variable {
    const char *name, *value;
};
#define TUNING_VARIABLES 2u
/* What tells the library to take it; returns how many, and 0 where it cannot be told or must not. */
size_t tuning_variables(enum algorithm_library l, enum algorithm a,
                        struct tuning_variable out[TUNING_VARIABLES]);

#endif
