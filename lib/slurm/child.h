/* child.h - runs a program on the loop, with text as input and output, bounded in time and size.
 *
 * No shell; the program has its own process group, default signals and only three descriptors.  At the time
 * limit the group is killed.  Output beyond the limit is read and discarded.  The caller must ignore SIGPIPE,
 * because the program need not read its input. */
#ifndef SYNCGUARD_SLURM_CHILD_H
#define SYNCGUARD_SLURM_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct event_base;
struct child;

struct child_options {
    const char *path;  /* absolute; it is argv[0] */
    const char *input; /* needs to be valid during child_start() only */
    double timeout_s;
    size_t output_max;       /* bytes of standard output that are kept; standard error is kept to 1000 */
    const char *const *args; /* the rest of argv, ends with NULL; NULL: none */
};

struct child_end {
    bool timed_out;
    int status;                  /* as from waitpid(), also if it was killed at the time limit */
    const char *output, *errors; /* NUL-terminated, valid during the call */
    size_t output_bytes;
};
typedef void child_fn(void *arg, const struct child_end *end);

/* Start a program; fn is called once when it has ended, then the child is freed. NULL with a reason. */
struct child *child_start(struct event_base *base, const struct child_options *o, child_fn *fn, void *arg,
                          struct err *err);
/* Kill it; fn is not called. NULL is fine. */
void child_cancel(struct child *c);

#endif
