/* child.h - a program that is run for us: text in, text out, bounded in time and size, on the loop.
 *
 * No shell; its own process group, default signals, no descriptors of ours but its three.  At the time limit
 * the group is killed.  What it writes beyond the limit is read and thrown away.  The caller ignores SIGPIPE:
 * a program need not read what it is told. */
#ifndef SYNCGUARD_SLURM_CHILD_H
#define SYNCGUARD_SLURM_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

struct event_base;
struct child;

struct child_options {
    const char *path;  /* absolute; it is argv[0] */
    const char *input; /* lent for the call */
    double timeout_s;
    size_t output_max;       /* bytes of standard output that are kept; standard error is kept to 1000 */
    const char *const *args; /* the rest of argv, ends with NULL; NULL: none */
};

struct child_end {
    bool timed_out;
    int status;                  /* as waitpid gives it; of one that was killed by us too */
    const char *output, *errors; /* ended by NUL, lent */
    size_t output_bytes;
};
typedef void child_fn(void *arg, const struct child_end *end);

/* fn is called once, when it has ended, and the child is freed then. NULL: it cannot be started. */
struct child *child_start(struct event_base *base, const struct child_options *o, child_fn *fn, void *arg,
                          struct err *err);
/* Kill it; fn is not called. NULL is fine. */
void child_cancel(struct child *c);

#endif
