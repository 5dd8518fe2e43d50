/* jobs.h - the table of guarded steps that the controller knows: creates steps, finds them by the id that a
 * user gave, and frees them with everything they own (checkpoints, recorders). */
#ifndef SYNCGUARD_JOB_JOBS_H
#define SYNCGUARD_JOB_JOBS_H

#include "job/job.h"

#define JOBS_MAX 4096u

/* A step that is starting, with an empty view; it is not in a table yet. */
struct job *job_new(const struct job_id *id, const struct config_policy *params, double now_s);
void job_free(struct job *j); /* NULL is fine */

/* Steps in the order in which they were added. */
struct jobs {
    struct job **job;
    size_t n, cap;
};
/* A step of that id; of two, that somebody vouches for. */
struct job *jobs_find(const struct jobs *t, const struct job_id *id);
void jobs_add(struct jobs *t, struct job *j);
void jobs_remove(struct jobs *t, struct job *j); /* and free it */
bool jobs_is_id(const char *text);               /* whether text has the form of a job's or step's id */
/* The newest step that matches "123", "123.0", "120_3", "120_3.0" or "123+1" (of a heterogeneous job only,
 * all components of which are one step) and that uid may see (UINT32_MAX: all steps), of those that are best
 * confirmed.  NULL with a reason if there is none, or if users claim it whom nobody confirms. */
struct job *jobs_lookup(const struct jobs *t, const char *text, uid_t uid, struct err *err);

#endif
