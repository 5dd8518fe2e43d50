/* unseen.h - a program of the step that has loaded what programs communicate by, and of which nothing is recorded.
 *
 * Where the probe reaches no function of a library, nothing tells so in the program: what its process has mapped does. */
#ifndef SYNCGUARD_AGENT_UNSEEN_H
#define SYNCGUARD_AGENT_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>

/* What is known of the first such process that has this directory in its environment; false: there is none.  root: of /proc, "" for
 * the host's own.  Reads each of this user's processes: call it rarely, and where no rank is known. */
bool unseen_find(const char *root, const char *dir, char *text, size_t size);

#endif
