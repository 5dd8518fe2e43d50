/* submit.h - the plugin in sbatch, salloc, and srun without an allocation: says on how few leaf switches the
 * job fits (advice.h), and with placement=on has Slurm wait for that.
 *
 * Slurm reads the variables of --switches after init and before the options on the command line, so init
 * reads the command line and, for sbatch, the script's directives by itself. The variables are gone when all
 * options are parsed: neither the job nor a command inside of an allocation sees them. */
#ifndef SYNCGUARD_SPANK_SUBMIT_H
#define SYNCGUARD_SPANK_SUBMIT_H

#include "spank/args.h"

/* From init. */
void submit_begin(const struct args *args);
/* All options are parsed: say what was found, and take the variables back. */
void submit_read(void);

#endif
