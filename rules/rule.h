/* rule.h - a rule of a policy: a condition that must hold for some time, and what is done then.
 *
 * Pure: no clock, no I/O; the state of a rule in a job is the caller's. Times: seconds of any clock that only
 * grows. */
#ifndef SYNCGUARD_RULES_RULE_H
#define SYNCGUARD_RULES_RULE_H

#include <stdbool.h>

#include "common/config.h"
#include "rules/action.h"
#include "rules/condition.h"

struct rule {
    char name[32], policy[32], text[256];
    char module[32]; /* "" none: the condition alone decides */
    enum action_kind action;
    int signal;
    double hold_s, hysteresis_ratio, cool_down_s;
    int max_per_job;  /* 0: no bound */
    bool conditional; /* has a condition; false: the module alone decides */
    struct condition when;
};

/* A rule as configured. 0, or -1 with "FILE:LINE: Key=value: reason, what is accepted". */
int rule_compile(struct rule *r, const struct config_rule *c, struct err *err);

/* What a site's own policy said of the job at this moment (policies/site.h). */
struct advice {
    const char *module;
    bool act;
    int action;             /* enum action_kind; -1: the rule's */
    const char *reason;     /* lent; "" none given */
    double projected_ratio; /* step time afterwards over now; NaN: no idea */
};

struct rule_state {
    enum truth truth; /* as it was looked at last */
    double since_s;   /* it has held since then; NaN: it does not */
    double acted_s;   /* last; NaN: never */
    int acted;        /* how often */
    bool withheld;    /* it was due and held back, and that was told */
    struct condition_memory memory;
};
void rule_forget(struct rule_state *s);

enum rule_phase {
    RULE_IDLE,    /* its condition is not true */
    RULE_UNKNOWN, /* it cannot be told */
    RULE_HOLDING, /* true, not for long enough */
    RULE_COOLING, /* true, but it acted a short time ago */
    RULE_SPENT,   /* true, but it acted as often as it may */
    RULE_DUE
};
const char *rule_phase_name(enum rule_phase p);

/* Looks at the job. advice: NULL where no module has any. */
enum rule_phase rule_look(const struct rule *r, struct rule_state *s, const struct figures *f,
                          const struct advice *advice, double now_s);
/* What rule_look last said, without looking. */
enum rule_phase rule_phase(const struct rule *r, const struct rule_state *s, double now_s);
void rule_acted(struct rule_state *s, double now_s);

/* All rules of a configuration. NULL when one of them is wrong: with its place and what is accepted. */
struct ruleset {
    struct rule *rule;
    size_t n;
};
struct ruleset *ruleset_new(const struct config *c, struct err *err);
void ruleset_free(struct ruleset *s); /* NULL is fine */

#endif
