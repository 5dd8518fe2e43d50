/* report_control.h - what is decided about a job, and by which policy, as it is reported (sgctl(1), "policy"
 * of a job, and the answers to "policy" and "audit").  A key is a member, a row of report_control.c's tables,
 * and where it is filled (daemon/control_report.c, history/audit.c).
 *
 * Units: seconds; ratios.  Unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_CONTROL_H
#define SYNCGUARD_REPORT_REPORT_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/json.h"

struct report_param {
    char key[32], value[256], standard[64], unit[16], range[240], meaning[640];
    double number, min, max; /* NaN: it is not a number */
    bool set;                /* for this job alone */
};

struct report_params {
    size_t n;
    struct report_param *list;
};

struct report_decision {
    bool known;
    int64_t id;
    double at; /* Unix time */
    char job[48], policy[32];
    int64_t restarts;
    char state[16]; /* "enforced", "dryrun", "withheld", "command": by hand, without an action */
    int64_t by;     /* user who asked for it; -1: a rule did */
    char rule[32], action[32];
    int64_t signal;
    struct json_texts nodes;
    char sentence[768], why_not[256];
    double projected_ratio;
    char outcome[16], outcome_text[256];
    double step_before_s, effect_ratio, effect_low, effect_high;
    char effect[320]; /* "": not measured yet */
};

struct report_decisions {
    size_t n;
    struct report_decision *list; /* the newest first */
};

/* A comparison in a rule's condition, with the figure's value. */
struct report_term {
    char text[128], value[72], truth[16];
};

struct report_terms {
    size_t n;
    struct report_term *list;
};

struct report_rule {
    char name[32], text[256], when[512], module[32], action[32], signal[16];
    double hold_s, hysteresis_ratio, cool_down_s;
    int64_t max_per_job; /* -1: no limit */
    /* Of a job's rule: */
    char phase[16], why_not[256], truth[16];
    struct report_terms terms;
    double held_s, cooling_s;
    int64_t acted;
    struct report_decision last;
};

struct report_rules {
    size_t n;
    struct report_rule *list;
};

/* Of the last hour. */
struct report_budget {
    bool known;
    int64_t actions, actions_per_hour, nodes, nodes_per_hour, nodes_at_once;
    int64_t cluster_actions, cluster_actions_per_hour, cluster_nodes, cluster_nodes_per_hour;
};

/* A job's policy. */
struct report_control {
    bool known; /* there is an object */
    char name[32], text[128];
    char action[16];      /* "enforce", "dryrun"; "": the controller does not decide about this job */
    bool beyond_enforced; /* an operator, not its owner, has set Action=enforce */
    bool paused;
    struct report_params params;
    struct report_rules rules;
    struct report_budget budget;
    struct report_decisions decisions;
};

/* A policy as it is configured. */
struct report_policy {
    char name[32], text[128], action[16];
    bool is_default;
    int64_t jobs;
    struct report_rules rules;
    struct report_params params; /* n 0: not asked for */
};

json_t *report_control_json(const struct report_control *c);
json_t *report_policy_json(const struct report_policy *p);
json_t *report_decision_json(const struct report_decision *d);

/* From the object, or NULL; the caller frees what it holds. */
void report_control_read(struct report_control *c, const json_t *o);
void report_policy_read(struct report_policy *p, const json_t *o);
void report_decision_read(struct report_decision *d, const json_t *o);

void report_control_free(struct report_control *c);
void report_policy_free(struct report_policy *p);
void report_decision_free(struct report_decision *d);

#endif
