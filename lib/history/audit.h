/* audit.h - the audit log: every decision about a job with its reason, outcome and effect, whether it was
 * carried out or part of a dry run, every user's command that changes decisions, and the actions that follow,
 * by rule or by hand.
 *
 * It has a database of its own beside the history (StateDir/audit.sqlite) and, if AuditLog is configured, an
 * append-only file of JSON lines, which gets of decisions and commands what the database has taken.  An
 * action is on the disk before and after it is carried out, with what was decided until then, so that every
 * action that was carried out has a record; a crash of the host may lose the latest of the other entries.
 * This module only records; others decide and act.
 * Times: Unix seconds. */
#ifndef SYNCGUARD_HISTORY_AUDIT_H
#define SYNCGUARD_HISTORY_AUDIT_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"
#include "history/action_record.h"
#include "job/job.h"
#include "report/report_control.h"
#include "rules/effect.h"
#include "rules/engine.h"

#define AUDIT_NOBODY UINT32_MAX

enum audit_outcome {
    AUDIT_NONE,    /* there was nothing to do */
    AUDIT_PENDING, /* under way */
    AUDIT_DONE,
    AUDIT_FAILED
};

struct audit_entry {
    int64_t id; /* ascending; 0: not written */
    double at;
    struct job_id job;
    char job_text[48], policy[32];
    bool command; /* a user's command; of d only the sentence is valid then */
    uid_t by;     /* user who gave the command or asked for the action, or AUDIT_NOBODY */
    struct decision d;
    enum audit_outcome outcome;
    char outcome_text[256];
    struct effect_level before;       /* step time before */
    struct effect_ratio effect_ratio; /* step time afterwards over step time before */
    char effect[320];                 /* "": not measured yet */
};

struct audit;

extern const struct database_tables audit_tables; /* of its file (database.h) */

/* Open DIR/audit.sqlite, and take in DIR/actions.sqlite of an earlier release, which is called
 * actions.sqlite.imported from then on.  If that fails, a database in memory is used and warning has the
 * reason ("": no failure). */
struct audit *audit_open(const char *dir, struct err *warning);
void audit_close(struct audit *a); /* NULL is fine */
/* From now on also append every entry to this file as a JSON line; "": to none. */
void audit_log_to(struct audit *a, const char *path);
/* 0; or -1 with the reason if that file lacks the latest entry, once until it takes one again. */
int audit_log_check(struct audit *a, struct err *err);

/* Write an entry and set its id.  -1 with a reason: it is in neither database nor file. */
int audit_add(struct audit *a, struct audit_entry *e, struct err *err);
/* Write outcome, ratio and effect of e, which audit_add() wrote before. */
int audit_update(struct audit *a, const struct audit_entry *e, struct err *err);

/* The entry as it is reported; the caller frees it by report_decision_free(). */
void audit_report(struct report_decision *d, const struct audit_entry *e);
/* The same as in sgctl(1), JSON; the caller owns it. */
json_t *audit_object(const struct audit_entry *e);
/* Call each for at most limit entries, newest first, until it returns false; job 0: of all jobs; uid
 * UINT32_MAX: of all users; before: those with a lower id, 0: all. */
void audit_list(struct audit *a, uint32_t job, uid_t uid, int64_t before, int64_t limit,
                bool (*each)(const struct audit_entry *e, void *arg), void *arg);

/* Call each for decisions after since that count against a budget, oldest first.  With a job: its decisions
 * that were not withheld; with NULL: enforced decisions of all jobs.  Neither actions that failed nor those
 * that a user asked for count. */
void audit_spent(struct audit *a, const struct job_id *job, double since,
                 void (*each)(double at, uint32_t nodes, uid_t uid, void *arg), void *arg);
/* The actions that ended earlier runs of this job and step, newest first; returns how many.  Their effect is
 * "" until it was measured on a later run. */
#define AUDIT_EARLIER 4u
size_t audit_earlier(struct audit *a, const struct job_id *run, struct audit_entry e[AUDIT_EARLIER]);
/* Call each for what rules did in earlier runs of this job and step, dry runs included, and actions that
 * failed excepted, oldest first. */
void audit_acted(struct audit *a, const struct job_id *run,
                 void (*each)(const char *rule, double at, void *arg), void *arg);
/* The oldest action of this kind in the run that this user asked for and that is under way.  -1: none. */
int audit_asked(struct audit *a, const struct job_id *run, enum action_kind action, uid_t by,
                struct audit_entry *e);
/* Call each for all entries of one run, oldest first; a restarted controller restores its state from them. */
void audit_run(struct audit *a, const struct job_id *run,
               void (*each)(const struct audit_entry *e, void *arg), void *arg);
int audit_get(struct audit *a, int64_t id, struct audit_entry *e); /* -1: no entry has this id */
/* Delete entries that are older, and actions that ended before.  -1 with a reason. */
int audit_expire(struct audit *a, int days, struct err *err);

/* ---- actions ---- */

/* Add an action that is pending; returns its id, or 0 with a reason if it cannot be written. */
int64_t audit_action_add(struct audit *a, const struct action *action, double at, struct err *err);
/* Write state, tries, under_way, tried_s, ended_s and outcome.  -1 with a reason. */
int audit_action_update(struct audit *a, const struct action_record *r, struct err *err);
/* The caller frees the record by action_record_free(); NULL: there is none. */
struct action_record *audit_action_get(struct audit *a, int64_t id);
struct action_record *audit_action_find(struct audit *a, const char *key);
/* Call each for the pending actions, oldest first; each frees its record. */
void audit_actions_pending(struct audit *a, void (*each)(struct action_record *r, void *arg), void *arg);
/* As audit_list(). */
void audit_actions_list(struct audit *a, uint32_t job, uid_t uid, int64_t before, int64_t limit,
                        action_listed *each, void *arg);

#endif
