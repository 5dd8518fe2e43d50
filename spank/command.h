/* command.h - the command line of srun, sbatch or salloc, as far as it says where a job's or step's ranks
 * run.
 *
 * The plugin must know this before Slurm has read the line to its end, and Slurm does not pass it on. Options
 * are read as Slurm reads them: up to the program, values attached or in the next word, names abbreviated.
 * Where it is not certain which words are options, such as after an option that a newer Slurm or another
 * plugin may have, the line counts as unreadable.
 *
 * Pure: text in, text out. */
#ifndef SYNCGUARD_SPANK_COMMAND_H
#define SYNCGUARD_SPANK_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

enum command_program { COMMAND_SRUN, COMMAND_SBATCH, COMMAND_SALLOC };

struct command {
    enum command_program program;
    const char *nodes, *tasks, *tasks_per_node;    /* the options' values; NULL: not given */
    const char *partition, *job_name, *sync_guard; /* likewise; sync_guard "": without a value */
    bool cpus;                                     /* CPUs of a task are given */
    const char *decided; /* the option by which the user decided where ranks run, or NULL */
    /* an option that changes the step's size in a way that is not followed here, or NULL */
    const char *unsure;
    /* an option that leaves a new job some of the partition's nodes, or another cluster's, or NULL */
    const char *limits;
    bool switches, chdir, wrap, verbose;
    const char *what; /* the program or script, or NULL */
};

/* words: as in /proc/PID/cmdline, each ended by a NUL; c points into them.  0, or -1 with the reason: the
 * line is unreadable. */
int command_read(struct command *c, const char *words, size_t bytes, struct err *err);

#endif
