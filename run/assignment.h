/* assignment.h - what `sgrun --hosts` tells the sgrun that it starts on each host, on its standard input: a
 * line of JSON that says which run it joins, and then a line for each signal that the program is to get. */
#ifndef SYNCGUARD_RUN_ASSIGNMENT_H
#define SYNCGUARD_RUN_ASSIGNMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"

#define ASSIGNMENT_KEY_BYTES   64
#define ASSIGNMENT_HOSTS_MAX   1024u
#define ASSIGNMENT_LINE_MAX    (4u << 20)
#define ASSIGNMENT_SIGNAL_SIZE 32 /* of a line that names a signal */

struct assignment {
    char node[256];                          /* the host, as the user calls it */
    unsigned number, count;                  /* this one of how many, from 0 */
    char controller[1024];                   /* ADDRESS:PORT */
    unsigned char key[ASSIGNMENT_KEY_BYTES]; /* of munge */
    char name[256];                          /* of the job */
    char policy[32];
    bool policy_asked; /* by the user */
    double rate_hz;
    /* paths on that host; the last as SYNCGUARD_NCCL_EVENTS */
    char agent[4096], probe[4096], nccl[4096], nccl_events[16];
    char folder[4096];  /* where the program starts */
    char **environment; /* NAME=VALUE, ..., NULL */
};

/* With a newline; the caller frees it. */
char *assignment_write(const struct assignment *j);
/* 0, and assignment_free() it; or -1 with the reason.  Any bytes are fine. */
int assignment_read(struct assignment *j, const char *line, size_t bytes, struct err *err);
void assignment_free(struct assignment *j);

/* "signal 15\n" into buf, which is returned. */
const char *assignment_write_signal(int sig, char buf[ASSIGNMENT_SIGNAL_SIZE]);
/* 0: the line names none. */
int assignment_read_signal(const char *line);

/* Is this variable of the environment the same on all hosts?  Those of the session, of the screen and of
 * temporary files are not. */
bool assignment_takes_variable(const char *name_and_value);

#endif
