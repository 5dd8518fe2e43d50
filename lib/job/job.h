/* job.h - one guarded job step as the controller knows it: who it is, its agents, its view, its event list.
 * Owned by the table of jobs; agents' sessions and recorders point to it and are notified when it goes.
 * A step is Slurm's here; those of the program are called training steps.
 * Times: now_s is the controller's monotonic clock, wall_s is Unix time. */
#ifndef SYNCGUARD_JOB_JOB_H
#define SYNCGUARD_JOB_JOB_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/config.h"
#include "common/err.h"
#include "job/sampling.h"
#include "report/event_list.h"
#include "report/report_pace.h"
#include "view/verdicts.h"

#define JOB_AGENTS_MAX 16384u
#define JOB_NOTES_MAX  48u
#define JOB_SEEN_MAX   32u
#define JOB_KNOWN_SIZE (32u + VIEW_CULPRIT_SIZE)
/* within which a verdict that stood before a restart is found again */
#define JOB_KNOWN_S 300.0
/* latest decisions of its policy kept in memory; the audit log has all */
#define JOB_DECISIONS 16u
/* an agent that has reported nothing for this long is silent; it reports every second */
#define JOB_SILENT_S 5.0
#define JOB_LOST_S   30.0 /* a step without any agent for this long is lost */
/* time for which an ended step stays in memory; the store keeps it longer */
#define JOB_KEEP_S 900.0

enum job_state { JOB_STARTING, JOB_RUNNING, JOB_STALLED, JOB_SUSPENDED, JOB_FINISHED, JOB_LOST };
const char *job_state_name(enum job_state s);

/* Why a step broke, known once Slurm reports the job's state.  Failed: its program or a node failed, or it
 * was requeued; a checkpoint protects from this.  Ended: it was cancelled, preempted, complete, or at its
 * time limit. */
enum job_outcome { JOB_OUTCOME_UNKNOWN, JOB_OUTCOME_FAILED, JOB_OUTCOME_ENDED };

/* Who stands for what the agents say of the step: nobody but its user; root, by a credential; Slurm too. */
enum job_trust { JOB_UNCONFIRMED, JOB_VOUCHED, JOB_CONFIRMED };

struct bounds_user;
struct cadence;
struct link;
struct recorder;
struct report_scaling;
struct report_strategies;
struct report_overlap;
struct control;

struct job_id {
    uid_t uid;
    uint32_t job, step, restarts; /* a het job has its leader's id, so that its components are one step */
};

static inline bool job_id_same(const struct job_id *a, const struct job_id *b)
{
    return a->uid == b->uid && a->job == b->job && a->step == b->step && a->restarts == b->restarts;
}

/* An agent's latest report on its node's training steps and checkpoints; all zero before the first. */
struct cadence_report {
    double at_s; /* when it arrived */
    int64_t serial;
    uint64_t at; /* the call on its page */
    int state;   /* state of that call; 0: none, 1: armed, 2: committed */
    bool missed, mixed, notice;
    uint32_t callers, deaf, app, writing;
    uint64_t calls_min, calls_max, yes_min, yes_max, samples, writes;
    double age_s, step_s, write_s; /* NaN: not known */
};

/* A step's agent; it stays known after its link closed, until the step ends. */
struct job_agent {
    char node[64], switch_name[64], version[32];
    uint64_t instance; /* random number of this process of the agent; changes at a restart */
    uint64_t batch;    /* the last batch processed of this instance */
    struct link *link; /* NULL: not connected */
    double heard_s;
    bool bye, was_silent;
    double cpu_ratio, rss_bytes, backlog_bytes, lost_batches; /* NaN: not reported */
    double energy_j;                         /* of the node, since this instance began; NaN: not reported */
    double energy_before_j;                  /* of the node, in the agent's earlier instances */
    struct cadence_report checkpoint_report; /* training steps and checkpoints of its ranks */
    struct report_paced_node paced;          /* pacing of its ranks */
    struct agent_unseen {
        char reason[16], text[352]; /* text "": nothing is unseen, or it is not known */
        bool quiet;                 /* they are watched, and call nothing */
        int64_t processes;
    } unseen; /* processes of the step there of which nothing is recorded */
};

struct job {
    struct job_id id;
    char text_id[48];              /* "123.0", "120_3.0", "123.0" of a het job's leader */
    int64_t array_job, array_task; /* -1: none */
    char name[128], user[64], partition[64], account[64], qos[64], policy[32];
    uint32_t nodes_total, tasks;
    uint32_t world; /* ranks of the largest world that a rank tells of; 0: none has */
    char *nodelist; /* the step's nodes in Slurm's notation, a claim of the user; NULL: not known */
    bool het; /* root vouches for each component's nodes and tasks, and only the user for those of all */
    double start_wall_s, start_s, heard_s, end_s, idle_since_s;
    enum job_state state;
    enum job_trust trust;  /* nothing acts on a step that is not confirmed */
    bool unknown_to_slurm; /* Slurm has no job of this number and user */
    /* why Slurm will not requeue it, as Slurm last said; NULL: it will, or that is not known */
    const char *no_requeue;
    struct job_wish {
        char policy[32];
        bool asked; /* by the user; otherwise the configuration selects */
    } wish;
    struct config_policy params;
    /* What srun reports of its choices at launch, a claim of the user: the order of the ranks, for a pattern
     * of communication, and the algorithm of the all-reduces. */
    struct job_choice {
        char name[32]; /* of the pattern, or of the algorithm; "": nothing was chosen */
        bool applied;  /* the ranks have that order, or the library was told to use that algorithm */
        bool compared; /* training steps are compared: of starts with the choice, and held out from it */
        double before_s, after_s; /* of a training step by the model, without and with it; positive */
    } placement, algorithm;       /* times are of the communication; of the all-reduces, with it at most */
    bool algorithm_looked;        /* srun has looked whether another algorithm is surely faster */
    struct view *view;
    struct job_agent **agent;
    size_t n_agents, agents_cap, n_silent; /* agents; silent since the newest tick */
    char *note[JOB_NOTES_MAX];
    size_t n_notes;
    struct event_list events;
    bool rank_broke;            /* the process of a rank ended without finalizing */
    enum job_outcome outcome;   /* slurm/jobtime.h */
    bool outcome_kept;          /* the outcome is in the store */
    struct recorder *recorders; /* record.h */
    struct sampling sampling;
    /* The latest projections, computed on request (report_job.h); NULL: not requested yet. */
    struct report_scaling *scaling[2]; /* weak, strong */
    struct report_strategies *strategies;
    struct report_overlap *overlap;
    double scaling_s[2];         /* when they were computed */
    struct cadence *cadence;     /* checkpoints */
    double failures_due_s;       /* when the failure rate of similar jobs is next read from the history */
    uint32_t seen[JOB_SEEN_MAX]; /* ids of standing verdicts that were acknowledged */
    size_t n_seen;
    /* those acknowledged before a restart, which will be found again */
    char known[JOB_SEEN_MAX][JOB_KNOWN_SIZE];
    size_t n_known;
    double known_until_s;
    struct control *control; /* daemon/control.h */
    double end_wall_s;       /* when its time limit ends it, Unix time; 0: not known */
    /* when it was stored, what earlier.h is about of it, when it was looked at */
    double saved_s, kept_s, ticked_s;
    bool kept_called; /* what was kept has when its ranks began to call something */
    double looked_s;  /* when it was last looked whether its agents are silent, ... */
    /* ... and since when that was often enough: before, the controller itself may have been silent */
    double awake_s;
    double doubt_s;            /* since when Slurm is asked what becomes of it (job_doubt()); 0: not */
    struct bounds_user *payer; /* daemon/bounds.h; NULL: its memory is not counted */
    double held_bytes;         /* its memory as its user was last charged for it */
    uint64_t rejected;         /* ranks and communicators by then: view_rejected_get() */
    bool ended;                /* it is to be forgotten */
    bool final;                /* the step's end is in the store */
};

/* Whether it has finished or is lost. */
static inline bool job_over(const struct job *j)
{
    return j->state >= JOB_FINISHED;
}

/* Until its time limit ends it; NaN: not known. */
static inline double job_left_s(const struct job *j, double now_s)
{
    return j->end_wall_s > 0 ? fmax(0, j->end_wall_s - j->start_wall_s - (now_s - j->start_s)) : NAN;
}

/* Nothing goes on after a step's end: what is reported of it then is of its end. */
static inline double job_newest_s(const struct job *j, double now_s)
{
    return job_over(j) ? j->end_s : now_s;
}

/* Why nothing acts on the step; NULL: it is confirmed. */
const char *job_unconfirmed(const struct job *j);

/* Use these parameters from now on, in the view as well. */
void job_policy_set(struct job *j, const struct config_policy *p);

struct job_agent *job_agent_find(const struct job *j, const char *node); /* NULL: it has none */
/* The node's agent, created at the first call; NULL when the job has JOB_AGENTS_MAX. */
struct job_agent *job_agent_get(struct job *j, const char *node);
size_t job_agents_connected(const struct job *j);
/* Call fn for each of the step's nodes of which no agent has ever connected, as far as
 * their names are known. */
void job_each_missing(const struct job *j, void (*fn)(void *arg, const char *node), void *arg);
/* Add a note, unless the job has the same one already or has JOB_NOTES_MAX. */
void job_note(struct job *j, const char *node, const char *text);
void job_notes_copy(struct job *to, const struct job *from); /* likewise */
/* The agent's unseen was set: tell it in the job's sentence. */
void job_unseen(struct job *j);
/* The first agent that has unseen processes, the nodes that have, and how many processes those are; NULL:
 * none has. */
const struct job_agent *job_unseen_get(const struct job *j, size_t *nodes, int64_t *processes);
/* Append to the job's event list. */
__attribute__((format(printf, 3, 4))) void job_event(struct job *j, double now_s, const char *fmt, ...);
/* Acknowledge all standing verdicts; they stay acknowledged until they are withdrawn. */
void job_acknowledge(struct job *j);
/* Those that it would acknowledge and that are not, in words for job_acknowledge_again(): "straggler r3;
 * hang".  False: none. */
bool job_unacknowledged(const struct job *j, char *buf, size_t size);
/* After a restart: verdicts of these words are acknowledged when they are found again, if that is within
 * JOB_KNOWN_S. */
void job_acknowledge_again(struct job *j, const char *words, double now_s);
bool job_acknowledged(const struct job *j, uint32_t verdict_id);
/* Advance view, state and events to now_s.  raised, if not NULL, is called for every event of the view
 * (verdicts, regime).  A step that never had an agent, such as one of a trace, does not become lost. */
void job_tick(struct job *j, double now_s, void (*raised)(struct job *j, const char *text, void *arg),
              void *arg);
/* The step ended lost, in a hang, or with processes that never finalized. */
bool job_broken(const struct job *j);
bool job_hangs(const struct job *j); /* there is a verdict of a hang, or of a node that is lost */
/* Something happens to it that Slurm may have done or may know of: nothing moves, a node is silent, a process
 * is gone. */
bool job_doubt(const struct job *j);
bool job_silent(const struct job_agent *a, double now_s);
/* What Slurm says of the job (squeue's %T), which was started so many times again. */
void job_slurm_state(struct job *j, double now_s, const char *state, uint32_t restarts);
/* Whether the program of each rank has a handler for the signal, 1 to 64, or needs none, as far as is known:
 * 0, or -1 with a rank that it would kill. */
int job_takes_signal(const struct job *j, int signal, struct err *err);
/* Why its levers are held: pacing, requests of checkpoints, actions of rules (NonFinite=hold, suspended).
 * NULL: they are not. */
const char *job_hold(const struct job *j);

#endif
