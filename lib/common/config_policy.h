/* config_policy.h - lines Policy=, PolicyFor= and Rule= of syncguard.conf: their structures, and the tables
 * of keys that fill them.
 *
 * A parameter of a policy is a row of config_policy.c and a field of struct config_policy; this is
 * enough for it to be parsed, checked, listed, documented, set by `sgctl policy set` and shown by sgtop; it
 * has an effect where the view, the cadence or the engine reads it. */
#ifndef SYNCGUARD_COMMON_CONFIG_POLICY_H
#define SYNCGUARD_COMMON_CONFIG_POLICY_H

#include "common/key.h"

enum { CONFIG_DRYRUN, CONFIG_ENFORCE }; /* config_policy.action */

enum { CONFIG_PLACEMENT_OFF, CONFIG_PLACEMENT_ADVISE, CONFIG_PLACEMENT_ON };
extern const char *const config_placements[];  /* "off", "advise", "on", NULL */
extern const char *const config_nccl_events[]; /* "host", "device", NULL */

enum { CONFIG_HOLD, CONFIG_IGNORE }; /* config_policy.non_finite */

enum { CONFIG_CHECKPOINT_OFF, CONFIG_CHECKPOINT_ADVISE, CONFIG_CHECKPOINT_REQUEST };

/* How pacing proceeds (pacing/pacer.h), for policies and for scenarios (sim/scenario.h). */
struct config_pacing {
    int levers;         /* PaceLevers: PACER_... */
    int epoch;          /* PaceEpoch: collectives */
    int holdout;        /* PaceHoldout: epochs */
    double max_delay_s; /* PaceMaxDelay */
    double share_ratio; /* PaceShare */
};

extern const char *const config_levers[]; /* "release", "gate", ..., NULL: in the order of PACER_... */

/* Their rows, for the table of a structure that has them as `pace`. */
#define CONFIG_PACING_KEYS(structure)                                                                        \
    CONFIG_PACING_KEY(                                                                                       \
        structure, "PaceLevers", levers, VALUE_SOME_OF(config_levers), "release,gate",                       \
        "What may be tried: release (the MPI library gives the core away while it waits), gate "             \
        "(early ranks sleep until the last one of the node has come), delay (a rank sleeps "                 \
        "part of what it is reliably early by), stagger (ranks of a node enter one after "                   \
        "another)."),                                                                                        \
        CONFIG_PACING_KEY(structure, "PaceMaxDelay", max_delay_s, VALUE_RANGE(VALUE_SECONDS, 1e-5, 1),       \
                          "20ms", "Maximum time that a rank is held back in one collective."),               \
        CONFIG_PACING_KEY(structure, "PaceShare", share_ratio, VALUE_RANGE(VALUE_RATIO, 0, 1), "0.8",        \
                          "Share of its expected waiting time that a rank may sleep."),                      \
        CONFIG_PACING_KEY(structure, "PaceEpoch", epoch, VALUE_UNITS(1, 16, "collectives"), "16",            \
                          "Number of consecutive collectives that run with the lever, or without it, where " \
                          "its effect outlasts a collective, that is, where ranks do not outnumber cores."), \
        CONFIG_PACING_KEY(                                                                                   \
            structure, "PaceHoldout", holdout, VALUE_UNITS(2, 12, "epochs"), "12",                           \
            "One epoch in this many runs without the lever, to see whether it still helps; one "             \
            "in two where epochs are long.")
#define CONFIG_PACING_KEY(structure, name, field, type, standard, text) \
    {                                                                   \
        name, KEY_AT(structure, pace.field), type, standard, text       \
    }

/* A policy's parameters, rows of the table in config_policy.c.  All have defaults; units as in units.h. */
struct config_policy {
    char name[32];
    char text[128];            /* Description=: for --sync-guard=help */
    double min_slowdown_ratio; /* MinSlowdown: stragglers are reported from this ratio (1.02) */
    double hang_timeout_s;     /* HangTimeout: a collective that lasts longer is a hang (30 s) */
    double sample_rate_hz;     /* SampleRate: samples per rank and second (50) */
    /* rules */
    int action;             /* Action: CONFIG_DRYRUN or CONFIG_ENFORCE */
    int actions_per_hour;   /* ActionsPerHour: of one job */
    int nodes_per_hour;     /* NodesPerHour: maximum affected by actions of one job */
    int nodes_at_once;      /* NodesAtOnce: maximum affected by one action */
    double effect_window_s; /* EffectWindow */
    int non_finite;         /* NonFinite: CONFIG_HOLD or CONFIG_IGNORE */
    /* checkpoints */
    int checkpoint;                   /* Checkpoint: CONFIG_CHECKPOINT_... */
    char checkpoint_signal[16];       /* CheckpointSignal: "" none */
    char checkpoint_file[256];        /* CheckpointFile: "" none */
    double checkpoint_cost_s;         /* CheckpointCost: assumed until measured */
    double checkpoint_min_interval_s; /* CheckpointMinInterval */
    double checkpoint_max_interval_s; /* CheckpointMaxInterval */
    double preemption_grace_s;        /* PreemptionGrace */
    int placement;                    /* Placement: CONFIG_PLACEMENT_..., at launch */
    int placement_holdout;            /* PlacementHoldout: starts; 0: none is held out */
    /* Algorithm: CONFIG_PLACEMENT_..., of all-reduces, at launch */
    int algorithm;
    /* NcclEvents: 0 host, 1 device; index of config_nccl_events */
    int nccl_events;
    int pacing; /* Pacing: 0 off, 1 auto */
    struct config_pacing pace;
};

/* PolicyFor=: a job that matches every property gets the policy.  Empty lists match every job. */
struct config_selection {
    char policy[32];
    char partition[256], account[256], qos[256], user[256];
    int min_nodes, max_nodes, min_ranks, max_ranks; /* 0: no bound */
    int override;                                   /* 1: --sync-guard=NAME overrides this line */
    char file[256];
    unsigned line;
};

/* Rule=: text, but for the numbers. */
struct config_rule {
    char name[32], policy[32];
    char when[512], module[32], action[32], signal[16], text[256];
    double hold_s, hysteresis_ratio, cool_down_s;
    int max_per_job; /* 0: no bound */
    char file[256];
    unsigned line, when_line, action_line; /* of the rule, and of these two keys */
};

enum config_table { CONFIG_SYSTEM, CONFIG_POLICY, CONFIG_SELECTION, CONFIG_RULE, CONFIG_TABLES };

/* Of CONFIG_POLICY, CONFIG_SELECTION or CONFIG_RULE. */
const struct key *config_policy_keys(enum config_table table);

#endif
