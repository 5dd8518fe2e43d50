/* action.h - carries out actions: changes to jobs and nodes, webhooks and commands.
 *
 * An action is stored before it is carried out, and again when its outcome is known. It runs in the
 * background (slurmrestd, a child that calls libslurm, a webhook, a command), is tried again a bounded number
 * of times, and is then recorded as failed; nothing here blocks the loop, and a failure does not affect the
 * job. Each action has a key, and a key is started only once, so that a request may be repeated before and
 * after a restart of the controller. For an action that a restart interrupted, Slurm is asked first whether
 * it took effect (the node is drained with this reason, the job was requeued since); only if not, it is tried
 * again. Slurm knows the present state alone: a node that somebody resumed in between is drained again.
 *
 * The caller decides whether an action is allowed, due and enforced; this module does not.
 * Times: Unix seconds. */
#ifndef SYNCGUARD_ACTIONS_ACTION_H
#define SYNCGUARD_ACTIONS_ACTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "history/action_record.h"
#include "rules/action.h"

struct attempt_limits;
struct audit;
struct event_base;
struct config;
struct actions;

struct action_hooks {
    /* The action is done or failed; it may have been started before the controller was restarted. The record
     * is valid during the call.  Never called from within actions_start(). */
    void (*ended)(const struct action_record *r, void *arg);
    /* Ask the job for a checkpoint now. -1 with a reason: not possible, and not tried again. NULL: checkpoint
     * actions are refused. */
    int (*checkpoint)(const struct action_record *r, void *arg, struct err *err);
    /* Whether it can be done to its job, by what is known of that: 0, or -1 with the reason.  NULL: it always
     * can. */
    int (*can)(const struct action *a, void *arg, struct err *err);
    /* Whether this controller may act now; asked right before each try and before its outcome is recorded. An
     * action that may not be tried stays pending in the audit log, for the controller that may.  NULL: it
     * always may. */
    bool (*may_act)(void *arg);
    /* Asked where it may not: whether it may be able to again, as where only the file that says so could not
     * be read.  The action then waits for that.  NULL: never. */
    bool (*may_again)(void *arg);
};

/* Never returns NULL. Actions that are pending in the audit log continue once base runs. c, audit, limits and
 * hooks are borrowed until actions_free(); limits NULL: eight tries over about four minutes. */
struct actions *actions_new(struct event_base *base, const struct config *c, struct audit *audit,
                            const struct attempt_limits *limits, const struct action_hooks *hooks, void *arg);
void actions_configured(struct actions *as); /* the content of c has changed */
/* Pending actions stay in the audit log and continue after a restart.  NULL is fine. */
void actions_free(struct actions *as);

/* Whether the action can be carried out: 0, or -1 with the reason why not (its job cannot, not configured, no
 * nodes given, too many pending); nothing is recorded.  Dry runs, rules and actions_start() ask this. */
int actions_check(const struct actions *as, const struct action *a, struct err *err);
/* Record an action and start it.  Returns its id, or 0 with a reason: actions_check(). If the same action was
 * started before with this key, its id is returned and nothing else happens; a key of a different action is
 * an error. */
int64_t actions_start(struct actions *as, const struct action *a, struct err *err);

/* Whether actions of this kind are possible: slurmrestd or libslurm, a URL or a command is available.
 * 0, or -1 with a reason. */
int actions_can(const struct actions *as, enum action_kind kind, struct err *err);

/* The record of an action, valid until the next call; NULL: there is none. */
const struct action_record *actions_get(struct actions *as, int64_t id);
const struct action_record *actions_find(struct actions *as, const char *key);
/* Call each for at most limit actions, newest first, until it returns false; job 0: of all jobs; uid
 * UINT32_MAX: of all users; before: those with a lower id, 0: all. */
void actions_list(struct actions *as, uint32_t job, uid_t uid, int64_t before, int64_t limit,
                  action_listed *each, void *arg);
/* Seconds to wait after this many tries.  random in [0, 1) scales the wait by 0.5 to 1.5, so that actions
 * that failed together are not tried again together. */
double action_wait_s(const struct attempt_limits *l, unsigned tries, double random);

#endif
