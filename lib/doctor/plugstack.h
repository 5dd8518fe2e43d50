/* plugstack.h - is SyncGuard's plugin in Slurm's plugstack.conf?
 * Reads the file as slurm's plugin stack does: `optional|required PLUGIN ARGUMENTS`, `include PATTERN`, '#'
 * comments.  Keywords are in lower case, nothing is quoted or continued, and a carriage return is a part of
 * the word before it. */
#ifndef SYNCGUARD_DOCTOR_PLUGSTACK_H
#define SYNCGUARD_DOCTOR_PLUGSTACK_H

#include <stdbool.h>

#include "common/err.h"

#define PLUGSTACK_PATH_SIZE 4096

struct plugstack_line {
    char file[PLUGSTACK_PATH_SIZE]; /* "": there is no such line */
    int number;
};

struct plugstack {
    char path[PLUGSTACK_PATH_SIZE];       /* the file that Slurm reads first */
    char plugin_dir[PLUGSTACK_PATH_SIZE]; /* PluginDir= of slurm.conf; "": Slurm's own, which is not known */
    struct plugstack_line line, again;    /* of the plugin: the first, and the second */
    struct plugstack_line spoiled;        /* that names the plugin, or another file, in vain ... */
    bool carriage_return;                 /* ... for the carriage return at its end; else for its keyword */
    char plugin[2 * PLUGSTACK_PATH_SIZE]; /* a bare name is looked up in plugin_dir where that is known */
    char arguments[1024];
    bool required;  /* a plugin that Slurm must have: refuse jobs when it fails */
    unsigned files; /* that were read */
};

/* Where Slurm reads it: PlugStackConfig= of slurm.conf ($SLURM_CONF, else slurm_conf), or beside that.  Sets
 * path and plugin_dir. */
void plugstack_locate(struct plugstack *p, const char *slurm_conf);
/* Look for a plugin whose file is named `name`, in p->path.  0, or -1 with the reason; spoiled is set in
 * either case. */
int plugstack_find(struct plugstack *p, const char *name, struct err *err);

#endif
