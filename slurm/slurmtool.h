/* slurmtool.h - Slurm's own commands, which the controller runs as children: where they are, the times they
 * print. */
#ifndef SYNCGUARD_SLURM_SLURMTOOL_H
#define SYNCGUARD_SLURM_SLURMTOOL_H

#define SLURMTOOL_PATH_MAX 256

/* Looked for in PATH and where Slurm usually is.  "": there is none. */
void slurmtool_find(char path[SLURMTOOL_PATH_MAX], const char *name);

/* 2026-11-21T15:30:00, local time, as Unix time.  NaN: anything else ("Unknown", "N/A"). */
double slurmtool_time(const char *text);

#endif
