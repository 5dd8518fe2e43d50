/* cmdline.h - the words of a command line of srun, sbatch or salloc, as /proc/PID/cmdline has them: each
 * ended by a NUL.
 *
 * sbatch reads options from the #SBATCH lines of its script as well, before those of its command line:
 * cmdline_insert() adds them in that order. Its rules are sbatch's: directives end at the first line that is
 * neither empty nor a comment; blanks separate words, quotes and backslashes keep them together, # ends a
 * line.
 *
 * Files are read, at most the head of each; never aborts, never prints and never waits. */
#ifndef SYNCGUARD_SPANK_CMDLINE_H
#define SYNCGUARD_SPANK_CMDLINE_H

#include <stddef.h>

#include "common/err.h"

#define CMDLINE_BYTES_MAX (4u << 20)  /* a longer command line is not read */
#define CMDLINE_HEAD_MAX  (64u << 10) /* directives of a script are before this */

struct cmdline {
    char *words;
    size_t bytes;
};

/* This process's own. 0, or -1 with the reason. */
int cmdline_own(struct cmdline *l, struct err *err);
void cmdline_free(struct cmdline *l);

/* Insert the directives of a script's text after the first word. 0, or -1 with the reason, and nothing has
 * changed: a heterogeneous job, directives of another batch system, a quote without its end, no end of the
 * directives, no memory. */
int cmdline_insert(struct cmdline *l, const char *text, size_t bytes, struct err *err);
/* The same for the script that sbatch finds under this name, from the current directory. -1 also if it cannot
 * be read or is no regular file. */
int cmdline_insert_script(struct cmdline *l, const char *name, struct err *err);

#endif
