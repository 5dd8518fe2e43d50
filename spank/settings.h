/* settings.h - syncguard.conf as the plugin sees it, also where the file is not there.
 *
 * The submitting side puts what it read into the job's environment (SETTINGS_ENV), in the dialect of the
 * file; a node without the file takes that.  A node's own file goes before it: its paths are its own. */
#ifndef SYNCGUARD_SPANK_SETTINGS_H
#define SYNCGUARD_SPANK_SETTINGS_H

#include "common/config.h"
#include "common/err.h"
#include "spank/args.h"

#define SETTINGS_ENV      "SYNCGUARD_SETTINGS"
#define SETTINGS_ENV_SIZE 16384

/* From the file, or else from inherited (the variable's value; "": not set), then what args overrides.  0, or
 * -1 with the reason: then *c is what is built in. */
int settings_load(struct config *c, const struct args *args, const char *inherited, struct err *err);

/* What another node needs to know to guard by that policy, into out.  False when it cannot be said. */
bool settings_export(const struct config *c, const struct config_policy *policy, char *out, size_t size);

/* The policy that is chosen; NULL when there is none of that name. */
const struct config_policy *settings_policy(const struct config *c, const struct choice *choice);

#endif
