/* scenario.h - the description of a simulation: a fabric, jobs, their noise, faults, checkpoints, policies,
 * and the run itself.
 *
 * Read from a file in the syntax of slurm.conf (common/conf.h); sgplan-scenario(5) describes the keys, and
 * scenario_print_keys() prints the table that the file is read by.  Every number is bounded and every
 * reference is resolved, so a scenario that was read can be simulated.  SI units. */
#ifndef SYNCGUARD_SIM_SCENARIO_H
#define SYNCGUARD_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/config_policy.h"
#include "common/err.h"

#define SCENARIO_NAME_MAX       31
#define SCENARIO_NODES_MAX      65536
#define SCENARIO_RANKS_MAX      262144 /* of a job */
#define SCENARIO_NODE_RANKS_MAX 256
#define SCENARIO_STEPS_MAX      100000000
#define SCENARIO_BUCKETS_MAX    64
#define SCENARIO_STALENESS_MAX  64
#define SCENARIO_JOBS_MAX       16
#define SCENARIO_NOISES_MAX     32
#define SCENARIO_FAULTS_MAX     64
#define SCENARIO_GATES_MAX      64
#define SCENARIO_POLICIES_MAX   64

struct scenario_fabric {
    int kind;
    int nodes, nodes_per_switch;                 /* flat: all below one switch */
    int spines;                                  /* each leaf has a cable to each */
    int rails;                                   /* links of a node */
    double link_bytes_per_s, uplink_bytes_per_s; /* of a node's link, of a cable between switches */
    int leaves_per_pod, top_cables;              /* fattree; top_cables: of a spine */
    double top_bytes_per_s;
    double latency_s;                          /* of a cable */
    double local_bytes_per_s, local_latency_s; /* between ranks of a node */
    int buffer;  /* messages that leave a switch by one port together and lose nothing */
    double loss; /* share of those beyond that is sent again */
};

enum scenario_fabric_kind { FABRIC_FLAT, FABRIC_LEAFSPINE, FABRIC_FATTREE };
enum scenario_placement { PLACEMENT_CONTIGUOUS, PLACEMENT_ROUND_ROBIN, PLACEMENT_SHUFFLED };
enum scenario_sync { SYNC_SYNCHRONOUS, SYNC_STALENESS, SYNC_LOCAL, SYNC_ASYNCHRONOUS };
enum scenario_pacing { PACING_NONE, PACING_DELAY, PACING_GATE, PACING_AUTO };

struct scenario_job {
    char name[SCENARIO_NAME_MAX + 1];
    int ranks, ranks_per_node, first_node, node_stride, placement;
    int steps;
    double start_s;
    double compute_s;     /* of a rank and step, without noise */
    double forward_ratio; /* of it, before the first bucket is ready */
    int buckets, overlap;
    int algorithm;     /* enum schedule_algorithm (network/schedule.h) */
    double bytes;      /* of a step's gradient */
    double last_ratio; /* size of the last bucket over the others' */
    int inner;         /* collectives inside each node, a step */
    double inner_bytes;
    int cores; /* that the ranks of a node share; 0: each has its own */
    double wake_s;
    int sync, staleness, every, servers;
    int pacing;
    struct config_pacing pace; /* levers, epoch and holdout: with Pacing=auto */
    double samples;            /* of a rank and step */
};

enum scenario_scope { SCOPE_RANK, SCOPE_NODE, SCOPE_SWITCH, SCOPE_JOB, SCOPE_LINK, SCOPE_LOSS };
enum scenario_shape { SHAPE_NORMAL, SHAPE_LOGNORMAL, SHAPE_GAMMA };

struct scenario_noise {
    char of[SCENARIO_NAME_MAX + 1]; /* name of the job; "": the first */
    int scope, job;                 /* job: index */
    int node, where_switch;         /* link: that of a node, or a switch's uplinks; -1: not this */
    double cv;
    int shape;
    double autocorrelation;        /* from a step to the next */
    double fixed;                  /* deviation of lasting differences */
    double spike_rate, spike_mean; /* chance a step; mean over the job's compute */
};

enum scenario_fault_kind { FAULT_SLOW, FAULT_DRIFT, FAULT_LINK, FAULT_LATENCY, FAULT_STALL, FAULT_DEATH };

struct scenario_fault {
    char of[SCENARIO_NAME_MAX + 1]; /* name of the job; "": the first */
    int kind, job;
    int rank, node, where_switch; /* the affected one; -1: not set */
    double ratio;                 /* slow, drift: time over usual time; link: rate over usual rate */
    int from, until;              /* steps; until is the first healthy one, 0: none */
    int over;                     /* drift: steps until the ratio is reached */
    int every;                    /* stall: steps from one pause to the next; 0: once */
    double time_s;                /* stall, latency */
};

/* Messages wait before a node's link, or each of a switch's uplinks, in both directions. */
struct scenario_gate {
    int kind;               /* enum scenario_gate_kind */
    int node, where_switch; /* -1: not this */
    int limit;              /* messages at a time; 0: any number */
    double gap_s;           /* minimum time from one to the next */
};

enum scenario_gate_kind { GATE_NODE, GATE_SWITCH };

/* With Pacing=auto: changes the allowed levers from a step on. */
struct scenario_policy {
    char of[SCENARIO_NAME_MAX + 1]; /* name of the job */
    int job, from, levers;
};

enum scenario_cadence { CADENCE_FIXED, CADENCE_YOUNG, CADENCE_DALY, CADENCE_EXACT };

struct scenario_checkpoint {
    char of[SCENARIO_NAME_MAX + 1]; /* name of the job */
    bool given;
    double write_s, restart_s, interval_s; /* interval_s: fixed */
    int cadence;
    double node_mtbf_s; /* infinity: nodes do not fail */
};

enum scenario_clocks { CLOCKS_PERFECT, CLOCKS_OWN };

struct scenario {
    char name[SCENARIO_NAME_MAX + 1], text[256];
    int seed, clocks;
    int network;       /* enum network_mode (network/network.h) */
    double lost_ratio; /* of a trace's records */
    struct scenario_fabric fabric;
    size_t n_jobs, n_noises, n_faults, n_gates, n_policies;
    struct scenario_job jobs[SCENARIO_JOBS_MAX];
    struct scenario_checkpoint checkpoints[SCENARIO_JOBS_MAX]; /* of the job of the same index */
    struct scenario_noise noises[SCENARIO_NOISES_MAX];
    struct scenario_fault faults[SCENARIO_FAULTS_MAX];
    struct scenario_gate gates[SCENARIO_GATES_MAX];
    struct scenario_policy policies[SCENARIO_POLICIES_MAX];
};

/* 0, or -1 with a reason that names file, line, key and what is accepted; then *s is undefined. */
int scenario_read(struct scenario *s, const char *path, struct err *err);
int scenario_parse(struct scenario *s, const char *name, const char *text, size_t bytes, struct err *err);

/* The table of keys: name, meaning, what is accepted, default; for people, or as a manual page's source. */
void scenario_print_keys(FILE *out, bool mdoc);

/* Switches that have nodes below them, and the cables between the two nodes farthest apart. */
int scenario_switches(const struct scenario_fabric *f);
int scenario_cables(const struct scenario_fabric *f);
int scenario_job_nodes(const struct scenario_job *j);
/* The fabric's node of the job's node n (0 ... scenario_job_nodes - 1). */
int scenario_job_node(const struct scenario_job *j, int n);
/* Levers of pacing that the job may use in this step. */
uint32_t scenario_levers(const struct scenario *s, size_t job, uint64_t step);

#endif
