/* placement.h - decides in which order the ranks of a step are started, before srun has created it.
 *
 * The order of topology/arrange.h on the tree of Slurm's topology.conf, for what the job is said to communicate. Slurm's own order stays
 * where nothing is cheaper by the model, where the user decided (tasks.h), and where anything is missing or broken.
 *
 * Reads topology.conf; never aborts and never prints. */
#ifndef SYNCGUARD_SPANK_PLACEMENT_H
#define SYNCGUARD_SPANK_PLACEMENT_H

#include "spank/tasks.h"

/* Flows walked in search of an order: 0.2 s. */
#define PLACEMENT_WORK 4000000u

enum placement_result {
    PLACEMENT_LEFT,   /* alone, because the user decided or something is not certain */
    PLACEMENT_FAILED, /* something is broken */
    PLACEMENT_SLURM,  /* Slurm's order is as good as any that was found */
    PLACEMENT_BETTER  /* hosts has a better one */
};

struct placement {
    enum placement_result result;
    double slurm_s, chosen_s; /* of a step's communication by the model; only for SLURM and BETTER */
    char text[640];           /* why, or what it gains, for one line */
    char *hosts;              /* a host file's text; NULL unless BETTER */
    size_t hosts_bytes;
};

/* words, bytes: srun's command line (command.h). */
void placement_choose(struct placement *p, const struct pattern *pattern, const char *topology, const char *words, size_t bytes,
                      tasks_env_fn *env);
void placement_free(struct placement *p);

#endif
