/* slurm_release.h - the release of Slurm that is installed on this host, and the one that SyncGuard was built
 * for: Slurm leaves out a plugin of another release, and then knows no option of it. */
#ifndef SYNCGUARD_DOCTOR_SLURM_RELEASE_H
#define SYNCGUARD_DOCTOR_SLURM_RELEASE_H

#include <stdbool.h>

#include "common/err.h"

/* Plugins of 22.05.8 and of 22.05.2 are alike to Slurm. */
struct slurm_release {
    unsigned major, minor;
};

struct slurm_release slurm_release_built(void);
/* Asks scontrol, for a few seconds at most.  -1 with a reason: not known. */
int slurm_release_installed(struct slurm_release *r, struct err *err);
/* What a program of Slurm prints of itself: "slurm-wlm 22.05.8".  False: it is something else. */
bool slurm_release_parse(const char *text, struct slurm_release *r);

#endif
