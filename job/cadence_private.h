/* cadence_private.h - what cadence.c (figures, decisions, report) and cadence_request.c (getting all ranks to
 * hear a request at the same call) share. */
#ifndef SYNCGUARD_JOB_CADENCE_PRIVATE_H
#define SYNCGUARD_JOB_CADENCE_PRIVATE_H

#include "job/cadence.h"
#include "rules/cadence.h"

/* A call lies so far ahead, at first: enough to take it back when an agent does not answer.  When the job is
 * about to be ended, only what messages need. */
#define CADENCE_MARGIN_S 2.0
#define CADENCE_URGENT_S 0.1

enum cadence_phase {
    CADENCE_IDLE,
    CADENCE_WANTED,    /* asked for, not sent yet */
    CADENCE_ARMED,     /* sent: waiting for all agents to have it */
    CADENCE_COMMITTED, /* sent: waiting for all ranks to hear it */
};

struct cadence_requested {
    enum cadence_phase phase;
    char reason[64];
    bool urgent;
    double asked_s; /* when */
    int64_t serial; /* of the newest word to the agents */
    uint64_t at;    /* the call */
    uint32_t app;
    double sent_s;           /* the newest word */
    double call_s;           /* when the call is about to come, at the earliest */
    double margin_s;         /* a call must lie so far ahead */
    uint32_t said, answered; /* agents that it was sent to, and that have it */
    bool sure;               /* committed, and all agents have said so in time */
    bool revoked;            /* they did not: it was taken back */
    unsigned tries;
    double again_s; /* not before */
    /* what came of them, in the step's life */
    uint64_t asked, heard, failed, split, delivered;
    char outcome[160]; /* of the newest */
    uint64_t newest_at;
    double newest_s;
};

/* Where the rate's prior comes from, and what the job's earlier runs saw. */
struct cadence_history {
    double failures, node_s;
    const char *source; /* lives forever */
    char text[160];     /* the same for people; "": nothing is to be said */
    double own_failures, own_node_s;
};

struct cadence {
    void (*say)(struct job *j, struct job_agent *a, json_t *o, void *arg);
    void *arg;
    double step_s, step_off_s; /* as the calls come; mean deviation */
    double work_s;             /* when work began */
    struct cadence_cost cost;
    bool reported_writes;
    uint64_t writes; /* seen */
    double heard_s;  /* when all ranks last heard that one is due */
    double last_s, written_s, settle_s, write_max_s;
    double unanswered_s; /* when one was asked for that no pause has followed yet; NaN: none */
    uint64_t pauses;     /* of the view, seen so far */
    double pause_s;
    double pause_seen_s, pause_each_s; /* the newest that only looks like a checkpoint; NaN: none since */
    double limit_wall_s, notice_s, notice_end_s;
    bool noticed; /* ever */
    double samples_s, samples_per_s;
    uint64_t samples;
    struct cadence_history history;
    struct cadence_requested request;
};

/* All agents' words together. */
struct cadence_sum {
    uint32_t connected, reported, callers, deaf, app, writing;
    bool mixed;
    uint64_t calls_min, calls_max, samples;
    double age_s, at_s; /* of the foremost one's newest call, as reported then */
    double heard_s;     /* the oldest word of those that have callers */
};
struct cadence_sum cadence_sum_up(const struct job *j);
double cadence_step_s(const struct job *j); /* NaN: not known */
double cadence_least_step_s(const struct cadence *c);
struct cadence_figures cadence_figures_of(const struct job *j, double now_s);
struct cadence_bounds cadence_bounds_of(const struct job *j);

void cadence_request_tick(struct job *j, double now_s, const struct cadence_sum *s);
void cadence_request_end(struct job *j, double now_s); /* the step is over */
/* The policy has a signal or a file for programs that do not ask. */
bool cadence_other_way(const struct job *j);
json_t *cadence_requests_json(const struct job *j, double now_s, const struct cadence_sum *s);

#endif
