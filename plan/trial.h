/* trial.h - the job of the scaling experiment, simulated: a data-parallel job whose nodes sum their
 * gradients, on a leaf-spine fabric, with what is not published of it as unknowns.
 *
 * A trial is simulated once for each seed.  The random numbers of a seed are the same whatever else is
 * changed (sim/random.h): differences between remedies are those of the remedies.  Deterministic; seconds,
 * bytes. */
#ifndef SYNCGUARD_PLAN_TRIAL_H
#define SYNCGUARD_PLAN_TRIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "model/statistics.h"
#include "plan/answer.h"

#define TRIAL_SEEDS_MAX 64
#define TRIAL_NODES_MAX 1024
#define TRIAL_SAMPLES   256 /* of a node and iteration: sets the scale of time, nothing else */

/* What is not published. */
enum { TRIAL_COMPUTE, TRIAL_BYTES, TRIAL_HIDING, TRIAL_WORK_CV, TRIAL_LINK_CV, TRIAL_LOSS, TRIAL_UNKNOWNS };

/* What each is, and where it may lie. */
struct trial_unknown {
    const char *key, *words;
    enum answer_unit unit;
    bool searched; /* else assumed: the published column does not tell */
    double low, high;
};
extern const struct trial_unknown trial_unknowns[TRIAL_UNKNOWNS];

/* A fabric and noise that explain the published column without coordination, each in its way. */
struct trial_world {
    const char *key, *words;
    double last_ratio;             /* the last bucket, which nothing hides, over the first */
    double start[TRIAL_UNKNOWNS];  /* where the search begins; what is 0 there stays 0 */
    double fitted[TRIAL_UNKNOWNS]; /* what it found: sgplan experiment scaling --fit */
};
#define TRIAL_WORLDS 3
extern const struct trial_world trial_worlds[TRIAL_WORLDS]; /* [0]: the one that remedies are tried in */

/* What is done about it. */
struct trial_remedy {
    const char *key, *words;
    const char *job;    /* keys of the scenario's job; NULL: none */
    const char *fabric; /* of its fabric */
    const char *lines;  /* of the scenario, whole ones */
    int ranks_per_node; /* they share the node's work; 0: 1 */
    bool quiet;         /* other traffic is kept off the server's link */
};

/* How it is simulated. */
struct trial {
    const char *network;    /* how collectives are executed: a name of enum network_mode */
    int steps, seed, seeds; /* seeds: how many, from seed on; at most TRIAL_SEEDS_MAX */
    /* Called after each simulated job; NULL: nobody wants to know. */
    void (*simulated)(void *arg);
    void *arg;
};

/* Of each seed: samples a second; deviation of the time of an iteration over its mean. */
struct trial_figures {
    int n;
    double rate[TRIAL_SEEDS_MAX], cv[TRIAL_SEEDS_MAX];
};

/* Of the ratios of one's figures to the other's less 1, seed by seed. */
struct statistics_mean trial_gain(const struct trial_figures *figures, const struct trial_figures *than);

/* 0, or -1 with a reason. */
int trial_run(const struct trial *t, const struct trial_world *w, const double x[TRIAL_UNKNOWNS],
              const struct trial_remedy *remedy, int nodes, struct trial_figures *figures, struct err *err);

#endif
