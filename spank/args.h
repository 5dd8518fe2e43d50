/* args.h - the plugin's arguments in plugstack.conf, and the default that they give a job.
 *
 *   conf=FILE                      path of syncguard.conf; compiled in by default
 *   default=on|off|POLICY          for jobs without --sync-guard; off by default
 *   partition=NAME:on|off|POLICY   the same for one partition (repeatable; the last for a partition wins)
 *   agent=FILE probe=FILE          instead of AgentPath and ProbePath
 *
 * Pure: text in, text out. */
#ifndef SYNCGUARD_SPANK_ARGS_H
#define SYNCGUARD_SPANK_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#define ARGS_PARTITIONS_MAX 64
#define CHOICE_SIZE         32 /* as config_policy.name */

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
};

struct args {
    char conf[4096], agent[4096], probe[4096]; /* "": not given */
    struct choice standard;
    size_t n_partitions;
    struct {
        char name[64];
        struct choice choice;
    } partitions[ARGS_PARTITIONS_MAX];
};

/* Parse a choice.  NULL, "", "on" and "(null)", which Slurm passes when the optional argument is missing, mean
 * the default policy.  False when text is too long for a policy's name. */
bool choice_parse(struct choice *c, const char *text);

/* Parse the arguments.  Invalid ones are skipped; returns the first of them, or NULL. */
const char *args_parse(struct args *a, int argc, char **argv);
/* The choice for a job without --sync-guard.  partition: NULL when unknown. */
struct choice args_default(const struct args *a, const char *partition);

#endif
