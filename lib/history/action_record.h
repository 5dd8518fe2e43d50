/* action_record.h - an action as data: what to do, its state, and both as text. Pure.
 * Times: Unix seconds. */
#ifndef SYNCGUARD_HISTORY_ACTION_RECORD_H
#define SYNCGUARD_HISTORY_ACTION_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/job.h"
#include "rules/action.h"
#include "rules/figures.h"

#define ACTION_NODES_MAX  4096u /* bytes of a host list */
#define ACTION_REASON_MAX 512u
#define ACTION_KEY_MAX    128u
#define ACTION_BY_ITSELF  UINT32_MAX /* a rule decided, no user asked for it */

/* What to do.  Strings are the caller's and need to be valid during the call; NULL is the same as "". */
struct action {
    enum action_kind kind;
    struct job_id job;             /* the guarded step and its run; .job 0: the action concerns only nodes */
    const char *job_text;          /* the step's id for people, "123.0" */
    const char *nodes;             /* Slurm host list, for exclude, node_comment, drain and resume */
    int signal;                    /* for signal */
    const char *rule;              /* name of the rule that decided; "": a user asked for it */
    const char *policy;            /* policy of that rule */
    const char *reason;            /* a sentence: the comment, the node's reason, the webhook's text */
    const char *key;               /* identifies the action: less than ACTION_KEY_MAX bytes */
    uid_t by;                      /* user who asked for it, or ACTION_BY_ITSELF */
    bool forced;                   /* a signal that the program has no handler for is sent, too */
    const struct figures *figures; /* the job's figures at that time, for webhook and command; NULL: none */
    const char *next; /* beside them: what to type about the costliest verdict (report/report_next.h) */
};

enum action_state {
    ACTION_PENDING, /* not tried yet, under way, or to be tried again */
    ACTION_DONE,
    ACTION_FAILED, /* refused or given up; the outcome has the reason */
};

/* An action with its state. */
struct action_record {
    int64_t id; /* ascending */
    enum action_kind kind;
    struct job_id job;
    enum action_state state;
    int signal;
    unsigned tries;
    bool under_way;                   /* a try was started and its outcome is not known */
    double asked_s, tried_s, ended_s; /* tried_s, ended_s: NaN before that */
    uid_t by;
    const char *job_text, *nodes, *rule, *policy, *reason, *key;
    const char *outcome; /* a sentence: what was done and by what means, or why it failed or is tried again */
    const char *figures; /* text of a JSON object; "": none */
};
/* False: no more of them. */
typedef bool action_listed(const struct action_record *r, void *arg);
void action_record_free(struct action_record *r); /* that owns its strings; NULL is fine */

/* Whether a job's comment is set as the user's own, not the administrator's: its owner asked for it. */
bool action_own_comment(const struct action_record *r);
/* Whether the nodes must belong to the job: a rule named them. */
bool action_of_job(const struct action_record *r);
/* The action's figures, and next, as text of a JSON object, which the caller frees; NULL: it has none. */
char *action_figures_text(const struct action *a);
/* The figures as an object that the caller owns; empty if there are none. */
json_t *action_figures(const struct action_record *r);
/* Write the command that was stored beside them to buf; "": there is none.  Returns buf. */
char *action_next(const struct action_record *r, char *buf, size_t size);
/* The record as in doc/protocol.md; the caller owns it. */
json_t *action_object(const struct action_record *r);
/* Write "drain node3 for job 123.0" to buf, for logs and events; returns buf. */
char *action_phrase(const struct action_record *r, char *buf, size_t size);

#endif
