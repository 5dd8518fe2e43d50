/* process.h - the processes that sgrun starts: services in the background, and programs that have the
 * terminal. */
#ifndef SYNCGUARD_RUN_PROCESS_H
#define SYNCGUARD_RUN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

struct process {
    pid_t pid;  /* 0: none, or it has ended */
    int status; /* as of waitpid(2), once it has ended */
};

struct process_variable {
    const char *name, *value; /* value NULL: the variable is removed */
};

struct process_plan {
    const char *const *argv; /* argv[0] is looked for in PATH, unless it has a slash */
    const char *output;      /* file that standard output and error are appended to; NULL: sgrun's own */
    int input;               /* above 0: becomes standard input */
    bool no_input;           /* standard input is at its end */
    bool own_group;          /* Ctrl-C on the terminal does not reach it */
    bool service;            /* reads nothing, and ends with SIGTERM when sgrun dies */
    bool output_to_errors;   /* standard output goes where standard error goes */
    const struct process_variable *environment; /* changes of its environment; NULL: none */
    size_t n_environment;
};

/* To be called first: remembers which signals sgrun was started with as ignored or blocked.  A program starts
 * with them so, a service with none.  SIGCHLD is no longer ignored: children could not be waited for. */
void process_inherit_signals(void);
/* 0, or -1 with the reason and errno, when it cannot be run. */
int process_start(struct process *p, const struct process_plan *plan, struct err *err);
/* Whether it has ended.  Never waits. */
bool process_ended(struct process *p);
/* Wait for that long at most; whether it has ended. */
bool process_wait(struct process *p, double limit_s);
/* SIGTERM, and SIGKILL if it has not ended by then. */
void process_end(struct process *p, double grace_s);
/* What a shell would report: its exit status, or 128 and the number of the signal that ended it. */
int process_exit_status(const struct process *p);

#endif
