/* cadence_private.h - shared by cadence.c (decisions, and the job's report), cadence_request.c (delivers a
 * request to all ranks at the same call) and, below both, cadence_report.c (what agents report). */
#ifndef SYNCGUARD_JOB_CADENCE_PRIVATE_H
#define SYNCGUARD_JOB_CADENCE_PRIVATE_H

#include "job/cadence.h"
#include "job/job.h"
#include "rules/cadence.h"

/* Initial time from a request to its call: enough to withdraw it when an agent does not answer.  When the
 * job is about to be ended, it is only as long as the messages need. */
#define CADENCE_MARGIN_S 2.0
#define CADENCE_URGENT_S 0.1

enum cadence_phase {
    CADENCE_IDLE,
    CADENCE_WANTED,    /* asked for, not sent yet */
    CADENCE_ARMED,     /* sent; waiting until all agents have it on their pages */
    CADENCE_COMMITTED, /* commit sent; waiting until all ranks have passed the call */
};

struct cadence_requested {
    enum cadence_phase phase;
    char reason[64];
    bool urgent;
    double asked_s; /* when */
    int64_t serial; /* of the latest message to the agents */
    uint64_t at;    /* the call */
    uint32_t app;
    double sent_s;           /* when the latest message was sent */
    double call_s;           /* earliest time at which a rank can make the call */
    double margin_s;         /* least time from the request to the call */
    uint32_t said, answered; /* agents to which it was sent, and those that have it */
    bool sure;               /* all agents confirmed the commit in time */
    bool revoked;            /* an agent did not confirm the commit in time, so that it was withdrawn */
    unsigned tries;
    double again_s; /* no request before this time */
    /* outcomes of all requests of the step */
    uint64_t asked, heard, failed, split, delivered;
    char outcome[160]; /* of the latest request */
    uint64_t newest_at;
    double newest_s;
};

/* Origin of the failure rate's prior, and the failures of the job's earlier runs. */
struct cadence_history {
    double failures, node_s;
    const char *source; /* static lifetime */
    char text[160];     /* the same for people; "": not needed */
    double own_failures, own_node_s;
};

struct cadence {
    double step_s, step_off_s; /* time between calls, and its mean deviation */
    double work_s;             /* when the ranks began to work */
    struct cadence_cost cost;
    bool reported_writes;
    uint64_t writes; /* number of observed writes */
    double heard_s;  /* when all ranks last received a request */
    double last_s, written_s, settle_s, write_max_s;
    double unanswered_s; /* time of a request that no pause has followed yet; NaN: none */
    uint64_t pauses;     /* pauses in the view that were processed */
    double pause_s;
    double pause_seen_s, pause_each_s; /* latest pause that may have been a checkpoint; NaN: none */
    double limit_wall_s, notice_s, notice_end_s;
    bool noticed; /* ever */
    double samples_s, samples_per_s;
    uint64_t samples;
    struct cadence_history history;
    struct cadence_requested request;
};

/* Summary of all agents' reports. */
struct cadence_sum {
    uint32_t connected, reported, callers, deaf, app, writing;
    bool mixed;
    uint64_t calls_min, calls_max, samples;
    double age_s, at_s; /* age of the foremost rank's latest call when reported; time of that report */
    double heard_s;     /* time of the oldest report of a node with callers */
};
struct cadence_sum cadence_sum_up(const struct job *j);
/* The object "checkpoint" of an agent's message; what is missing or out of bounds is 0 or NaN. */
void cadence_report_parse(struct cadence_report *r, const json_t *o);
void cadence_learn_step(struct cadence *c, double step_s);
/* As short as a step may be. */
double cadence_step_min_s(const struct cadence *c);

void cadence_request_tick(struct job *j, double now_s, const struct cadence_sum *s);
void cadence_request_end(struct job *j, double now_s); /* the step is over */
/* The policy has a signal or a file for programs that do not ask. */
bool cadence_other_way(const struct job *j);
void cadence_requests_get(struct report_cadence *to, const struct job *j, double now_s,
                          const struct cadence_sum *s);

#endif
