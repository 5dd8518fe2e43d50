/* workspace.h - what one run of sgrun keeps on this host: a folder for its configuration, key, sockets and
 * logs, and one in shared memory for the rings of the ranks.
 *
 * Both are locked for as long as sgrun lives, so that the next one knows and removes what was left by one
 * that was killed. */
#ifndef SYNCGUARD_RUN_WORKSPACE_H
#define SYNCGUARD_RUN_WORKSPACE_H

#include <stddef.h>

#include "common/err.h"

#define WORKSPACE_SIZE 256 /* of a path */

struct workspace {
    /* everybody may look in: munged insists on it; what is secret has mode 0600 */
    char dir[WORKSPACE_SIZE];
    char shm[WORKSPACE_SIZE];   /* mode 0700 */
    char rings[WORKSPACE_SIZE]; /* in it: the step's directory, which the agent locks */
    int dir_lock, shm_lock;
};

/* Also removes what earlier runs of this user left.  tmp: NULL for $TMPDIR or /tmp.  shm: where shared memory
 * is, NULL for /dev/shm. 0, or -1 with the reason, and nothing is left. */
int workspace_make(struct workspace *w, const char *tmp, const char *shm, struct err *err);
void workspace_remove(struct workspace *w);

/* DIR/NAME into path; returns path. */
const char *workspace_path(const struct workspace *w, const char *name, char path[WORKSPACE_SIZE]);
/* Write a file of mode 0600; 0, or -1 with the reason. */
int workspace_write(const struct workspace *w, const char *name, const void *data, size_t bytes,
                    struct err *err);

#endif
