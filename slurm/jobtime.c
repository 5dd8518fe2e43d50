#include "slurm/jobtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "common/xalloc.h"
#include "job/cadence.h"
#include "job/job.h"
#include "slurm/child.h"
#include "slurm/slurmtool.h"

#define OFTEN_S    5.0
#define SELDOM_S   60.0
#define TIMEOUT_S  20.0
#define OUTCOME_S  180.0 /* the outcome of a step whose job runs on this long stays unknown */
#define IDS_MAX    16000 /* bytes of the list of jobs */
#define OUTPUT_MAX (1u << 20)

struct jobtime {
    struct event_base *base;
    struct child *child;
    struct jobs *jobs;               /* belongs to the controller */
    char squeue[SLURMTOOL_PATH_MAX]; /* "": there is none */
    double due_s;
};

struct jobtime *jobtime_new(struct event_base *base)
{
    struct jobtime *t = xcalloc(1, sizeof(*t));

    t->base = base;
    slurmtool_find(t->squeue, "squeue");
    return t;
}

void jobtime_free(struct jobtime *t)
{
    if (!t)
        return;
    child_cancel(t->child);
    free(t);
}

/* Whether the step broke and its outcome is unknown.  A hang is a failure, whoever ended it. */
static bool is_open(const struct job *j)
{
    return j->outcome == JOB_OUTCOME_UNKNOWN && job_broken(j) && !job_hangs(j);
}

/* ---- the answer ---- */

bool jobtime_line(const char *text, struct jobtime_line *out)
{
    char end[32], preempted[32];

    *out = (struct jobtime_line){ .job = 0 };
    if (sscanf(text, "%9u %31s %31s %31s %9u", &out->job, end, preempted, out->state, &out->restarts) != 5 ||
        !out->job)
        return false;
    out->end_wall_s = slurmtool_time(end);
    out->preempted_wall_s = slurmtool_time(preempted);
    return true;
}

enum job_outcome jobtime_outcome(const struct jobtime_line *l, uint32_t restarts, bool preempted)
{
    /* Final states, and whether they are failures that a checkpoint protects from; other states leave it open. */
    static const struct {
        const char *state;
        enum job_outcome outcome;
    } states[] = {
        { "FAILED", JOB_OUTCOME_FAILED },        { "NODE_FAIL", JOB_OUTCOME_FAILED },
        { "OUT_OF_MEMORY", JOB_OUTCOME_FAILED }, { "BOOT_FAIL", JOB_OUTCOME_FAILED },
        { "LAUNCH_FAILED", JOB_OUTCOME_FAILED }, { "REQUEUED", JOB_OUTCOME_FAILED },
        { "REQUEUE_HOLD", JOB_OUTCOME_FAILED },  { "SPECIAL_EXIT", JOB_OUTCOME_FAILED },
        { "COMPLETED", JOB_OUTCOME_ENDED },      { "CANCELLED", JOB_OUTCOME_ENDED },
        { "TIMEOUT", JOB_OUTCOME_ENDED },        { "DEADLINE", JOB_OUTCOME_ENDED },
        { "PREEMPTED", JOB_OUTCOME_ENDED },      { "REVOKED", JOB_OUTCOME_ENDED },
    };

    if (preempted)
        return JOB_OUTCOME_ENDED;
    if (l->restarts > restarts)
        return JOB_OUTCOME_FAILED;
    for (size_t i = 0; i < ARRAY_SIZE(states); i++)
        if (!strcmp(l->state, states[i].state))
            return states[i].outcome;
    return JOB_OUTCOME_UNKNOWN;
}

static void set_limit(struct job *j, const struct jobtime_line *l)
{
    double left_s = l->end_wall_s - (double)time(NULL);

    cadence_limit_set(j, l->end_wall_s);
    if (!isnan(l->end_wall_s))
        j->end_wall_s = l->end_wall_s;
    if (!isnan(l->preempted_wall_s))
        cadence_notice(j, now_s(), left_s > 0 ? left_s : NAN);
}

static void take_line(struct jobs *jobs, const char *text)
{
    struct jobtime_line l;

    if (!jobtime_line(text, &l))
        return;
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *j = jobs->job[i];

        if (j->id.job != l.job)
            continue;
        if (!job_over(j))
            set_limit(j, &l);
        else if (is_open(j))
            j->outcome = jobtime_outcome(&l, j->id.restarts, cadence_noticed(j));
    }
}

static void on_end(void *arg, const struct child_end *end)
{
    struct jobtime *t = arg;
    char *copy = xstrdup(end->output), *rest = copy, *line;

    t->child = NULL;
    while ((line = strsep(&rest, "\n")))
        take_line(t->jobs, line);
    free(copy);
}

/* ---- the question ---- */

/* Write "7,12,13" to ids: the jobs with a checkpoint policy, and those whose step broke recently.  often: one of them is
 * asked for checkpoints, or broke. */
static size_t list_jobs(const struct jobs *jobs, double now_s, char *ids, bool *often)
{
    size_t at = 0;

    *often = false;
    *ids = '\0';
    for (size_t i = 0; i < jobs->n && at + 16 < IDS_MAX; i++) {
        const struct job *j = jobs->job[i];

        if (job_over(j) ? !is_open(j) || now_s > j->end_s + OUTCOME_S
                        : j->params.checkpoint == CONFIG_CHECKPOINT_OFF)
            continue;
        *often |= job_over(j) || j->params.checkpoint == CONFIG_CHECKPOINT_REQUEST;
        at += (size_t)snprintf(ids + at, IDS_MAX - at, "%s%u", at ? "," : "", j->id.job);
    }
    return at;
}

void jobtime_tick(struct jobtime *t, struct jobs *jobs, double now_s)
{
    char ids[IDS_MAX];
    const char *const args[] = { "--noheader",
                                 "--jobs",
                                 ids,
                                 "--states",
                                 "all",
                                 "--Format",
                                 "JobID:24,EndTime:24,PreemptTime:24,State:24,RestartCnt:24",
                                 NULL };
    struct child_options o = {
        .path = t->squeue, .args = args, .input = "", .timeout_s = TIMEOUT_S, .output_max = OUTPUT_MAX
    };
    struct err err;
    bool often;

    if (!*t->squeue || t->child || now_s < t->due_s || !list_jobs(jobs, now_s, ids, &often))
        return;
    t->due_s = now_s + (often ? OFTEN_S : SELDOM_S);
    t->jobs = jobs;
    t->child = child_start(t->base, &o, on_end, t, &err);
}
