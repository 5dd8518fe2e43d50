/* snapshot.h - the controller's answers (sgctl(1), JSON) as plain structs that screens draw.
 *
 * Everything is bounded before it is believed: arrays are cut at the limits below, strings at their field (at
 * a character's boundary, control and text-direction characters become '?'), numbers that are not finite or
 * absurd are unknown.  A value of another type is unknown too; keys that are not known are ignored. Unknown
 * is NaN, -1 or "", as the type has it. */
#ifndef SYNCGUARD_TUI_SNAPSHOT_H
#define SYNCGUARD_TUI_SNAPSHOT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "report/report_step.h"
#include "report/report_switches.h"
#include "report/report_verdict.h"
#include "report/report_view.h"
#include "tui/snap_control.h"

#define SNAP_JOBS_MAX     4096
#define SNAP_FINISHED_MAX 1000 /* of them: the newest */
#define SNAP_NODES_MAX    16384
#define SNAP_RANKS_MAX    1024 /* rows of one answer, not ranks of a job */
#define SNAP_COLUMNS_MAX  256
#define SNAP_SCALE_MAX    9
#define SNAP_VERDICTS_MAX 4
#define SNAP_COMMS_MAX    64
#define SNAP_EVENTS_MAX   50
#define SNAP_NOTES_MAX    16
#define SNAP_TIMELINE_MAX 32
#define SNAP_PATH_MAX     8
#define SNAP_GPUS_MAX     16

/* How bad it is, for colour and order. */
enum severity { SEVERITY_NONE, SEVERITY_GOOD, SEVERITY_WARN, SEVERITY_BAD };

/* As in the POP model: parallel = load_balance x serialisation x transfer, each 0 to 1. */
struct snap_efficiency {
    double parallel, load_balance, serialisation, transfer;
};

struct snap_gpu {
    int64_t index;
    double clock_ratio, temperature_c, power_w, busy_ratio;
    char throttle[24]; /* why its clock is held down; "" it is not */
};

/* Of a node. */
struct snap_health {
    bool known;
    double run_queue, involuntary_per_s, busy_ratio, steal_ratio, frequency_ratio, throttled_per_s,
        quota_ratio;
    double cpu_pressure_ratio, memory_pressure_ratio, io_pressure_ratio, swap_per_s;
    double retransmits_per_s, nic_errors_per_s;
    size_t n_gpus;
    struct snap_gpu gpu[SNAP_GPUS_MAX];
};

enum { SHARE_COMPUTE, SHARE_COMMUNICATION, SHARE_SYNCHRONISATION, SHARE_P2P, SHARES };

struct snap_job {
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
    bool non_finite;   /* a loss, or a norm of the gradient */
    size_t n_verdicts; /* at most SNAP_VERDICTS_MAX are kept, most costly first */
    struct report_verdict verdict[SNAP_VERDICTS_MAX];
    char sentence[512];
};

struct snap_jobs {
    size_t n;
    struct snap_job *job;
};

struct snap_rank {
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
    char heat[SNAP_COLUMNS_MAX + 1]; /* digits and '.', the newest last */
};

struct snap_series {
    size_t n;
    double value[SNAP_COLUMNS_MAX]; /* the newest last, NaN where there was nothing */
};

struct snap_comm {
    char label[48];
    int64_t size, instances;
    double collectives_per_s, bytes_per_s, skew_s, transfer_s;
    struct snap_efficiency efficiency;
};

struct snap_path_rank {
    int64_t rank;
    char node[64];
    double path_ratio, last_ratio, delay_s; /* path_ratio: share of the newest steps' critical paths */
};

/* The critical path moved from one node to another; from "": before, it lay on none. */
struct snap_move {
    char from[64], to[64];
    double age_s;
    int64_t step;
};

/* Who the steps waited for. */
struct snap_path {
    double concentration; /* share of the collectives that wait for the most frequent last arriver */
    size_t n, moves;
    struct snap_path_rank rank[SNAP_PATH_MAX];
    struct snap_move move[SNAP_PATH_MAX]; /* the newest first */
};

/* A figure under the guard over the job's own reference. */
#define SNAP_GUARDED_MAX 6
struct snap_guarded {
    bool known;
    char text[384];
    struct snap_guarded_ratio {
        char name[24], reference[16]; /* reference "": the figure is not known */
        bool selected;                /* the reference was chosen by how the job fared */
        double value, low, high;      /* low, high NaN: no interval */
    } ratio[SNAP_GUARDED_MAX];
};

/* This run against the user's similar runs. */
struct snap_past {
    bool unusual;
    char text[384]; /* "": there are none */
};

struct snap_event {
    double age_s, over_s;
    int64_t count;
    char text[256];
};

struct snap_agents {
    int64_t total, heard; /* heard: connected, or ended in good order */
    char missing[128];    /* names of those not heard */
};

struct snap_node_health {
    char node[64];
    struct snap_health health;
};

struct snap_probe {
    int64_t dropped, ranks_total;
    double overhead_ratio;
};

struct snap_view { /* one job's whole answer */
    struct snap_job job;
    struct snap_probe probe;
    struct snap_agents agents;
    size_t n_health; /* nodes whose agent reported, in the answer's order */
    struct snap_node_health *health;
    struct snap_efficiency efficiency;
    struct snap_path path;
    struct picture *picture;          /* of the newest step; NULL: none is known, or it was not asked for */
    struct report_switches *switches; /* NULL: as above */
    struct report_projection projection;
    struct report_scaling scaling;
    struct report_strategies strategies;
    struct report_overlap overlap;
    struct snap_phases {
        int64_t ranks;     /* that mark phases */
        double backward_s; /* inferred; NaN: not known */
        char text[512];
    } phases;
    struct snap_guarded guarded;
    struct snap_past past;
    struct snap_control control;
    size_t n_spans; /* the newest last */
    struct report_verdict span[SNAP_TIMELINE_MAX];
    int64_t rank_total; /* rows of the whole table */
    int64_t offset;     /* of the first row in that table; the caller sets it to what was asked for */
    size_t n_ranks;
    struct snap_rank *rank;
    double heat_column_s;
    size_t n_scale; /* thresholds of the heat map's levels */
    struct snap_series step_s, steps_per_s, skew_s, synchronisation_ratio;
    size_t n_comms, n_events, n_notes;
    struct snap_comm comm[SNAP_COMMS_MAX];
    struct snap_event event[SNAP_EVENTS_MAX];
    char note[SNAP_NOTES_MAX][256];
};

struct snap_node {
    char node[64], switch_name[32], jobs[64], verdict[512];
    size_t n_jobs;
    int64_t ranks, culprit_count;
    char first_job[48];
    double lateness_s, slowdown, last_culprit;
    bool has_agent, connected, ended; /* ended: in good order */
    double cpu_ratio, rss_bytes, backlog_bytes, age_s;
    double lemon_score; /* probability that this node slows its jobs */
    int64_t culprit_jobs, seen_jobs;
    struct snap_health health;
};

struct snap_nodes {
    size_t n;
    struct snap_node *node;
};

struct snap_status {
    char host[64];
    double uptime_s;
    int64_t jobs, ranks;
};

/* Each gives a new struct, or NULL with the reason: no object, the answer's own "error", or no such list or
 * job in it. */
struct snap_jobs *snap_jobs_parse(const json_t *answer, struct err *err);
struct snap_view *snap_view_parse(const json_t *answer, struct err *err);
struct snap_nodes *snap_nodes_parse(const json_t *answer, struct err *err);
int snap_status_parse(struct snap_status *s, const json_t *answer, struct err *err);
void snap_jobs_free(struct snap_jobs *s); /* NULL is fine for all */
void snap_view_free(struct snap_view *s);
void snap_nodes_free(struct snap_nodes *s);

enum severity snap_verdict_severity(const struct report_verdict *v);
enum severity snap_job_severity(const struct snap_job *j);
/* Not finished: somebody can still look at it. */
bool snap_job_alive(const struct snap_job *j);

#endif
