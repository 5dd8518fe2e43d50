/* audit.h - every decision about a job, with its reason, its outcome and what it brought; kept, whether it
 * was done or only said in a dry run, and so are the commands of people that change what is decided.
 *
 * A database of its own beside the history (StateDir/audit.sqlite), and, where the configuration names one, a
 * file of JSON lines that only grows. Who decides and who acts is elsewhere: here it is written down. Every
 * function takes NULL. Times: Unix seconds. */
#ifndef SYNCGUARD_HISTORY_AUDIT_H
#define SYNCGUARD_HISTORY_AUDIT_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "job/job.h"
#include "rules/effect.h"
#include "rules/engine.h"

#define AUDIT_NOBODY UINT32_MAX

enum audit_outcome {
    AUDIT_NONE,    /* nothing was to be done */
    AUDIT_PENDING, /* handed on, not over */
    AUDIT_DONE,
    AUDIT_FAILED
};

struct audit_entry {
    int64_t id; /* grows; 0: not written */
    double at;
    struct job_id job;
    char job_text[48], policy[32];
    bool command;      /* of a person; of the decision then counts the sentence alone */
    uid_t by;          /* whose command, or who asked for the action; AUDIT_NOBODY */
    struct decision d; /* its at_s says nothing here */
    enum audit_outcome outcome;
    char outcome_text[256];
    struct effect_level before;  /* step time before */
    struct effect_ratio brought; /* of the step time afterwards */
    char effect[320];            /* "": not measured yet */
};

struct audit;

/* DIR/audit.sqlite; where that cannot be, memory, and warning says why ("": all is well). */
struct audit *audit_open(const char *dir, struct err *warning);
void audit_close(struct audit *a);
/* Add JSON lines to the file as well, from now on; "": no longer. */
void audit_log_to(struct audit *a, const char *path);

/* Written, and e gets its id. -1: with the reason; then it is in neither place. */
int audit_add(struct audit *a, struct audit_entry *e, struct err *err);
/* What became of it: outcome, ratio and effect as they are now. */
int audit_update(struct audit *a, const struct audit_entry *e, struct err *err);

/* As doc/protocol.md has it; the caller's. */
json_t *audit_object(const struct audit_entry *e);
/* The newest first, at most limit; job 0: of all jobs; uid UINT32_MAX: of all users. The caller's. */
json_t *audit_list(struct audit *a, uint32_t job, uid_t uid, int limit);

/* Decisions that count against a budget, oldest first: since then, of the job those that were not withheld,
 * of all jobs (NULL) those that were enforced. What a person asked for counts against none.
 */
void audit_spent(struct audit *a, const struct job_id *job, double since,
                 void (*each)(double at, uint32_t nodes, void *arg), void *arg);
/* What ended earlier runs of this job and step, the newest first: how many. Its effect is "" until a later
 * run has shown it. */
#define AUDIT_EARLIER 4u
size_t audit_earlier(struct audit *a, const struct job_id *run, struct audit_entry e[AUDIT_EARLIER]);
/* The oldest of these that was asked for by hand and is not over. 0, or -1: there is none. */
int audit_asked(struct audit *a, const struct job_id *run, enum action_kind action, uid_t by,
                struct audit_entry *e);
/* All of one run, oldest first: what a controller that begins anew must know of it. */
void audit_run(struct audit *a, const struct job_id *run,
               void (*each)(const struct audit_entry *e, void *arg), void *arg);
/* 0, or -1: there is none of that id. */
int audit_get(struct audit *a, int64_t id, struct audit_entry *e);
void audit_expire(struct audit *a, int days);

#endif
