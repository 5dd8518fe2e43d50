/* progress.h - how far reading or writing has come, on one line of standard error, if that is a terminal and
 * it takes long. */
#ifndef SYNCGUARD_TRACE_PROGRESS_H
#define SYNCGUARD_TRACE_PROGRESS_H

#include <stdbool.h>

struct progress {
    double begin_s, said_s; /* begin_s: infinity: there is no terminal; said_s: 0: nothing is on the line */
};

struct progress progress_begin(void);
/* Is it time to say something?  Then progress_say() what there is. */
bool progress_is_due(const struct progress *p);
/* "sgctl: 1.2 GB read": after the program's name, over what the line had. */
__attribute__((format(printf, 2, 3))) void progress_say(struct progress *p, const char *fmt, ...);
void progress_end(struct progress *p); /* the line is empty again; more may follow */

#endif
