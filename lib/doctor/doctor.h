/* doctor.h - sgctl doctor: is this machine set up for guarded jobs, and if not, what to type next?
 * It changes nothing.  Login nodes and compute nodes need all that it checks. */
#ifndef SYNCGUARD_DOCTOR_DOCTOR_H
#define SYNCGUARD_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

#include "common/config.h"
#include "common/err.h"
#include "wire/client.h"

#define DOCTOR_PLUGIN "syncguard.so"
/* Munge refuses credentials at 300 s; well before, logs of two hosts no longer match. */
#define DOCTOR_CLOCK_S 5.0

struct doctor {
    const struct config *config; /* NULL when it could not be read: config_err has the reason */
    const char *config_path;     /* the file that was read, or could not be */
    struct err config_err;
    struct client_options client;
    double timeout_s;
    const char *slurm_conf; /* $SLURM_CONF has precedence */
    bool in_step; /* a task of a guarded step that checks its node: what slurmstepd gave it counts, too */
};

/* What a check found. */
struct doctor_check {
    const char *name;
    bool missing;
    char found[1200];
    char next[1200]; /* the command to type */
};
typedef void doctor_fn(const struct doctor_check *check, void *arg);

/* The literal for a check that a node's report names; "setup" for a name that is none of a step's checks. */
const char *doctor_check_name(const char *name);
/* Calls report for each check, as soon as its outcome is known.  Returns how many are missing. */
int doctor_each(const struct doctor *d, doctor_fn *report, void *arg);
/* Writes a line a check, and what to type below those that are missing.  Returns how many are missing. */
int doctor_run(const struct doctor *d, FILE *out);

#endif
