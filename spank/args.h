/* args.h - what plugstack.conf says after the plugin's path, and what follows from it for a job.
 *
 *   conf=FILE                      syncguard.conf; compiled-in path by default
 *   default=on|off|POLICY          jobs without --sync-guard; off by default
 *   partition=NAME:on|off|POLICY   the same for one partition (repeatable; the last one of a name holds)
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

/* NULL, "" and "(null)" (what Slurm makes of an optional argument left out) and "on" are the default policy.
 * False when it is too long for a policy's name. */
bool choice_parse(struct choice *c, const char *text);

/* Takes what it understands; the first argument that it does not is returned (NULL: all understood). */
const char *args_parse(struct args *a, int argc, char **argv);
/* What holds for a job of that partition (NULL: not known) that did not say. */
struct choice args_default(const struct args *a, const char *partition);
/* False when no partition turns the guard on by itself. */
bool args_any_default(const struct args *a);

#endif
