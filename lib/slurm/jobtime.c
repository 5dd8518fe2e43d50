#include "slurm/jobtime.h"

#include <inttypes.h>
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

#define OFTEN_S   5.0
#define SELDOM_S  60.0
#define TIMEOUT_S 20.0
#define OUTCOME_S 180.0 /* the outcome of a step whose job runs on this long stays unknown */
/* a step that Slurm has not confirmed is asked about often for this long, ... */
#define CONFIRM_S 60.0
/* ... as is one to which something happened, and longer where Slurm has suspended it */
#define DOUBT_S     120.0
#define COLUMN      24u /* characters; of names NAME_COLUMN */
#define NAME_COLUMN 64u
#define IDS_MAX     16000 /* bytes of the list of jobs */
#define OUTPUT_MAX  (1u << 20)

struct jobtime {
    struct event_base *base;
    struct child *child;
    struct jobs *jobs;               /* belongs to the controller */
    char squeue[SLURMTOOL_PATH_MAX]; /* "": there is none */
    double due_s, asked_s;
    char ids[IDS_MAX]; /* of the newest question */
    uint32_t after;    /* the next list begins behind this job; 0: with the first */
    double looked_s;   /* for squeue, when it was not there */
    struct err why;    /* the last question could not be asked; "": it was */
    void (*confirmed)(struct job *j, void *arg);
    void *arg;
};

struct jobtime *jobtime_new(struct event_base *base, void (*confirmed)(struct job *j, void *arg), void *arg)
{
    struct jobtime *t = xcalloc(1, sizeof(*t));

    t->base = base;
    t->confirmed = confirmed;
    t->arg = arg;
    t->looked_s = -INFINITY;
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

static int flag_at(const char *text, size_t begin)
{
    const char *at = begin < strlen(text) ? text + begin + strspn(text + begin, " ") : "";

    return *at == '0' || *at == '1' ? *at - '0' : -1;
}

bool jobtime_line(const char *text, struct jobtime_line *out)
{
    char *const field[] = { out->user, out->partition, out->account, out->qos };
    char end[32], preempted[32], task[32] = "", *rest;
    size_t length = strlen(text);
    int64_t job; /* of a federation it has ten digits */

    *out = (struct jobtime_line){ .array_job = -1, .array_task = -1, .batch = -1, .requeue = -1 };
    if (sscanf(text, "%10" SCNd64 " %31s %31s %31s %9u %10u %10" SCNd64 " %31s", &job, end, preempted,
               out->state, &out->restarts, &out->uid, &out->array_job, task) != 8 ||
        job < 1 || job > UINT32_MAX)
        return false;
    out->job = (uint32_t)job;
    out->array_task = strtoll(task, &rest, 10);
    if (rest == task || *rest)
        out->array_job = out->array_task = -1;
    for (size_t i = 0, begin = 8 * COLUMN; i < ARRAY_SIZE(field) && begin < length;
         i++, begin += NAME_COLUMN) {
        size_t n = length - begin < NAME_COLUMN ? length - begin : NAME_COLUMN;

        while (n > 0 && text[begin + n - 1] == ' ') /* blanks fill the column */
            n--;
        snprintf(field[i], 64, "%.*s", n < 64 ? (int)n : 0, text + begin);
        if (!strcmp(field[i], "(null)") || !strcmp(field[i], "N/A"))
            *field[i] = '\0';
    }
    out->batch = flag_at(text, 8 * COLUMN + ARRAY_SIZE(field) * NAME_COLUMN);
    out->requeue = flag_at(text, 9 * COLUMN + ARRAY_SIZE(field) * NAME_COLUMN);
    out->end_wall_s = slurmtool_time(end);
    out->preempted_wall_s = slurmtool_time(preempted);
    return true;
}

enum job_outcome jobtime_outcome(const struct jobtime_line *l, uint32_t restarts, bool preempted)
{
    /* Final states, and whether they are failures that a checkpoint protects from; other states leave it
     * open. */
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

/* A step of which root says that this user runs it is the one of Slurm's record if that says so, too. */
static void confirm_step(const struct jobtime *t, struct job *j, const struct jobtime_line *l)
{
    if (j->trust != JOB_VOUCHED || j->id.uid != l->uid || j->id.restarts != l->restarts)
        return;
    snprintf(j->user, sizeof(j->user), "%s", l->user);
    snprintf(j->partition, sizeof(j->partition), "%s", l->partition);
    snprintf(j->account, sizeof(j->account), "%s", l->account);
    snprintf(j->qos, sizeof(j->qos), "%s", l->qos);
    j->array_job = l->array_job;
    j->array_task = l->array_task;
    j->trust = JOB_CONFIRMED;
    t->confirmed(j, t->arg);
}

static void apply_line(const struct jobtime *t, const char *text)
{
    const struct jobs *jobs = t->jobs;
    struct jobtime_line l;
    double left_s;

    if (!jobtime_line(text, &l))
        return;
    for (size_t i = 0; i < jobs->n; i++) {
        struct job *j = jobs->job[i];

        if (j->id.job != l.job)
            continue;
        if (j->id.uid == l.uid) /* as slurmctld decides on a requeue */
            j->no_requeue =
                l.batch == 0 ? "it is not a batch job (sbatch), and only those are"
                : l.requeue == 0
                    ? "Slurm has Requeue=0 for it (sbatch --requeue, or scontrol update jobid=... requeue=1)"
                    : NULL;
        confirm_step(t, j, &l);
        if (!job_over(j)) {
            cadence_limit_set(j, l.end_wall_s);
            if (!isnan(l.end_wall_s))
                j->end_wall_s = l.end_wall_s;
            left_s = l.end_wall_s - (double)time(NULL);
            if (!isnan(l.preempted_wall_s))
                cadence_notice(j, now_s(), left_s > 0 ? left_s : NAN);
            job_slurm_state(j, now_s(), l.state, l.restarts);
        } else if (is_open(j)) {
            j->outcome = jobtime_outcome(&l, j->id.restarts, cadence_noticed(j));
        }
    }
}

static bool has_asked(const struct jobtime *t, uint32_t job)
{
    char id[16];
    size_t n = (size_t)snprintf(id, sizeof(id), "%u", job);

    for (const char *at = t->ids; (at = strstr(at, id)); at++)
        if ((at == t->ids || at[-1] == ',') && (at[n] == ',' || !at[n]))
            return true;
    return false;
}

static void on_end(void *arg, const struct child_end *end)
{
    struct jobtime *t = arg;
    char *copy = xstrdup(end->output), *rest = copy, *line;

    t->child = NULL;
    while ((line = strsep(&rest, "\n")))
        apply_line(t, line);
    free(copy);
    for (size_t i = 0; end->status == 0 && i < t->jobs->n; i++)
        if (t->jobs->job[i]->trust == JOB_VOUCHED && t->jobs->job[i]->start_s < t->asked_s &&
            has_asked(t, t->jobs->job[i]->id.job))
            t->jobs->job[i]->unknown_to_slurm = true;
}

/* ---- the question ---- */

static bool is_to_confirm(const struct job *j, double now_s)
{
    return j->trust == JOB_VOUCHED && (!job_over(j) || now_s < j->end_s + OUTCOME_S);
}

static bool is_in_doubt(const struct job *j)
{
    return !job_over(j) && j->doubt_s;
}

static int by_number(const void *a, const void *b)
{
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;

    return (one > two) - (one < two);
}

/* Is it to be confirmed, running, or did its step break recently?  often: it is asked for checkpoints, broke,
 * is in doubt, or is to be confirmed. */
static bool is_to_ask(const struct job *j, double now_s, bool *often)
{
    if (is_to_confirm(j, now_s) || is_in_doubt(j))
        *often = *often || (is_to_confirm(j, now_s) && now_s < j->start_s + CONFIRM_S) ||
                 (is_in_doubt(j) && (now_s < j->doubt_s + DOUBT_S || j->state == JOB_SUSPENDED));
    else if (job_over(j) && (!is_open(j) || now_s > j->end_s + OUTCOME_S))
        return false;
    else
        *often |= job_over(j) || j->params.checkpoint == CONFIG_CHECKPOINT_REQUEST;
    return true;
}

/* False: there is no room for it. */
static bool put_job(struct jobtime *t, size_t *at, uint32_t job)
{
    if (*at + 16 > sizeof(t->ids))
        return false;
    *at += (size_t)snprintf(t->ids + *at, sizeof(t->ids) - *at, "%s%u", *at ? "," : "", job);
    return true;
}

/* Write "12,13,7" to t->ids, each job once.  Where they do not all find room, the next list begins with the
 * rest.  Of steps that nobody vouches for the number is anybody's claim: they come last, and without those of
 * a number that some squeues do not take, for which they would not answer at all. */
static size_t list_jobs(struct jobtime *t, const struct jobs *jobs, double now_s, bool *often)
{
    uint32_t *job = xcalloc(jobs->n + 1, sizeof(*job));
    size_t n = 0, begin = 0, at = 0;

    *often = false;
    *t->ids = '\0';
    for (size_t i = 0; i < jobs->n; i++)
        if (jobs->job[i]->trust != JOB_UNCONFIRMED && is_to_ask(jobs->job[i], now_s, often))
            job[n++] = jobs->job[i]->id.job;
    qsort(job, n, sizeof(*job), by_number);
    while (begin < n && job[begin] <= t->after)
        begin++;
    t->after = 0;
    for (size_t i = 0; i < n && !t->after; i++) {
        size_t k = (begin + i) % n;

        if ((!k || !i || job[k] != job[k - 1]) && !put_job(t, &at, job[k]))
            t->after = job[(k + n - 1) % n];
    }
    free(job);
    for (size_t i = 0; i < jobs->n; i++) {
        const struct job *j = jobs->job[i];

        if (j->trust == JOB_UNCONFIRMED && j->id.job <= INT32_MAX && is_to_ask(j, now_s, often) &&
            !has_asked(t, j->id.job) && !put_job(t, &at, j->id.job))
            break;
    }
    return at;
}

/* Whether there is one that Slurm was not asked about yet. */
static bool has_new(const struct jobs *jobs, double asked_s)
{
    for (size_t i = jobs->n; i-- > 0;)
        if ((jobs->job[i]->trust == JOB_VOUCHED && jobs->job[i]->start_s >= asked_s) ||
            (is_in_doubt(jobs->job[i]) && jobs->job[i]->doubt_s >= asked_s))
            return true;
    return false;
}

int jobtime_tick(struct jobtime *t, struct jobs *jobs, double now_s, struct err *err)
{
    const char *const args[] = {
        "--noheader",
        "--jobs",
        t->ids,
        "--states",
        "all",
        "--Format",
        "JobID:24,EndTime:24,PreemptTime:24,State:24,RestartCnt:24,UserID:24,"
        "ArrayJobID:24,ArrayTaskID:24,UserName:64,Partition:64,Account:64,QOS:64,BatchFlag:24,Requeue:24",
        NULL
    };
    struct child_options o = {
        .path = t->squeue, .args = args, .input = "", .timeout_s = TIMEOUT_S, .output_max = OUTPUT_MAX
    };
    struct err why = { "" };
    bool often, same;

    if (t->child || (now_s < t->due_s && !has_new(jobs, t->asked_s)) || !list_jobs(t, jobs, now_s, &often))
        return 0;
    if (!*t->squeue && now_s >= t->looked_s + SELDOM_S) { /* it may have been installed by now */
        t->looked_s = now_s;
        slurmtool_find(t->squeue, "squeue");
    }
    if (!*t->squeue) {
        err_set(&why, "there is no squeue in PATH here");
    } else {
        t->due_s = now_s + (often ? OFTEN_S : SELDOM_S);
        t->jobs = jobs;
        t->asked_s = now_s;
        t->child = child_start(t->base, &o, on_end, t, &why);
    }
    same = !strcmp(why.text, t->why.text);
    t->why = why;
    return t->child || same ? 0 : err_set(err, "%s", why.text);
}
