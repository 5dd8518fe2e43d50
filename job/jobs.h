/* jobs.h - the guarded steps that the controller knows: made, found by what a person typed, and freed with all
 * that belongs to them (checkpoints, recorders). */
#ifndef SYNCGUARD_JOB_JOBS_H
#define SYNCGUARD_JOB_JOBS_H

#include "job/job.h"

#define JOBS_MAX 4096u

struct job *job_new(const struct job_id *id, const struct config_policy *params, double now_s);
void job_free(struct job *j); /* NULL is fine */

struct jobs {
    struct job **job;
    size_t n, cap;
};
struct job *jobs_find(const struct jobs *t, const struct job_id *id);
void jobs_add(struct jobs *t, struct job *j);
void jobs_remove(struct jobs *t, struct job *j); /* and free it */
/* "123", "123.0", "120_3", "120_3.0", "123+1": the newest that fits and that uid may see (UINT32_MAX:
 * everything). */
bool jobs_is_id(const char *text); /* is it the name of a job or step, whether it exists or not? */
struct job *jobs_lookup(const struct jobs *t, const char *text, uid_t uid, struct err *err);

#endif
