/* placement.h - decides in which order the ranks of a step are started, before srun has created it.
 *
 * The order of topology/arrange.h on the tree of Slurm's topology.conf, for what the job is said to
 * communicate, or did in its last run. Slurm's own order stays where nothing is cheaper by the model, where
 * the user decided (tasks.h), and where anything is missing or broken.
 *
 * Links that were measured to be slow count, where the file that has them is no older than SLOW_LINKS_AGE_S:
 * what it says changes with a cable.
 *
 * Reads topology.conf, for topology.yaml slurm.conf, and that file; never aborts and never prints. */
#ifndef SYNCGUARD_SPANK_PLACEMENT_H
#define SYNCGUARD_SPANK_PLACEMENT_H

#include "model/algorithm.h"
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
    struct pattern pattern;   /* what it was chosen for */
    uint32_t ranks, nodes;
    bool nodes_given; /* --nodes, on the command line */
    /* What all-reduces over all ranks cost by each algorithm, in Slurm's order and in the one chosen; only
     * for SLURM and BETTER, if asked for */
    struct algorithm_cost slurm[ALGORITHMS], chosen[ALGORITHMS];
    char text[640]; /* why, or what it gains, for one line */
    char *hosts;    /* a host file's text; NULL unless BETTER */
    size_t hosts_bytes;
};

/* Changes the pattern, but for its bytes, to what earlier runs of the job of this name communicated.  False:
 * it stays. */
typedef bool placement_earlier_fn(struct pattern *p, const char *name, uint32_t ranks, uint32_t nodes);

struct placement_files {
    const char *topology;
    const char *slurm;    /* slurm.conf, in which partitions name one of topology.yaml's; may be missing */
    const char *measured; /* slow links (topology/slow_links.h); NULL, or there is none: as was declared */
};

/* words, bytes: srun's command line (command.h).  earlier is asked at most once; NULL: the pattern is what
 * the user said.  algorithms: fill in their costs. */
void placement_choose(struct placement *p, const struct pattern *pattern, placement_earlier_fn *earlier,
                      const struct placement_files *files, bool algorithms, const char *words, size_t bytes,
                      tasks_env_fn *env);
void placement_free(struct placement *p);

#endif
