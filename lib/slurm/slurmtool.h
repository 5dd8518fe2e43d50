/* slurmtool.h - finds Slurm's commands, which the controller runs as children, and parses the times they
 * print. */
#ifndef SYNCGUARD_SLURM_SLURMTOOL_H
#define SYNCGUARD_SLURM_SLURMTOOL_H

#define SLURMTOOL_PATH_MAX 256

/* Search PATH and Slurm's usual folders.  "": not found. */
void slurmtool_find(char path[SLURMTOOL_PATH_MAX], const char *name);

/* 2026-11-21T15:30:00, local time, as Unix time.  NaN: anything else ("Unknown", "N/A"). */
double slurmtool_time(const char *text);

#endif
