/* local.h - the plugin in srun, sbatch and salloc: checks --sync-guard. */
#ifndef SYNCGUARD_SPANK_LOCAL_H
#define SYNCGUARD_SPANK_LOCAL_H

#include "spank/args.h"

/* In srun, before its options: for a step that is guarded by default. partition: NULL if unknown. */
void local_default(const struct args *args, const char *partition);
/* Parse and check --sync-guard[=text].  Returns 0, or -1 to refuse the submission, with the reason on stderr.
 * "help" prints the policies on stdout and exits with 0, as --help does.  launches: this is srun
 * (launch.h). */
int local_option(const struct args *args, const char *text, bool launches, struct choice *choice);

#endif
