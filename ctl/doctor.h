/* doctor.h - sgctl doctor: is this machine set up for guarded jobs, and if not, what to type next?
 * It changes nothing.  Login nodes and compute nodes need all that it checks. */
#ifndef SYNCGUARD_CTL_DOCTOR_H
#define SYNCGUARD_CTL_DOCTOR_H

#include <stdio.h>

#include "common/config.h"
#include "common/err.h"
#include "wire/client.h"

struct doctor {
    const struct config *config; /* NULL when it could not be read: config_err has the reason */
    const char *config_path;     /* the file that was read, or could not be */
    struct err config_err;
    struct client_options client;
    double timeout_s;
    const char *slurm_conf; /* $SLURM_CONF has precedence */
};

/* Writes a line a check, and what to type below those that are missing.  Returns how many are missing. */
int doctor_run(const struct doctor *d, FILE *out);

#endif
