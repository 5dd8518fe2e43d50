/* settings.h - syncguard.conf as the plugin sees it, also on nodes without the file.
 *
 * srun or sbatch puts the settings it read into the job's environment (SETTINGS_ENV), in the syntax of the file.
 * A node without the file uses these; a node's own file takes precedence, because paths may differ per node. */
#ifndef SYNCGUARD_SPANK_SETTINGS_H
#define SYNCGUARD_SPANK_SETTINGS_H

#include "common/config.h"
#include "common/err.h"
#include "spank/args.h"

#define SETTINGS_ENV      "SYNCGUARD_SETTINGS"
#define SETTINGS_ENV_SIZE 16384

/* Load the file or, if it is missing, inherited (the variable's value; "": not set), then apply the paths in
 * args.  Returns 0, or -1 with the reason; *c is then the built-in configuration. */
int settings_load(struct config *c, const struct args *args, const char *inherited, struct err *err);

/* Write the settings that another node needs for this policy into out.  False when they do not fit, or a path
 * contains a quote or a backslash. */
bool settings_export(const struct config *c, const struct config_policy *policy, char *out, size_t size);

/* The chosen policy; NULL when there is none of that name. */
const struct config_policy *settings_policy(const struct config *c, const struct choice *choice);

#endif
