/* instance.h - which line of plugstack.conf a callback is called for.
 *
 * Slurm loads a plugin once for each line that names it, and calls its callbacks for each line in turn. Lines
 * that name one file share this module's state; a copy of the file has a state of its own. The first line
 * guards, all others do nothing. */
#ifndef SYNCGUARD_SPANK_INSTANCE_H
#define SYNCGUARD_SPANK_INSTANCE_H

#include <stdbool.h>

enum instance_callback {
    INSTANCE_POST_OPT,
    INSTANCE_LOCAL_USER,
    INSTANCE_USER,
    INSTANCE_TASK,
    INSTANCE_TASK_EXIT,
    INSTANCE_EXIT,
    INSTANCE_CALLBACKS,
};

/* In slurm_spank_init(), which Slurm calls for all lines before any other callback. True for the first. */
bool instance_begin(void);
/* In any other callback, once. True for the first. */
bool instance_is_first(enum instance_callback callback);

#endif
