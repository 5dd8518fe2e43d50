/* report_control.h - what is decided and done about a job, out of the controller's answer: policy, rules,
 * decisions, pacing, checkpoints. Bounded and cleaned as in report.h; unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_REPORT_REPORT_CONTROL_H
#define SYNCGUARD_REPORT_REPORT_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_PARAMS_MAX    48
#define REPORT_RULES_MAX     16
#define REPORT_DECISIONS_MAX 16
#define REPORT_LEVERS_MAX    4

struct report_param {
    char key[32], value[40], standard[40], range[96];
    bool set; /* for this job alone */
};

struct report_rule {
    char name[32], action_text[128], phase[16];
    double held_s, hold_s, cooling_s;
    int64_t acted;
};

struct report_decision {
    double at; /* Unix time */
    char state[16], action_text[128], sentence[400], outcome[16], outcome_text[200], effect[160];
};

/* A lever of pacing, over all nodes of the job. */
struct report_lever {
    char name[16], why[64];  /* of the node whose ratio it is */
    int64_t in_force, trial; /* nodes */
    double ratio, low, high; /* time with it over time without, of the node where most was compared */
    int64_t compared;
};

struct report_pacing {
    bool known;
    char allowed[64]; /* levers; "" pacing is off */
    int64_t nodes;    /* that reported it */
    int64_t late;     /* holds that ended by the clock */
    size_t n;
    struct report_lever lever[REPORT_LEVERS_MAX];
};

struct report_cadence {
    bool known;
    char mode[16], reason[32], missing[128];
    double interval_s, goodput_most, next_due_s, cost_s;
    int64_t asked, heard;
};

struct report_control {
    bool known; /* the controller decides about this job */
    char name[32], action[16];
    bool paused;
    size_t n_params, n_rules, n_decisions;
    struct report_param param[REPORT_PARAMS_MAX];
    struct report_rule rule[REPORT_RULES_MAX];
    struct report_decision decision[REPORT_DECISIONS_MAX]; /* the newest first */
    struct report_pacing pacing;
    struct report_cadence cadence;
};

/* From a job's whole answer. */
void report_control_read(struct report_control *c, const json_t *answer);

#endif
