/* trial.h - simulates the job of the scaling experiment: a data-parallel job whose nodes sum their gradients on a
 * leaf-spine fabric.  What is not published about it is an unknown.
 *
 * A trial is simulated once per seed.  A seed gives the same random numbers for all remedies (sim/random.h), so only
 * the remedies make a difference.  Deterministic; seconds, bytes. */
#ifndef SYNCGUARD_PLAN_TRIAL_H
#define SYNCGUARD_PLAN_TRIAL_H

#include <stdbool.h>

#include "common/err.h"
#include "model/statistics.h"
#include "plan/answer.h"

#define TRIAL_SEEDS_MAX 64
#define TRIAL_NODES_MAX 1024
#define TRIAL_SAMPLES   256 /* per node and iteration; only scales the rate */

/* Unknowns: what is not published. */
enum { TRIAL_COMPUTE, TRIAL_BYTES, TRIAL_HIDING, TRIAL_WORK_CV, TRIAL_LINK_CV, TRIAL_LOSS, TRIAL_UNKNOWNS };

/* Description and range of each unknown. */
struct trial_unknown {
    const char *key, *words;
    enum answer_unit unit;
    bool searched; /* else assumed: the published figures do not determine it */
    double low, high;
};
extern const struct trial_unknown trial_unknowns[TRIAL_UNKNOWNS];

/* A fabric and noise that reproduce the published figures without coordination. */
struct trial_world {
    const char *key, *words;
    double last_ratio;             /* size of the last bucket, which nothing overlaps, over the first */
    double start[TRIAL_UNKNOWNS];  /* where the fit starts; an unknown that is 0 stays 0 */
    double fitted[TRIAL_UNKNOWNS]; /* result of sgplan experiment scaling --fit */
};
#define TRIAL_WORLDS 3
extern const struct trial_world trial_worlds[TRIAL_WORLDS]; /* [0]: used for the remedies */

/* A change of the job or its network. */
struct trial_remedy {
    const char *key, *words;
    const char *job;    /* keys of the scenario's job; NULL: none */
    const char *fabric; /* keys of its fabric */
    const char *lines;  /* additional lines of the scenario */
    int ranks_per_node; /* these share the node's work; 0: 1 */
    bool quiet;         /* other traffic is kept off the server's link */
};

/* Parameters of the simulation. */
struct trial {
    const char *network;    /* how collectives are executed: a name of enum network_mode */
    int steps, seed, seeds; /* seeds: number of seeds from seed on, at most TRIAL_SEEDS_MAX */
    /* Called after each simulated job; may be NULL. */
    void (*simulated)(void *arg);
    void *arg;
};

/* Per seed: samples per second; standard deviation of the iteration time over its mean. */
struct trial_figures {
    int n;
    double rate[TRIAL_SEEDS_MAX], cv[TRIAL_SEEDS_MAX];
};

/* Mean over seeds of the relative gain in rate of figures over than. */
struct statistics_mean trial_gain(const struct trial_figures *figures, const struct trial_figures *than);

/* 0, or -1 with a reason. */
int trial_run(const struct trial *t, const struct trial_world *w, const double x[TRIAL_UNKNOWNS],
              const struct trial_remedy *remedy, int nodes, struct trial_figures *figures, struct err *err);

#endif
