/* args.h - the plugin's arguments in plugstack.conf, and the default that they give a job.
 *
 *   conf=FILE                      path of syncguard.conf; compiled in by default
 *   default=on|off|POLICY          for jobs without --sync-guard; off by default
 *   partition=NAME:on|off|POLICY   the same for one partition (repeatable; the last for a partition wins)
 *   placement=off|advise|on        instead of the policy's Placement
 *   algorithm=off|advise|on        instead of the policy's Algorithm
 *   topology=FILE                  topology.conf, instead of the one beside slurm.conf
 *   measured=FILE                  slow links, as sgctl doctor --measured wrote them
 *   answer=TIME                    what the controller's answer to srun or sbatch may take; 0.2s by default
 *   agent=FILE probe=FILE          instead of AgentPath and ProbePath
 *
 * Pure: text in, text out. */
#ifndef SYNCGUARD_SPANK_ARGS_H
#define SYNCGUARD_SPANK_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "topology/pattern.h"

#define ARGS_PARTITIONS_MAX 64
#define CHOICE_SIZE         32 /* as config_policy.name */
#define ARGS_UNSAID         (-1)

/* Whether a job is guarded and by which policy, as a user or administrator writes it. */
enum choice_kind {
    CHOICE_OFF,
    CHOICE_DEFAULT, /* on, by DefaultPolicy */
    CHOICE_POLICY,
    CHOICE_HELP, /* --sync-guard=help only */
};
struct choice {
    enum choice_kind kind;
    char policy[CHOICE_SIZE];
    int placement;          /* CONFIG_PLACEMENT_..., or ARGS_UNSAID */
    int algorithm;          /* likewise */
    bool patterned;         /* the pattern was given */
    struct pattern pattern; /* what the job communicates; an all-reduce in a ring unless given */
};

struct args {
    char conf[4096], agent[4096], probe[4096], topology[4096], measured[4096]; /* "": not given */
    int placement, algorithm;                                                  /* as in struct choice */
    double answer_s;
    struct choice standard;
    size_t n_partitions;
    struct {
        char name[64];
        struct choice choice;
    } partitions[ARGS_PARTITIONS_MAX];
};

/* Parse a choice: a policy, placement=off|advise|on, algorithm=off|advise|on, groups=N, pattern=PATTERN
 * (topology/pattern.h), joined by commas; all may be missing.  NULL, "", "on" and "(null)", which Slurm
 * passes when the optional argument is missing, mean the default policy.  0, or -1 with the reason; that is
 * "" for a text too long for a policy's name. */
int choice_parse(struct choice *c, const char *text, struct err *err);

/* Parse the arguments.  Invalid ones are skipped; returns the first of them, or NULL. */
const char *args_parse(struct args *a, int argc, char **argv);
/* The choice for a job without --sync-guard.  partition: NULL when unknown. */
struct choice args_default(const struct args *a, const char *partition);

#endif
