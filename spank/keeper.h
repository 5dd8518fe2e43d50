/* keeper.h - the process that starts the agent on a node, restarts it when it fails, and cleans up.
 *
 * It is a fork of slurmstepd that never execs.  It runs in its own session, with no inherited descriptor, and
 * as slurmstepd's user, usually root: the job's user can neither stop nor end nor read it.  What it starts
 * has all of the job's user and nothing of root: the agent, and processes that empty directories.  It is not
 * a child of slurmstepd, which waits for any child and passes on signals such as those of `scancel --signal`
 * and Ctrl-C; the agent must survive those.
 *
 * The agent is ended with SIGKILL when the keeper has died, so that the agent of the next keeper (see
 * watch.h) finds the rings and the directory free.
 *
 * A socket connects it to slurmstepd.  When slurmstepd reports the end of the step, or has died, the keeper
 * ends the agent with SIGTERM, on which the agent drains its rings and sends the rest to the controller, and
 * with SIGKILL after KEEPER_GRACE_MS.  It ends whatever the agent has left running, removes the directory and
 * exits. Nobody waits for it, so what a user did in his directory delays only the keeper, and the keeper for
 * at most KEEPER_CLEAN_TRIES times KEEPER_CLEAN_MS. */
#ifndef SYNCGUARD_SPANK_KEEPER_H
#define SYNCGUARD_SPANK_KEEPER_H

#include <stdbool.h>
#include <sys/types.h>

#define KEEPER_NAME         "sg-keeper"
#define KEEPER_SETTLE_MS    100  /* the agent handles SIGTERM this long after its start */
#define KEEPER_GRACE_MS     5000 /* from SIGTERM to SIGKILL */
#define KEEPER_RESTARTS_MAX 20
#define KEEPER_CLEAN_MS     20000 /* for emptying the directory, then SIGKILL ... */
#define KEEPER_CLEAN_TRIES  3     /* ... and another try */
#define KEEPER_IDENTITY_FD  10
#define KEEPER_IDENTITY_MS  3000 /* munged may be slow; keeper.c says it in words */

#define KEEPER_GROUPS_MAX 256
struct keeper_plan {
    const char *dir;
    /* of the agent; argv[0] is its path.  argv NULL: no agent, only clean up */
    char *const *argv, *const *envp;
    /* Of the program that vouches for the step, run as slurmstepd's user; argv[0] NULL: none.  What it
     * writes, or why it wrote nothing, is the agent's descriptor KEEPER_IDENTITY_FD. */
    char *const *credential_argv;
    uid_t uid; /* the job's user; ignored unless slurmstepd is root */
    gid_t gid, groups[KEEPER_GROUPS_MAX];
    int n_groups;
    bool at_once; /* start the agent without waiting for a ring: it has notes to report */
};

/* Fork the keeper, from a process with any number of threads and any effective ids.  Returns the keeper's
 * socket, which the caller closes, or -1 with errno. */
int keeper_start(const struct keeper_plan *plan);
/* Report the end of the step to the keeper.  May be called twice. */
void keeper_end(int fd);
/* Wait until the keeper has finished or died, or until wake is readable.  True when the keeper has died
 * before it had finished. */
bool keeper_died(int fd, int wake);
/* Wait until the keeper has finished or died, at most quick_ms, or slow_ms if it has started an agent.  False
 * when the time is up. */
bool keeper_wait(int fd, int quick_ms, int slow_ms);

#endif
