/* job.h - one guarded job step as the controller knows it: who it is, its agents, its view, its event list.
 * Owned by the table of jobs; agents' sessions and recorders point to it and are notified when it goes.
 * Times: now_s is the controller's monotonic clock, wall_s is Unix time. */
#ifndef SYNCGUARD_JOB_JOB_H
#define SYNCGUARD_JOB_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/view.h"
#include "common/config.h"
#include "common/err.h"
#include "pacing/pacer.h"
#include "report/event_list.h"

#define JOB_AGENTS_MAX 16384u
#define JOB_NOTES_MAX  64u
#define JOB_SEEN_MAX   32u
#define JOB_DECISIONS  16u   /* the newest of its policy, kept in memory; the audit log has all */
#define JOB_LOST_S     30.0  /* without any agent: the step is called lost */
#define JOB_KEEP_S     900.0 /* finished steps stay in memory so long; then the store has them */

enum job_state { JOB_STARTING, JOB_RUNNING, JOB_STALLED, JOB_FINISHED, JOB_LOST };
const char *job_state_name(enum job_state s);

/* How a step ended that did not end well, once Slurm said what became of the job: it failed (its program, its
 * nodes, or it was requeued), which a checkpoint protects from; or it was ended (cancelled, its time was up,
 * preempted, or it was done). */
enum job_outcome { JOB_OUTCOME_UNKNOWN, JOB_OUTCOME_FAILED, JOB_OUTCOME_ENDED };

struct cadence;
struct link;
struct recorder;
struct report_scaling;
struct report_strategies;
struct control;

struct job_id {
    uid_t uid;
    uint32_t job, step, restarts; /* a het job is its leader's id, so its components are one step */
};

/* A lever on a node: time with it over time without. Unknown is NaN, -1 or "". */
struct paced_lever {
    char lever[17], why[129];
    int64_t compared;
    double ratio, low, high;
};

/* What an agent reported last of its node. */
struct paced_node {
    bool known;
    char mode[17], lever[17]; /* "in force", and which */
    int64_t ranks, cores, collectives, with, without, late_holds;
    double switches_hz, wait_ratio;
    size_t n_levers;
    struct paced_lever levers[PACER_LEVERS];
};

/* What an agent reported last of its node's steps and checkpoints; all zero: nothing yet. */
struct cadence_report {
    double at_s; /* when */
    int64_t serial;
    uint64_t at; /* the call on its page ... */
    int state;   /* ... none, armed, committed: 0, 1, 2 */
    bool missed, mixed, notice;
    uint32_t callers, deaf, app, writing;
    uint64_t calls_min, calls_max, yes_min, yes_max, samples, writes;
    double age_s, step_s, write_s; /* NaN: not known */
};

/* An agent as the step knows it: stays when the link goes, until the step ends. */
struct job_agent {
    char node[64], switch_name[64];
    uint64_t life;     /* a restarted agent has another */
    uint64_t batch;    /* the last one taken of this life */
    struct link *link; /* NULL: not connected */
    double heard_s;
    bool bye;
    double cpu_ratio, rss_bytes, backlog_bytes, lost_batches; /* NaN: not reported */
    double energy_j;                         /* the node's, since this life began; NaN: not reported */
    double energy_before_j;                  /* ... and in the lives before */
    struct cadence_report checkpoint_report; /* of its ranks' steps and checkpoints */
    struct paced_node paced;                 /* as its ranks pace */
};

struct job {
    struct job_id id;
    char text_id[48];              /* "123.0", "120_3.0", "123.0" of a het job's leader */
    int64_t array_job, array_task; /* -1: none */
    char name[128], user[64], partition[64], account[64], qos[64], policy[32];
    uint32_t nodes_total, tasks;
    double start_wall_s, start_s, heard_s, end_s, idle_since_s;
    enum job_state state;
    struct config_policy params;
    struct view *view;
    struct job_agent **agent;
    size_t n_agents, agents_cap;
    char *note[JOB_NOTES_MAX];
    size_t n_notes;
    struct event_list events;
    uint32_t broken_ranks;      /* whose process ended without finalizing */
    enum job_outcome outcome;   /* slurm/jobtime.h */
    bool outcome_kept;          /* the store has it */
    struct recorder *recorders; /* record.h */
    /* The newest projections, renewed when somebody asks (report_job.h); NULL: nobody did. */
    struct report_scaling *scaling[2]; /* weak, strong */
    struct report_strategies *strategies;
    double scaling_s[2];         /* when */
    struct cadence *cadence;     /* checkpoints */
    double failures_due_s;       /* when the history is asked how often jobs like it fail */
    uint32_t seen[JOB_SEEN_MAX]; /* verdicts that stand and were acknowledged, by id */
    size_t n_seen;
    struct control *control; /* daemon/control.h; NULL: nobody decides about it */
    double end_wall_s;       /* its time limit, Unix time; 0: not known */
    double saved_s;
    bool final; /* the end is in the store */
};

void job_policy_set(struct job *j, const struct config_policy *p);

/* The node's agent, made when it is new; NULL when there are too many. */
struct job_agent *job_agent_get(struct job *j, const char *node);
size_t job_agents_connected(const struct job *j);
void job_note(struct job *j, const char *node, const char *text); /* once; bounded */
__attribute__((format(printf, 3, 4))) void job_event(struct job *j, double now_s, const char *fmt, ...);
/* Somebody has seen all verdicts that stand: they count as acknowledged until they are let go.  How many were
 * not before. */
size_t job_acknowledge(struct job *j);
bool job_acknowledged(const struct job *j, uint32_t verdict_id);
/* Time passes: view, state, events.  raised is called for every event of the view (verdicts, regime); NULL:
 * nobody is told. A step that never had an agent, as one of a trace, is not called lost. */
void job_tick(struct job *j, double now_s, void (*raised)(struct job *j, const char *text, void *arg),
              void *arg);
/* It ended, but not well: lost, in a hang, or with processes that never finalized. */
bool job_broken(const struct job *j);
bool job_hangs(const struct job *j); /* a verdict says so */

#endif
