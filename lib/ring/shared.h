/* shared.h - files in the step's directory that several processes map; private to ring/.
 *
 * A file gets its name when it is complete, so a reader never sees half of one.  Its memory is allocated when
 * it is made: a full /dev/shm must be an error here, not a SIGBUS in the job later.  Paths have PATH_MAX
 * bytes; functions set errno. */
#ifndef SYNCGUARD_RING_SHARED_H
#define SYNCGUARD_RING_SHARED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* 0, or -1 when the path is too long. */
__attribute__((format(printf, 2, 3))) int shared_path(char path[PATH_MAX], const char *fmt, ...);

/* Make a file of zeros, open for reading and writing, that must not exist.  -1 on failure. */
int shared_make(const char *path, size_t bytes);

/* Make DIR/NAME, of `bytes` bytes that begin with head.  A file of that name stays, because another process
 * may have made it at the same time, unless replace.  -1 on failure. */
int shared_publish(const char *dir, const char *name, const void *head, size_t head_bytes, size_t bytes,
                   bool replace);

/* Map DIR/NAME.  NULL on failure; EPROTO: not a regular file of this size. */
void *shared_map(const char *dir, const char *name, size_t bytes, bool write);

#endif
