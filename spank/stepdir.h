/* stepdir.h - the step's directory in shared memory (see ring/ring.h).
 *
 * It lies in a parent that belongs to root: /dev/shm itself lets anybody take any name first.  Only the
 * plugin and the keeper, as root, make, rename and remove entries of the parent; only the step's user can
 * change what is in an entry.  Nobody but a process of that user walks it, and no process of slurmstepd waits
 * for that.  Where slurmstepd does not run as root, the parent belongs to its user and has a name of its
 * own. */
#ifndef SYNCGUARD_SPANK_STEPDIR_H
#define SYNCGUARD_SPANK_STEPDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

/* srun did not start the steps with ids from here on: interactive, batch script, extern, pending. */
#define STEP_FIRST_SPECIAL 0xfffffff0u

#define STEPDIR_BASE      "/dev/shm"
#define STEPDIR_SIZE      256  /* of a path */
#define STEPDIR_LOOKS_MAX 4096 /* entries that stepdir_has_ring() looks at */

/* Write the path of the parent for the effective user: BASE/syncguard for root, BASE/syncguard-UID for
 * others. */
int stepdir_parent(char *path, size_t size, const char *base);
/* Write PARENT/UID.JOB.STEP.NODE into path.  Each component of a heterogeneous job has its own job id.
 * -1 when node is empty, too long or contains a slash, or the path does not fit. */
int stepdir_path(char *path, size_t size, const char *parent, uid_t uid, uint32_t job, uint32_t step,
                 const char *node);

/* Make sure that the parent exists, belongs to the effective user and is writable for nobody else.  What
 * another user put there is renamed, never followed or entered.  0, or -1 with the reason. */
int stepdir_make_parent(const char *parent, struct err *err);
/* Make the directory for the user, mode 0700.  The directory of an earlier run is renamed; its path is then
 * in old, otherwise "".  0, or -1 with the reason. */
int stepdir_make(const char *path, uid_t uid, gid_t gid, char old[STEPDIR_SIZE], struct err *err);
/* Whether the file system of path has room for that many bytes; the reason if not. */
bool stepdir_has_room(const char *path, uint64_t bytes, struct err *err);

/* The rest is async-signal-safe, so it may be called between fork and exec. */

/* Remove everything in the directory, as its owner.  May take as long as its user likes. */
void stepdir_empty(const char *path);
/* Remove the empty directory, as the parent's owner, at once.  True when nothing exists at path
 * afterwards. */
bool stepdir_remove(const char *path);
/* Whether the directory contains a file whose name ends in ".ring". */
bool stepdir_has_ring(const char *path);

#endif
