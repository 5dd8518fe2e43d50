/* rule.h - a rule of a policy: an action, and a condition that must hold for some time before it.
 *
 * Pure: no clock, no I/O; the caller keeps the state of a rule in a job. Times: seconds of any monotonic
 * clock. */
#ifndef SYNCGUARD_RULES_RULE_H
#define SYNCGUARD_RULES_RULE_H

#include <stdbool.h>

#include "common/config.h"
#include "rules/action.h"
#include "rules/condition.h"

#define RULES_PER_POLICY 32

struct rule {
    char name[32], policy[32], text[256];
    char module[32]; /* "": none, the condition decides */
    enum action_kind action;
    int signal;
    double hold_s, hysteresis_ratio, cool_down_s;
    int max_per_job;  /* 0: no limit */
    bool conditional; /* has a condition; false: only the module decides */
    struct condition when;
};

/* The advice of a site's own policy on the job at this time (policies/site.h). */
struct advice {
    bool act;
    int action;             /* enum action_kind; -1: that of the rule */
    const char *reason;     /* belongs to the site's policy; "": none */
    double projected_ratio; /* step time afterwards over now; NaN: not known */
};

struct rule_state {
    enum truth truth; /* at the last evaluation */
    double since_s;   /* time since which it has held; NaN: it does not hold */
    double acted_s;   /* time of the last action; NaN: none */
    int acted;        /* number of actions */
    bool withheld;    /* a decision to withhold it was returned already */
    struct condition_memory memory;
};
void rule_forget(struct rule_state *s);

enum rule_phase {
    RULE_IDLE,    /* its condition is not true */
    RULE_UNKNOWN, /* its condition is unknown */
    RULE_HOLDING, /* true, but not for long enough */
    RULE_COOLING, /* true, but the last action is less than the cool-down ago */
    RULE_SPENT,   /* true, but it has acted max_per_job times */
    RULE_DUE
};
const char *rule_phase_name(enum rule_phase p);

/* Evaluate the rule. advice: NULL if there is none. */
enum rule_phase rule_look(const struct rule *r, struct rule_state *s, const struct figures *f,
                          const struct advice *advice, double now_s);
/* The phase by the last evaluation. */
enum rule_phase rule_phase(const struct rule *r, const struct rule_state *s, double now_s);
void rule_acted(struct rule_state *s, double now_s);

/* All rules of a configuration. ruleset_new(): NULL with "FILE:LINE: Rule=NAME Key=VALUE: REASON" if one is
 * invalid. */
struct ruleset {
    struct rule *rule;
    size_t n;
};
struct ruleset *ruleset_new(const struct config *c, struct err *err);
void ruleset_free(struct ruleset *s); /* NULL is fine */

#endif
