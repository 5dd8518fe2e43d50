/* action_record.h - an action in data: what to do, how it stands, and both in words. Pure.
 * Times: Unix seconds. */
#ifndef SYNCGUARD_ACTIONS_ACTION_RECORD_H
#define SYNCGUARD_ACTIONS_ACTION_RECORD_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/job.h"
#include "rules/action.h"
#include "rules/figures.h"

#define ACTION_NODES_MAX  4096u /* bytes of a host list */
#define ACTION_REASON_MAX 512u
#define ACTION_KEY_MAX    128u
#define ACTION_BY_ITSELF  UINT32_MAX /* the controller decided */

/* What to do.  Strings are lent for the call; NULL is as good as "". */
struct action {
    enum action_kind kind;
    struct job_id job;    /* the guarded step and its run; .job 0: about nodes alone */
    const char *job_text; /* as a person writes it, "123.0"; made of job when NULL */
    const char *nodes;    /* Slurm's host list: exclude, node_comment, drain */
    int signal;           /* signal */
    const char *rule;     /* who decided: a rule's name; by hand: "" */
    const char *policy;   /* and the policy that it belongs to */
    const char *reason;   /* a sentence: the comment, the node's reason, the webhook's text */
    const char *key;      /* what makes it this one action and no other; NULL: action_key() of it */
    uid_t by;             /* who asked; ACTION_BY_ITSELF */
    const struct figures
        *figures; /* what was known of the job then, for webhook and command; NULL: nothing */
};

enum action_state {
    ACTION_PENDING, /* not done yet, or to be tried again */
    ACTION_DONE,
    ACTION_FAILED, /* refused, or given up: the outcome says why */
};
const char *action_state_name(enum action_state s); /* "pending", "done", "failed" */

/* How an action stands. */
struct action_record {
    int64_t id; /* grows */
    enum action_kind kind;
    struct job_id job;
    enum action_state state;
    int signal;
    unsigned tries;
    double asked_s, tried_s, ended_s; /* tried_s, ended_s: NaN while it has not come to that */
    uid_t by;
    const char *job_text, *nodes, *rule, *policy, *reason, *key;
    const char *outcome; /* a sentence: what was done, through what; or why it failed, or is tried again */
    const char *figures; /* as stored: text of a JSON object; "": none */
};
/* Figures as text of a JSON object, the caller's; NULL for NULL. */
char *action_figures_text(const struct figures *f);
/* That object, the caller's; empty when there are none. */
json_t *action_figures(const struct action_record *r);
/* As doc/protocol.md has it; the caller's. */
json_t *action_object(const struct action_record *r);
/* "drain node3 for job 123.0": for logs and events; into buf, which is returned. */
char *action_phrase(const struct action_record *r, char *buf, size_t size);

/* "JOB.STEP/RESTARTS/RULE/KIND/NODES...": the same decision about the same run has the same key.  buf has
 * ACTION_KEY_MAX bytes (a longer one ends in a hash of itself); returns buf. */
char *action_key(const struct action *a, char *buf);

#endif
