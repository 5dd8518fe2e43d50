/* processes.h - the processes of a step on this node, as trees: the tasks that slurmstepd or sgrun started,
 * with all that they started, and what has the step's directory in its environment.
 *
 * Found in /proc, for which every process of the node is looked at: ask rarely. */
#ifndef SYNCGUARD_AGENT_PROCESSES_H
#define SYNCGUARD_AGENT_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCESSES_MAX               32768u /* of a node; what it has beyond is not looked at */
#define PROCESSES_ENVIRONMENT_BYTES (1u << 18)
/* Without a sign of it for so long, a process that was never visible (in a container) counts as ended. */
#define PROCESSES_UNSEEN_SECONDS 60

struct processes_plan {
    const char *root;                       /* of /proc, "" for the host's own */
    const char *dir;                        /* the step's */
    pid_t self;                             /* it and what it started are not the step's */
    pid_t parent;                           /* of the tasks; 0: not known */
    bool (*recorded)(pid_t pid, void *arg); /* whether that process has rings */
    void *arg;
};

struct processes_one {
    pid_t pid;
    int up;             /* index of its parent; -1: the step has none, it is a task */
    int task;           /* index of the task that it descends from */
    bool recorded;      /* it has rings, or what started it, or what it started */
    bool task_recorded; /* some process of its task has rings */
    bool leaf;          /* it has started none that runs */
    bool foreign;       /* another user's: nothing of it can be read */
    char name[16];
};

/* Ordered by pid; the caller frees *list.  Returns how many. */
size_t processes_of_step(const struct processes_plan *plan, struct processes_one **list);

/* The process of this user that knows itself by that id, which is another one out here where it runs in a
 * container with processes of its own.  -1: there is none, or there are several. */
pid_t processes_host_id(pid_t inner);

/* Read a process' environment into room, of PROCESSES_ENVIRONMENT_BYTES, for processes_variable().  False
 * when it is hidden or empty. */
bool processes_environment(const char *root, pid_t pid, char *room);
/* The value of a variable in it, lent; NULL: it has none. */
const char *processes_variable(const char *room, const char *name);

#endif
