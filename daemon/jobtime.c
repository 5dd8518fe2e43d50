#include "daemon/jobtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/xalloc.h"
#include "daemon/cadence.h"
#include "daemon/child.h"
#include "daemon/job.h"

#define OFTEN_S    5.0
#define SELDOM_S   60.0
#define TIMEOUT_S  20.0
#define IDS_MAX    16000 /* bytes of the list of jobs */
#define OUTPUT_MAX (1u << 20)

struct jobtime {
    struct event_base *base;
    struct child *child;
    struct jobs *jobs; /* lent for as long as the server lives */
    char squeue[256];  /* "": there is none */
    double due_s;
};

static void find_program(char path[256], const char *name)
{
    const char *given = getenv("PATH");
    char list[4096], *rest = list, *dir;

    snprintf(list, sizeof(list), "%s:/usr/bin:/usr/local/bin:/opt/slurm/bin", given ? given : "");
    while ((dir = strsep(&rest, ":"))) {
        if (*dir == '/' && snprintf(path, 256, "%s/%s", dir, name) < 256 && access(path, X_OK) == 0)
            return;
    }
    *path = '\0';
}

struct jobtime *jobtime_new(struct event_base *base)
{
    struct jobtime *t = xcalloc(1, sizeof(*t));

    t->base = base;
    find_program(t->squeue, "squeue");
    return t;
}

void jobtime_free(struct jobtime *t)
{
    if (!t)
        return;
    child_cancel(t->child);
    free(t);
}

/* ---- the answer ---- */

static double wall_of(const char *text)
{
    struct tm tm = { .tm_isdst = -1 };
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

    return end && !*end ? (double)mktime(&tm) : NAN;
}

bool jobtime_line(const char *line, uint32_t *job, double *end_wall_s, double *preempted_wall_s)
{
    char end[32], preempted[32];

    if (sscanf(line, "%9u %31s %31s", job, end, preempted) != 3 || !*job)
        return false;
    *end_wall_s = wall_of(end);
    *preempted_wall_s = wall_of(preempted);
    return true;
}

static void tell(struct jobs *jobs, const char *line)
{
    double end_s, preempted_s, left_s, now_s;
    struct timespec wall, clock;
    uint32_t id;

    if (!jobtime_line(line, &id, &end_s, &preempted_s))
        return;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_MONOTONIC, &clock);
    now_s = (double)clock.tv_sec + (double)clock.tv_nsec * 1e-9;
    left_s = end_s - (double)wall.tv_sec;
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *j = jobs->job[i];

        if (j->id.job != id || j->state >= JOB_FINISHED)
            continue;
        cadence_limit_set(j, end_s);
        if (!isnan(end_s))
            j->end_wall_s = end_s;
        if (!isnan(preempted_s))
            cadence_notice(j, now_s, left_s > 0 ? left_s : NAN);
    }
}

static void on_end(void *arg, const struct child_end *end)
{
    struct jobtime *t = arg;
    char *copy = xstrdup(end->output), *rest = copy, *line;

    t->child = NULL;
    while ((line = strsep(&rest, "\n")))
        tell(t->jobs, line);
    free(copy);
}

/* ---- the question ---- */

/* "7,12,13": those whose checkpoints are not left alone; often: one of them is asked for checkpoints. */
static size_t list_jobs(const struct jobs *jobs, char *ids, bool *often)
{
    size_t at = 0;

    *often = false;
    *ids = '\0';
    for (size_t i = 0; i < jobs->n && at + 16 < IDS_MAX; i++) {
        const struct job *j = jobs->job[i];

        if (j->state >= JOB_FINISHED || j->params.checkpoint == CONFIG_CHECKPOINT_OFF)
            continue;
        *often |= j->params.checkpoint == CONFIG_CHECKPOINT_REQUEST;
        at += (size_t)snprintf(ids + at, IDS_MAX - at, "%s%u", at ? "," : "", j->id.job);
    }
    return at;
}

void jobtime_tick(struct jobtime *t, struct jobs *jobs, double now_s)
{
    char ids[IDS_MAX];
    const char *const args[] = {
        "--noheader", "--jobs", ids, "--Format", "JobID:24,EndTime:24,PreemptTime:24", NULL
    };
    struct child_options o = {
        .path = t->squeue, .args = args, .input = "", .timeout_s = TIMEOUT_S, .output_max = OUTPUT_MAX
    };
    struct err err;
    bool often;

    if (!*t->squeue || t->child || now_s < t->due_s || !list_jobs(jobs, ids, &often))
        return;
    t->due_s = now_s + (often ? OFTEN_S : SELDOM_S);
    t->jobs = jobs;
    t->child = child_start(t->base, &o, on_end, t, &err);
}
