/* local.h - the plugin in srun, sbatch and salloc: checks what the user asked for, and passes the settings
 * on. */
#ifndef SYNCGUARD_SPANK_LOCAL_H
#define SYNCGUARD_SPANK_LOCAL_H

#include "spank/args.h"

/* --sync-guard[=text].  0, or -1 when the submission is to be refused (the reason is on stderr).  "help"
 * prints the policies on stdout and ends the process with 0, as --help does: it was run for nothing else. */
int local_option(const struct args *args, const char *text, struct choice *choice);

/* Before the job is submitted or the step launched: put the settings into its environment.  choice: NULL
 * without the option. */
void local_export(const struct args *args, const struct choice *choice);

#endif
