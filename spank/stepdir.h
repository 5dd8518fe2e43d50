/* stepdir.h - the step's directory in shared memory (see ring/ring.h): made by the plugin, as the job's user.
 * It refuses whatever somebody else put in that place. */
#ifndef SYNCGUARD_SPANK_STEPDIR_H
#define SYNCGUARD_SPANK_STEPDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

#define STEPDIR_BASE "/dev/shm"
#define STEPDIR_SIZE 256 /* of a path */

/* BASE/syncguard.UID.JOB.STEP.NODE; a heterogeneous job's components have job ids of their own.  -1 when node
 * is no plain name. */
int stepdir_path(char *path, size_t size, const char *base, uid_t uid, uint32_t job, uint32_t step,
                 const char *node);

/* Make it, 0700, as the current effective user.  A directory of ours that is there already (the job was
 * requeued, the node crashed) is emptied and taken; a link, a file, or somebody else's is refused.  0, or -1
 * with the reason. */
int stepdir_make(const char *path, struct err *err);

/* Remove it with the files in it, if it is a directory of the current effective user.  Only async-signal-safe
 * calls: for use between fork and exec, too.  Returns true when nothing is there afterwards. */
bool stepdir_remove(const char *path);

/* Does it hold a file that ends in ".ring"?  Whoever asks, whosever it is. */
bool stepdir_has_ring(const char *path);

#endif
