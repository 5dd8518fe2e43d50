/* engine.h - the rules of one job's policy: figures in, decisions with a sentence out.
 *
 * The same function runs live, on a recorded trace and in the simulator: no clock, no I/O, no allocation;
 * what is remembered is in the engine, which is the caller's. It decides; whether anything is done is said in
 * the decision (a policy's Action=dryrun|enforce), who does it is the caller's affair.
 *
 * Whatever the rules say, a job is acted on no more than so many times an hour, against so many nodes an hour
 * and at once, and all jobs together no more than the cluster's budget allows; a run that is being ended is
 * left alone; nothing is done twice against the same node by the same rule. What is decided in a dry run
 * counts as what is done, so that it shows what would have been, but for the budget of all jobs together: one
 * that only says what it would do takes nothing from one that acts. Times: seconds of a clock that only
 * grows.
 */
#ifndef SYNCGUARD_RULES_ENGINE_H
#define SYNCGUARD_RULES_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rules/rule.h"

#define ENGINE_RULES_MAX 32
#define ENGINE_SPENT_MAX 64   /* actions remembered of one job; config: ActionsPerHour is at most 60 */
#define ENGINE_NODES_MAX 64   /* nodes remembered that were acted on */
#define ENGINE_ENDING_S  60.0 /* a run that is ended is left alone for so long */
#define ENGINE_HOUR_S    3600.0

/* Actions of the last hour. */
struct budget_entry {
    double at_s;
    uint32_t nodes;
};
struct budget {
    struct budget_entry *entry; /* a ring of max, the caller's memory */
    size_t max;
    uint64_t n; /* ever */
};
void budget_spend(struct budget *b, double now_s, uint32_t nodes);
/* Actions, and nodes that they were against, in the hour before now_s; nodes NULL: not wanted. */
int budget_spent(const struct budget *b, double now_s, int *nodes);

struct engine_limits {
    bool enforce;
    bool enforce_nodes; /* also what changes nodes, which others use, too */
    int actions_per_hour, nodes_per_hour, nodes_at_once;
    int cluster_actions_per_hour, cluster_nodes_per_hour;
};

enum decision_state {
    DECISION_DRYRUN,   /* would be done */
    DECISION_ENFORCED, /* to be done */
    DECISION_WITHHELD, /* due, but not allowed: why_not says why; told once until that changes */
};
const char *decision_state_name(enum decision_state s); /* "dryrun", ... */

struct decision {
    enum decision_state state;
    double at_s, held_s; /* the condition was true for so long */
    char rule[32];
    enum action_kind action;
    int signal;
    size_t n_nodes;
    char node[FIGURE_NODES_MAX][64]; /* of actions that want nodes */
    double projected_ratio;          /* step time afterwards over now; NaN: not known */
    char sentence[768];              /* what is done, and why */
    char why_not[160];               /* "" it is */
};

struct engine {
    const struct rule *rule[ENGINE_RULES_MAX]; /* lent, until engine_bind */
    struct rule_state state[ENGINE_RULES_MAX];
    size_t n;
    struct budget budget;
    struct budget_entry spent[ENGINE_SPENT_MAX];
    double ending_s;                 /* a run was ended then; NaN: not */
    uint64_t done[ENGINE_NODES_MAX]; /* rule and node, hashed */
    size_t n_done;
};

/* An empty engine; it holds pointers into itself and is never copied. */
void engine_init(struct engine *e);
/* The rules of that policy. Those of the same name keep what they did, and since when they hold if their
 * condition is the same. */
void engine_bind(struct engine *e, const struct ruleset *s, const char *policy);

struct engine_input {
    const struct figures *figures;
    const struct advice *advice; /* n of them, of a site's own policies */
    size_t n_advice;
    const struct engine_limits *limits;
    struct budget *cluster; /* NULL: no limit */
    bool paused;            /* look, and decide nothing */
    double now_s;
};
/* Looks at every rule; returns how many decisions there are, at most max (the others come next time). */
size_t engine_tick(struct engine *e, const struct engine_input *in, struct decision *out, size_t max);

/* An engine that begins anew in the middle of a run is told what was decided before, oldest first. */
void engine_restore(struct engine *e, const struct decision *d, double at_s);

/* The last decision of this rule was not carried out: its nodes may be acted on again. */
void engine_failed(struct engine *e, const struct decision *d);

/* "exclude n5", "send USR1", and when it is done "excluded n5", "sent USR1".  Returns buf. */
char *decision_action_text(const struct decision *d, bool done, char *buf, size_t size);

#endif
