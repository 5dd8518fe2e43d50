/* snap_control.h - what is decided and done about a job, out of the controller's answer: policy, rules,
 * decisions, pacing, checkpoints. Bounded and cleaned as in snapshot.h; unknown is NaN, -1 or "". */
#ifndef SYNCGUARD_TUI_SNAP_CONTROL_H
#define SYNCGUARD_TUI_SNAP_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAP_PARAMS_MAX    48
#define SNAP_RULES_MAX     16
#define SNAP_DECISIONS_MAX 16
#define SNAP_LEVERS_MAX    4

struct snap_param {
    char key[32], value[40], standard[40], range[96];
    bool set; /* for this job alone */
};

struct snap_rule {
    char name[32], action_text[128], phase[16];
    double held_s, hold_s, cooling_s;
    int64_t acted;
};

struct snap_decision {
    double at; /* Unix time */
    char state[16], action_text[128], sentence[400], outcome[16], outcome_text[200], effect[160];
};

/* A lever of pacing, over all nodes of the job. */
struct snap_lever {
    char name[16], why[64];  /* of the node whose ratio it is */
    int64_t in_force, trial; /* nodes */
    double ratio, low, high; /* time with it over time without, of the node where most was compared */
    int64_t compared;
};

struct snap_pacing {
    bool known;
    char allowed[64]; /* levers; "" pacing is off */
    int64_t nodes;    /* that reported it */
    int64_t late;     /* holds that ended by the clock */
    size_t n;
    struct snap_lever lever[SNAP_LEVERS_MAX];
};

struct snap_cadence {
    bool known;
    char mode[16], reason[32], missing[128];
    double interval_s, goodput_most, next_due_s, cost_s;
    int64_t asked, heard;
};

struct snap_control {
    bool known; /* the controller decides about this job */
    char name[32], action[16];
    bool paused;
    size_t n_params, n_rules, n_decisions;
    struct snap_param param[SNAP_PARAMS_MAX];
    struct snap_rule rule[SNAP_RULES_MAX];
    struct snap_decision decision[SNAP_DECISIONS_MAX]; /* the newest first */
    struct snap_pacing pacing;
    struct snap_cadence cadence;
};

/* From a job's whole answer. */
void snap_control_parse(struct snap_control *c, const json_t *answer);

#endif
