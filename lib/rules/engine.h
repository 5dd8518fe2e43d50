/* engine.h - evaluates the rules of one job's policy: from figures to decisions, each with a sentence.
 *
 * The same function runs live and on a recorded trace: no clock, no I/O, no allocation; the state
 * is in the engine, which the caller owns. A decision states whether it is to be carried out (a policy's
 * Action=dryrun|enforce); the caller does so.
 *
 * Limits apply to all rules: a maximum number of actions per job and hour, of nodes per hour and of nodes at
 * once, and the cluster's budget for all jobs together. A run that is being ended gets no further actions; no
 * rule acts twice on the same node. Dry-run decisions count against the limits of the job, so that they show
 * what enforcing would do, but not against the cluster's budget, which they must not take from jobs that
 * enforce. No job's word alone moves a node, because its user could have written it: others must blame the
 * node, too (doubt).  Times: seconds of a monotonic clock. */
#ifndef SYNCGUARD_RULES_ENGINE_H
#define SYNCGUARD_RULES_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "rules/rule.h"

#define ENGINE_SPENT_MAX 64   /* actions kept per job; ActionsPerHour is at most 60 */
#define ENGINE_NODES_MAX 64   /* latest nodes kept on which the rules acted */
#define ENGINE_ENDING_S  60.0 /* time without further actions on a run that is being ended */
#define ENGINE_HOUR_S    3600.0

/* Actions of the last hour. */
#define BUDGET_ALL UINT32_MAX /* of all users */
struct budget_entry {
    double at_s;
    uint32_t nodes, uid; /* whose job it was */
};
struct budget {
    struct budget_entry *entry; /* a ring of max entries, in the caller's memory */
    size_t max;
    uint64_t n; /* number of entries ever added */
};
void budget_spend(struct budget *b, double now_s, uint32_t nodes, uint32_t uid);
/* An action on so many nodes failed: it no longer counts. */
void budget_refund(struct budget *b, uint32_t nodes, uint32_t uid);
/* Number of actions on jobs of the user, or of all, in the hour before now_s, and of the nodes they
 * concerned. */
int budget_spent(const struct budget *b, uint32_t uid, double now_s, int *nodes);

enum decision_state {
    DECISION_DRYRUN,   /* would be carried out */
    DECISION_ENFORCED, /* to be carried out */
    DECISION_WITHHELD, /* due, but not allowed: why_not has the reason; returned once until that changes */
};
const char *decision_state_name(enum decision_state s); /* "dryrun", ... */

struct decision {
    enum decision_state state;
    double held_s; /* how long the condition has been true */
    char rule[32];
    enum action_kind action;
    int signal;
    size_t n_nodes;
    char node[FIGURE_NODES_MAX][64]; /* for actions that need nodes */
    double projected_ratio;          /* step time afterwards over now; NaN: not known */
    char sentence[768];              /* the action and its reason */
    char why_not[256];               /* "": not withheld */
};

struct engine {
    const struct rule *rule[RULES_PER_POLICY]; /* belong to the ruleset; replaced by engine_bind() */
    struct rule_state state[RULES_PER_POLICY];
    size_t n;
    struct budget budget;
    struct budget_entry spent[ENGINE_SPENT_MAX];
    double ending_s;                 /* when a run was ended; NaN: never */
    uint64_t done[ENGINE_NODES_MAX]; /* rule and node, hashed */
    size_t n_done;
};

/* An empty engine; it holds pointers into itself and is never copied. */
void engine_init(struct engine *e);
/* Use the rules of this policy. A rule with the name of an earlier one keeps that one's actions, and, if the
 * condition is the same, the time for which it has held. */
void engine_bind(struct engine *e, const struct ruleset *s, const char *policy);

struct engine_input {
    const struct figures *figures;
    const struct advice *advice;        /* from the site's own policy; NULL: none */
    const struct config_policy *policy; /* limits of the job */
    const struct config *config;        /* limits of the cluster */
    struct budget *cluster;
    uint32_t uid; /* whose job it is */
    bool enforce;
    /* also enforce what reaches beyond the job: actions on nodes, webhooks and commands */
    bool enforce_beyond;
    /* Why the job's word is not enough to act on a node; NULL: others blame it, too.  doubt NULL: it is
     * enough. */
    const char *(*doubt)(const char *node, const void *arg);
    const void *doubt_arg;
    /* Whether the action can be carried out: 0, or -1 with the reason.  can NULL: it always can, as on a
     * recorded trace. */
    int (*can)(const struct decision *d, const void *arg, struct err *err);
    const void *can_arg;
    const char *hold;   /* why only rules that name non_finite may act; NULL: all may */
    const char *paused; /* why rules are evaluated, but no decisions made; NULL: they are */
    double now_s;
};
/* What the i-th rule would decide if it were due now: everything but the sentence. */
void engine_consider(const struct engine *e, size_t i, const struct engine_input *in, struct decision *d);
/* Evaluate every rule; returns the number of decisions, at most max (further ones come at the next call). */
size_t engine_tick(struct engine *e, const struct engine_input *in, struct decision *out, size_t max);

/* Restore an earlier decision after a restart; call it for all decisions of the run, oldest first.  failed:
 * its action was not carried out. */
void engine_restore(struct engine *e, const struct decision *d, bool failed, double at_s);
/* The rule has acted in an earlier run of the job, which counts for its limit and its cool-down; call it for
 * all, oldest first, before engine_restore(). */
void engine_restore_run(struct engine *e, const char *rule, double at_s);

/* The last decision of this rule on a job of uid was not carried out: its nodes may be acted on again, and
 * neither the job's budget, the cluster's nor the rule's MaxPerJob counts it. */
void engine_failed(struct engine *e, const struct decision *d, struct budget *cluster, uint32_t uid);

/* Write "n5,n6" to buf.  Returns buf. */
#define DECISION_NODES_MAX (FIGURE_NODES_MAX * 66)
char *decision_nodes(const struct decision *d, char buf[DECISION_NODES_MAX]);
/* Write "exclude n5", "send USR1", or if done "excluded n5", "sent USR1" to buf.  Returns buf. */
char *decision_action_text(const struct decision *d, bool done, char *buf, size_t size);

#endif
