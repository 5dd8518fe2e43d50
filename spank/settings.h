/* settings.h - syncguard.conf as the plugin sees it.
 *
 * Each host reads its own file: nothing of it comes from the job's environment, which the user writes. */
#ifndef SYNCGUARD_SPANK_SETTINGS_H
#define SYNCGUARD_SPANK_SETTINGS_H

#include "common/config.h"
#include "common/err.h"
#include "spank/args.h"

/* Where the file is. */
const char *settings_conf_path(const struct args *args);
/* Where topology.conf or topology.yaml is: as the argument topology= says, else where Slurm has it. */
void settings_topology_path(const struct args *args, char *path, size_t size);
/* Load it, then apply the paths in args.  Returns 0, or -1 with the reason; *c is then the built-in
 * configuration. */
int settings_load(struct config *c, const struct args *args, struct err *err);
/* Check that only root can change the file and the agent (see common/trust.h): slurmstepd believes the one
 * and starts the other.  0, or -1 with the reason. */
int settings_trusted(const struct config *c, const struct args *args, struct err *err);

/* The chosen policy; NULL when there is none of that name. */
const struct config_policy *settings_policy(const struct config *c, const struct choice *choice);
/* Whether ranks are placed, CONFIG_PLACEMENT_...: what the user chose, else the site's argument, else the
 * policy's.  policy: NULL if unknown. */
int settings_placement(const struct config_policy *policy, const struct args *args,
                       const struct choice *choice);
/* The same of the algorithm of all-reduces; no more than ranks are placed. */
int settings_algorithm(const struct config_policy *policy, const struct args *args,
                       const struct choice *choice);

#endif
