/* plugstack.h - is SyncGuard's plugin in Slurm's plugstack.conf?
 * Reads the file as slurm's plugin stack does: `optional|required PLUGIN ARGUMENTS`, `include PATTERN`, '#'
 * comments. */
#ifndef SYNCGUARD_DOCTOR_PLUGSTACK_H
#define SYNCGUARD_DOCTOR_PLUGSTACK_H

#include <stdbool.h>

#include "common/err.h"

struct plugstack {
    char path[4096];   /* the file that Slurm reads first */
    char where[4200];  /* FILE:LINE of the plugin */
    char plugin[4096]; /* as written there */
    char arguments[1024];
    bool required;  /* a plugin that Slurm must have: refuse jobs when it fails */
    unsigned files; /* that were read */
};

/* Where Slurm reads it: PlugStackConfig= of slurm.conf ($SLURM_CONF, else slurm_conf), or beside that. */
void plugstack_locate(struct plugstack *p, const char *slurm_conf);
/* Look for a plugin whose file is named `name`, in p->path.  0, or -1 with the reason. */
int plugstack_find(struct plugstack *p, const char *name, struct err *err);

#endif
