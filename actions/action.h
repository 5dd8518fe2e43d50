/* action.h - the controller's hands: what it does to jobs and nodes, and whom it tells.
 *
 * An action is written to the store before it is done, and again when its outcome is known. It is done in the
 * background (slurmrestd, a child that calls libslurm, a webhook, a command), tried again a bounded number of
 * times, and then given up with a record; nothing here blocks the loop, and nothing that fails here touches
 * the job. Each has a key: an action whose key was ever started is not started again, so who asks may ask
 * twice, before or after a restart of the controller. One that a restart interrupted is looked up at Slurm
 * first (is the node drained with this reason, was the job requeued since?) and only then tried again.
 *
 * It refuses to decide: whether an action is allowed, due or enforced is known by who starts it.
 * Times: Unix seconds. */
#ifndef SYNCGUARD_ACTIONS_ACTION_H
#define SYNCGUARD_ACTIONS_ACTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "actions/action_record.h"
#include "common/err.h"
#include "rules/action.h"

struct event_base;
struct config;
struct actions;

struct action_hooks {
    /* The action is over (done or failed), also one of an earlier life of the controller. The record is lent.
     * Never called from within actions_start(). */
    void (*ended)(const struct action_record *r, void *arg);
    /* Ask the job for a checkpoint now. 0, or -1 with the reason: not possible, and not tried again. NULL: no
     * job can be asked. */
    int (*checkpoint)(const struct action_record *r, void *arg, struct err *err);
};

/* Records are in StateDir/actions.sqlite; when that cannot be had, it works without, a restart forgets what
 * was pending, and warning says so ("": all is well). Never NULL. What an earlier life left is taken up once
 * base runs. */
struct actions *actions_new(struct event_base *base, const struct config *c, const struct action_hooks *hooks,
                            void *arg, struct err *warning);
void actions_configure(struct actions *as, const struct config *c);
/* What is pending stays in the store for the next life.  NULL is fine. */
void actions_free(struct actions *as);

/* Record it and begin. Its id; 0 with the reason when it cannot be done at all (not configured, no nodes
 * named, too much pending). An action with this key was started before: its id, and nothing else happens; but
 * another action is no reason to drop this one without a word: refused. */
int64_t actions_start(struct actions *as, const struct action *a, struct err *err);

/* Would actions_start() take it? 0, or -1 with the reason; nothing is recorded. */
int actions_check(const struct actions *as, const struct action *a, struct err *err);
/* Could actions_start() begin one of this kind: is there slurmrestd or libslurm, a URL, a command?
 * 0, or -1 with the reason. */
int actions_can(const struct actions *as, enum action_kind kind, struct err *err);

/* How it stands, lent until the next call; NULL: there is none. */
const struct action_record *actions_get(struct actions *as, int64_t id);
const struct action_record *actions_find(struct actions *as, const char *key);
/* The newest first, at most limit; job 0: of all jobs; uid UINT32_MAX: of all users.  Objects as in
 * doc/protocol.md. */
json_t *actions_list(struct actions *as, uint32_t job, uid_t uid, int limit);
/* Forget those that ended so many days ago. */
void actions_expire(struct actions *as, int days);

#endif
