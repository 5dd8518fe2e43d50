/* keeper.h - the process that starts the agent on a node, starts it again when it fails, and cleans up.
 *
 * It is a fork of slurmstepd that never execs. It runs as the job's user in a session of its own, with no
 * inherited descriptor, and is nobody's child: slurmstepd waits for any child and signals all of them, among
 * others with what `scancel --signal` and Ctrl-C send to the job; the agent must outlive those.
 *
 * What ties it to the step is a socket.  When slurmstepd says that the step is over, or is gone itself, the
 * keeper ends the agent with SIGTERM (which drains and says goodbye), with SIGKILL after KEEPER_GRACE_MS,
 * removes the directory and exits. */
#ifndef SYNCGUARD_SPANK_KEEPER_H
#define SYNCGUARD_SPANK_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#define KEEPER_NAME         "sg-keeper"
#define KEEPER_SETTLE_MS    100 /* the agent's own start */
#define KEEPER_GRACE_MS     5000
#define KEEPER_RESTARTS_MAX 20

#define KEEPER_GROUPS_MAX 256
struct keeper_plan {
    const char *dir;
    char *const *argv, *const *envp; /* of the agent; argv[0] is its path */
    uid_t uid;                       /* who it runs as; ignored where we are no root */
    gid_t gid, groups[KEEPER_GROUPS_MAX];
    int n_groups;
    bool at_once; /* there is something to report even without a ring */
};

/* Fork it, from a process with any number of threads and with whatever effective ids.  Returns the socket, or
 * -1 with errno. */
int keeper_start(const struct keeper_plan *plan);
/* Tell it that the step is over.  It may be told twice. */
void keeper_end(int fd);
/* Wait until it is through or gone, at most quick_ms, or slow_ms if it has started an agent.  True when it
 * is. */
bool keeper_wait(int fd, int quick_ms, int slow_ms);

#endif
