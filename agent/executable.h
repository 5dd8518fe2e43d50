/* executable.h - how a program's file was made: whether a loader starts it, which one, for which processor.
 * ELF only. */
#ifndef SYNCGUARD_AGENT_EXECUTABLE_H
#define SYNCGUARD_AGENT_EXECUTABLE_H

#include <stdbool.h>

struct executable {
    bool native;      /* of this program's own processor and word size; else loader is not known */
    char loader[128]; /* "": none, it is linked statically */
};

/* False: it cannot be read, or is no such file. */
bool executable_read(struct executable *x, const char *path);

#endif
