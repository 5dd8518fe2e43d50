/* shield.h - what the agent gives up, so that neither the job's own processes nor a flaw in the agent itself
 * turn it into something else: it has the user's id, but runs outside of what a batch system knows of the
 * job.
 *
 * shield_raise() at the start of main(): no other process of the user can read or trace it, and it gains no
 * privileges.  shield_filter() once everything is open: the kernel refuses, with EPERM, what the agent has no
 * need of: to start programs or processes, to trace, to change ids or mounts, sockets other than those of
 * networks, munge and libc's look-ups.  Threads, files, timers and signals stay allowed.  Neither is done in
 * builds with a sanitizer, whose run-time needs what is refused; the filter needs libseccomp at build time.
 */
#ifndef SYNCGUARD_AGENT_SHIELD_H
#define SYNCGUARD_AGENT_SHIELD_H

#include "common/err.h"

void shield_raise(void);
/* 0, or -1 with the reason; the process can go on without it. */
int shield_filter(struct err *err);

#endif
