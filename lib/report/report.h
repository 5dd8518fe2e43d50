/* report.h - the controller's answers (sgctl(1), JSON) as plain structs that pages and screens read.
 *
 * Everything is bounded before it is believed: arrays are cut at the limits below, strings at their field (at
 * a character's boundary, control and text-direction characters become '?'), numbers that are not finite or
 * absurd are unknown.  A value of another type is unknown too; keys that are not known are ignored. Unknown
 * is NaN, -1 or "", as the type has it. */
#ifndef SYNCGUARD_REPORT_REPORT_H
#define SYNCGUARD_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "report/report_step.h"
#include "report/report_switches.h"
#include "report/report_verdict.h"
#include "report/report_view.h"
#include "report/report_control.h"

#define REPORT_JOBS_MAX     4096
#define REPORT_FINISHED_MAX 1000 /* of them: the newest */
#define REPORT_NODES_MAX    16384
#define REPORT_RANKS_MAX    1024 /* rows of one answer, not ranks of a job */
#define REPORT_COLUMNS_MAX  256
#define REPORT_SCALE_MAX    9
#define REPORT_COMMS_MAX    64
#define REPORT_EVENTS_MAX   50
#define REPORT_NOTES_MAX    16
#define REPORT_PATH_MAX     8
#define REPORT_GPUS_MAX     16

/* How bad it is, for colour and order. */
enum severity { SEVERITY_NONE, SEVERITY_GOOD, SEVERITY_WARN, SEVERITY_BAD };

/* As in the POP model: parallel = load_balance x serialisation x transfer, each 0 to 1. */
struct report_efficiency {
    double parallel, load_balance, serialisation, transfer;
};

struct report_gpu {
    int64_t index;
    double clock_ratio, temperature_c, power_w, busy_ratio;
    char throttle[24]; /* why its clock is held down; "" it is not */
};

/* Of a node. */
struct report_health {
    bool known;
    double run_queue, involuntary_per_s, busy_ratio, steal_ratio, frequency_ratio, throttled_per_s,
        quota_ratio;
    double cpu_pressure_ratio, memory_pressure_ratio, io_pressure_ratio, swap_per_s;
    double retransmits_per_s, nic_errors_per_s;
    size_t n_gpus;
    struct report_gpu gpu[REPORT_GPUS_MAX];
};

enum { SHARE_COMPUTE, SHARE_COMMUNICATION, SHARE_SYNCHRONISATION, SHARE_P2P, SHARES };

struct report_row {
    char id[48], name[64], user[32], partition[32], policy[32];
    char state[16], regime[24];
    char unconfirmed[96]; /* why nothing acts on the job; "": it is confirmed */
    double elapsed_s, age_s;
    int64_t ranks, nodes, nodes_total, steps, period;
    double step_p99_s;
    double step_p50_s, steps_per_s, samples_per_s, skew_p50_s, synchronisation_ratio;
    char judged[16];           /* "yes", "early", "partly", ...; see view/view.h */
    double mds_ratio;          /* the smallest slowdown that could be found now */
    double transfer_mds_ratio; /* the same of all transfers */
    double share[SHARES];
    bool non_finite;                 /* a loss, or a norm of the gradient */
    struct report_verdicts verdicts; /* the most costly first */
    char sentence[512];
};

struct report_rows {
    size_t n;
    struct report_row *job;
};

struct report_rank {
    int64_t rank;
    char node[64], switch_name[32], state[16];
    double state_s; /* for how long its process has been stopped, traced or blocked; NaN: it has not */
    double lateness_s, lateness_p95_s, last_ratio, compute_s, stay_s, slowdown;
    double lateness_p50_s, lateness_p99_s;
    double wait_s, delay_s; /* a step: its own waiting, and what it causes in the others */
    bool has_health, shared_cpu;
    double run_delay_ratio, involuntary_per_s; /* share of time ready and not running; how often preempted */
    char cpus[32], cause[128];
    bool inside;
    char op[32], comm[32];
    int64_t seq;
    double inside_age_s;
    char phase[24]; /* of its step; "": not known */
    double phase_s;
    char heat[REPORT_COLUMNS_MAX + 1]; /* digits and '.', the newest last */
};

struct report_series {
    size_t n;
    double value[REPORT_COLUMNS_MAX]; /* the newest last, NaN where there was nothing */
};

struct report_comm {
    char label[48];
    int64_t size, instances;
    double collectives_per_s, bytes_per_s, skew_s, transfer_s;
    struct report_efficiency efficiency;
};

struct report_path_rank {
    int64_t rank;
    char node[64];
    double path_ratio, last_ratio, delay_s; /* path_ratio: share of the newest steps' critical paths */
};

/* The critical path moved from one node to another; from "": before, it lay on none. */
struct report_move {
    char from[64], to[64];
    double age_s;
    int64_t step;
};

/* Who the steps waited for. */
struct report_path {
    double concentration; /* share of the collectives that wait for the most frequent last arriver */
    size_t n, moves;
    struct report_path_rank rank[REPORT_PATH_MAX];
    struct report_move move[REPORT_PATH_MAX]; /* the newest first */
};

/* A figure under the guard over the job's own reference. */
#define REPORT_GUARDED_MAX 6
struct report_guarded {
    bool known;
    char text[384];
    struct report_guarded_ratio {
        char name[24], reference[16]; /* reference "": the figure is not known */
        bool selected;                /* the reference was chosen by how the job fared */
        double value, low, high;      /* low, high NaN: no interval */
    } ratio[REPORT_GUARDED_MAX];
};

/* This run against the user's similar runs. */
struct report_past {
    bool unusual;
    char text[384]; /* "": there are none */
};

struct report_event {
    double age_s, over_s;
    int64_t count;
    char text[256];
};

struct report_agents {
    int64_t total, heard; /* heard: connected, or ended in good order */
    char missing[128];    /* names of those not heard */
};

struct report_node_health {
    char node[64];
    struct report_health health;
};

struct report_probe {
    int64_t dropped, ranks_total;
    double overhead_ratio;
};

struct report { /* one job's whole answer */
    struct report_row job;
    struct report_probe probe;
    struct report_agents agents;
    size_t n_health; /* nodes whose agent reported, in the answer's order */
    struct report_node_health *health;
    struct report_efficiency efficiency;
    struct report_path path;
    struct picture *picture;          /* of the newest step; NULL: none is known, or it was not asked for */
    struct report_switches *switches; /* NULL: as above */
    struct report_projection projection;
    struct report_scaling scaling;
    struct report_strategies strategies;
    struct report_overlap overlap;
    struct report_phases {
        int64_t ranks;     /* that mark phases */
        double backward_s; /* inferred; NaN: not known */
        char text[512];
    } phases;
    struct report_guarded guarded;
    struct report_past past;
    struct report_control control;
    struct report_verdicts timeline; /* the newest last */
    int64_t rank_total;              /* rows of the whole table */
    int64_t offset; /* of the first row in that table; the caller sets it to what was asked for */
    size_t n_ranks;
    struct report_rank *rank;
    double heat_column_s;
    size_t n_scale; /* thresholds of the heat map's levels */
    struct report_series step_s, steps_per_s, skew_s, synchronisation_ratio;
    size_t n_comms, n_events, n_notes;
    struct report_comm comm[REPORT_COMMS_MAX];
    struct report_event event[REPORT_EVENTS_MAX];
    char note[REPORT_NOTES_MAX][256];
};

struct report_node_row {
    char node[64], switch_name[32], jobs[64], verdict[512];
    size_t n_jobs;
    int64_t ranks, culprit_count;
    char first_job[48];
    double lateness_s, slowdown, last_culprit;
    bool has_agent, connected, ended; /* ended: in good order */
    double cpu_ratio, rss_bytes, backlog_bytes, age_s;
    double lemon_score; /* probability that this node slows its jobs */
    int64_t culprit_jobs, seen_jobs;
    struct report_health health;
};

struct report_node_rows {
    size_t n;
    struct report_node_row *node;
};

struct report_status {
    char host[64];
    double uptime_s;
    int64_t jobs, ranks;
};

/* Each gives a new struct, or NULL with the reason: no object, the answer's own "error", or no such list or
 * job in it. */
struct report_rows *report_rows_read(const json_t *answer, struct err *err);
struct report *report_read(const json_t *answer, struct err *err);
struct report_node_rows *report_node_rows_read(const json_t *answer, struct err *err);
int report_status_read(struct report_status *s, const json_t *answer, struct err *err);
void report_rows_free(struct report_rows *s); /* NULL is fine for all */
void report_free(struct report *s);
void report_node_rows_free(struct report_node_rows *s);

enum severity report_verdict_severity(const struct report_verdict *v);
enum severity report_row_severity(const struct report_row *j);
/* A report counts the ages of an ended step's verdicts from its end; count them from now, once. */
void report_row_count_from_now(struct report_row *j);
/* Not finished: somebody can still look at it. */
bool report_row_alive(const struct report_row *j);

#endif
