/* unseen.h - processes of the step of which nothing is recorded, and why.
 *
 * Where the probe is not loaded, or reaches no function of a library, nothing tells so in the program: its
 * file, its environment and what it has mapped do. */
#ifndef SYNCGUARD_AGENT_UNSEEN_H
#define SYNCGUARD_AGENT_UNSEEN_H

#include "agent/processes.h"

/* As in doc/protocol.md, in the order in which they are looked for. */
enum unseen_reason {
    UNSEEN_STATIC,    /* no loader starts it */
    UNSEEN_MACHINE,   /* another processor's program */
    UNSEEN_LIBC,      /* another C library's loader */
    UNSEEN_SECURE,    /* its loader ignores LD_PRELOAD */
    UNSEEN_PRELOAD,   /* LD_PRELOAD was taken away */
    UNSEEN_REPLACED,  /* LD_PRELOAD is without the probe */
    UNSEEN_CONTAINER, /* its file system is without the probe */
    UNSEEN_REFUSED,   /* the loader did not load the probe */
    /* From here on the probe is loaded. */
    UNSEEN_CALLS,   /* a library that is recorded is loaded, too */
    UNSEEN_OTHER,   /* a library that is not */
    UNSEEN_NOTHING, /* none */
    UNSEEN_REASONS
};

struct unseen {
    size_t processes; /* 0: there is none with this reason */
    char text[320];   /* how many, the first of them, and why: "4 processes, such as train (pid 4711): ..." */
};

const char *unseen_name(enum unseen_reason r);
/* Nothing is missing as far as it is known: the programs have called nothing that is recorded. */
bool unseen_is_quiet(enum unseen_reason r);

/* Look at the step's processes.  Of tasks that have rings, only processes that have loaded a communication
 * library are reported. Returns the reason of most processes; UNSEEN_REASONS: all are recorded.  Reads each
 * of the node's processes: call it rarely. */
enum unseen_reason unseen_look(const struct processes_plan *plan, struct unseen found[UNSEEN_REASONS]);

#endif
