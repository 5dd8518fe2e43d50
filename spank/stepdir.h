/* stepdir.h - the step's directory in shared memory (see ring/ring.h), made by the plugin as the job's user.  A
 * file, link or directory of another user at its path is never used. */
#ifndef SYNCGUARD_SPANK_STEPDIR_H
#define SYNCGUARD_SPANK_STEPDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

#define STEPDIR_BASE "/dev/shm"
#define STEPDIR_SIZE 256 /* of a path */

/* Write BASE/syncguard.UID.JOB.STEP.NODE into path.  Each component of a heterogeneous job has its own job id.
 * -1 when node is empty, too long or contains a slash, or the path does not fit. */
int stepdir_path(char *path, size_t size, const char *base, uid_t uid, uint32_t job, uint32_t step,
                 const char *node);

/* Make the directory, mode 0700, as the effective user.  If the user's directory exists already, after a requeue
 * or a crash of the node, it is emptied and used.  0, or -1 with the reason. */
int stepdir_make(const char *path, struct err *err);

/* Remove the directory and its files, if it belongs to the effective user.  Async-signal-safe, so it may be
 * called between fork and exec.  True when nothing exists at path afterwards. */
bool stepdir_remove(const char *path);

/* Whether the directory, whoever owns it, contains a file whose name ends in ".ring". */
bool stepdir_has_ring(const char *path);

#endif
