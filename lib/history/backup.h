/* backup.h - a copy of the controller's databases in a folder of its own, and the way back.
 *
 * A backup has the files that the state directory has (history.sqlite, audit.sqlite).  It is made while the
 * controller runs, each file as of one moment, and appears under its name when it is complete and checked.
 * Nothing that is there is replaced: a backup needs a name that is free, and what a restored one takes the
 * place of is kept beside it.
 *
 * The lock that tells a running controller is flock(2)'s, on a file in the state directory: it ends with the
 * process that holds it. */
#ifndef SYNCGUARD_HISTORY_BACKUP_H
#define SYNCGUARD_HISTORY_BACKUP_H

#include <stddef.h>

#include "common/err.h"

/* Until this process ends, nothing is restored in state_dir, which is created if it is missing.  -1 with a
 * reason: that is being done at this moment. Where the file system has no locks, nothing is known, and the
 * result is 0. */
int backup_hold_off(const char *state_dir, struct err *err);

/* Copy the databases of state_dir to the new folder `to`.  0, or -1 with a reason: nothing is there then. */
int backup_make(const char *state_dir, const char *to, struct err *err);

/* Check the databases in the folder `from`, bring copies of them up to date, and put these into state_dir.
 * Those that were there are moved to a new folder in it, whose path is kept, of size bytes.  -1 with a
 * reason: a controller runs there, or `from` is no complete and sound backup. */
int backup_restore(const char *state_dir, const char *from, char *kept, size_t size, struct err *err);

#endif
