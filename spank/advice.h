/* advice.h - on how few leaf switches a job fits that is about to be submitted, for --switches.
 *
 * Slurm fills leaf switches as well as it can with the nodes that are free now. With --switches=COUNT@TIME it
 * waits for a better moment, TIME at most. That pays only where the job needs some of several leaf switches;
 * which nodes it may get is its partition's list in slurm.conf. Where the user decided, or chose among the
 * nodes, or the number of nodes is not certain, there is no advice.
 *
 * Reads topology.conf and slurm.conf; never aborts and never prints. */
#ifndef SYNCGUARD_SPANK_ADVICE_H
#define SYNCGUARD_SPANK_ADVICE_H

#include "spank/command.h"
#include "spank/tasks.h"
#include "topology/leaves.h"

/* What the job waits for the switches at most: Slurm's time, in minutes and seconds. A wait for nothing must
 * not matter. */
#define ADVICE_WAIT "1:00"

enum advice_result {
    ADVICE_NONE,   /* the user decided, something is not certain, or nothing can be gained */
    ADVICE_FAILED, /* something is broken */
    ADVICE_FITS
};

struct advice {
    enum advice_result result;
    uint32_t nodes; /* that the job asks for */
    struct leaves leaves;
    char text[640]; /* why not, for one line; "" for FITS */
};

struct advice_files {
    const char *topology, *slurm;
};

void advice_choose(struct advice *a, const struct command *c, const struct advice_files *files,
                   tasks_env_fn *env);

/* The name of the variable that the program reads as this option, without SBATCH_, SALLOC_ or SLURM_
 * ("REQ_SWITCH"); returns buf. */
#define ADVICE_NAME_SIZE 32
char *advice_variable(enum command_program program, const char *name, char buf[ADVICE_NAME_SIZE]);
/* The partition that the job asks for; NULL: none. */
const char *advice_partition(const struct command *c, tasks_env_fn *env);

#endif
