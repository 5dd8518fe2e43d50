/* slurm/jobtime: what squeue prints of a job, and, with a script in place of squeue, which steps that
 * confirms. */
#include <event2/event.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "job/ability.h"
#include "slurm/jobtime.h"
#include "tests/tap.h"

#define NUMBERS "%-24s%-24s%-24s%-24s%-24s%-24s%-24s%-24s"
#define NAMES   "%-64s%-64s%-64s%-64s"

static void lines(void)
{
    static const char *const bad[] = {
        "",   "slurm_load_jobs error: Invalid job id", "0 N/A N/A RUNNING 0",
        "12", "12 2026-11-21T15:30:00 N/A RUNNING",    "12 N/A N/A RUNNING 0 1"
    };
    struct jobtime_line l;
    char text[512];
    bool any = false;

    snprintf(text, sizeof(text), NUMBERS NAMES, "123", "2026-11-21T15:30:00", "N/A", "RUNNING", "2", "1000",
             "120", "3", "alice", "main", "(null)",
             "a-name-of-64-characters-1234567890123456789012345678901234567890");
    ok(jobtime_line(text, &l) && l.job == 123 && l.end_wall_s == 1795275000 && isnan(l.preempted_wall_s) &&
           l.restarts == 2 && !strcmp(l.state, "RUNNING"),
       "the line of a job with a time limit is read");
    is_int(l.uid, 1000, "the line has the job's uid");
    ok(l.array_job == 120 && l.array_task == 3, "the line has the task's array and its number there");
    is_str(l.user, "alice", "the line has the user");
    is_str(l.partition, "main", "the line has the partition");
    is_str(l.account, "", "an account that Slurm does not have is unknown");
    is_str(l.qos, "", "a name that fills its column may be cut, and is unknown");
    ok(l.batch == -1 && l.requeue == -1,
       "whether it may be requeued is unknown where the line does not say so");
    snprintf(text, sizeof(text), NUMBERS NAMES "%-24s%-24s", "123", "N/A", "N/A", "RUNNING", "2", "1000",
             "120", "3", "alice", "main", "physics", "normal", "1", "0");
    ok(jobtime_line(text, &l) && l.batch == 1 && l.requeue == 0,
       "a batch job that must not be requeued is known as such");
    ok(jobtime_line("7 2026-11-21T15:30:30 2026-11-21T15:30:00 RUNNING 0 1 7 N/A", &l) && l.array_job == -1 &&
           l.end_wall_s - l.preempted_wall_s == 30,
       "the line of a job that is being preempted is read");
    ok(jobtime_line("7 N/A N/A PENDING 0 1 7 N/A", &l) && isnan(l.end_wall_s),
       "a job without a time limit has an unknown end");
    ok(jobtime_line("7 2026-11-21T15:30:00Z x FAILED 0 1 7 N/A", &l) && isnan(l.end_wall_s),
       "a time in another form is unknown");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        any |= jobtime_line(bad[i], &l);
    ok(!any, "no malformed line is accepted");
}

/* The step was in the job's run 1. */
static void outcomes(void)
{
    static const struct {
        const char *state;
        uint32_t restarts;
        bool preempted;
        enum job_outcome want;
    } cases[] = {
        { "FAILED", 1, false, JOB_OUTCOME_FAILED },        { "NODE_FAIL", 1, false, JOB_OUTCOME_FAILED },
        { "OUT_OF_MEMORY", 1, false, JOB_OUTCOME_FAILED }, { "CANCELLED", 1, false, JOB_OUTCOME_ENDED },
        { "COMPLETED", 1, false, JOB_OUTCOME_ENDED },      { "TIMEOUT", 1, false, JOB_OUTCOME_ENDED },
        { "PREEMPTED", 1, false, JOB_OUTCOME_ENDED },      { "RUNNING", 1, false, JOB_OUTCOME_UNKNOWN },
        { "COMPLETING", 1, false, JOB_OUTCOME_UNKNOWN },   { "PENDING", 2, false, JOB_OUTCOME_FAILED },
        { "RUNNING", 2, false, JOB_OUTCOME_FAILED },       { "PENDING", 2, true, JOB_OUTCOME_ENDED },
        { "SOMETHING", 1, false, JOB_OUTCOME_UNKNOWN },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct jobtime_line l = { .job = 7, .restarts = cases[i].restarts };

        snprintf(l.state, sizeof(l.state), "%s", cases[i].state);
        ok(jobtime_outcome(&l, 1, cases[i].preempted) == cases[i].want,
           "a job that is %s in run %u%s has outcome %d", cases[i].state, cases[i].restarts,
           cases[i].preempted ? " after a notice" : "", (int)cases[i].want);
    }
}

/* ---- confirmation ---- */

static struct event_base *base;
static char dir[] = "/tmp/jobtime-test.XXXXXX", squeue[64];

/* squeue prints this line of job 123. */
static const char *batch = "1", *requeue = "1";
static void slurm_has(const char *uid, const char *restarts)
{
    FILE *f = fopen(squeue, "w");

    fputs("#!/bin/sh\necho '", f);
    fprintf(f, NUMBERS NAMES "%-24s%-24s", "123", "N/A", "N/A", "RUNNING", restarts, uid, "123", "N/A",
            "alice", "gpu", "physics", "high", batch, requeue);
    fputs("'\n", f);
    fclose(f);
    chmod(squeue, 0700);
}

static void on_confirmed(struct job *j, void *arg)
{
    (void)j;
    ++*(int *)arg;
}

/* A step of user 1000's, in the job's run 1, for which root vouches or not, after squeue was asked once. */
static struct job *asked(struct jobs *jobs, enum job_trust trust, int *confirmed)
{
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct jobtime *t = jobtime_new(base, on_confirmed, confirmed);
    struct job *j = job_new(&(struct job_id){ .uid = 1000, .job = 123, .restarts = 1 }, &policy, now_s());
    struct err err;

    j->trust = trust;
    jobs_add(jobs, j);
    if (jobtime_tick(t, jobs, now_s(), &err) < 0)
        printf("# %s\n", err.text);
    for (int i = 0; i < 60000 && event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK) == 0 && !*confirmed &&
                    !j->unknown_to_slurm;
         i++)
        usleep(1000);
    jobtime_free(t);
    return j;
}

static void confirmation(void)
{
    static const struct {
        const char *uid, *restarts;
        enum job_trust before, after;
        const char *text;
    } cases[] = {
        { "1000", "1", JOB_VOUCHED, JOB_CONFIRMED,
          "a step of root's credential is confirmed by Slurm's record of its job" },
        { "1001", "1", JOB_VOUCHED, JOB_VOUCHED, "a step is not confirmed by another user's job" },
        { "1000", "0", JOB_VOUCHED, JOB_VOUCHED, "a step is not confirmed by another run of its job" },
        { "1000", "1", JOB_UNCONFIRMED, JOB_UNCONFIRMED,
          "a step for which root does not vouch is not confirmed by Slurm" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct jobs jobs = { .n = 0 };
        int confirmed = 0;
        struct job *j;

        slurm_has(cases[i].uid, cases[i].restarts);
        j = asked(&jobs, cases[i].before, &confirmed);
        ok(j->trust == cases[i].after && confirmed == (j->trust == JOB_CONFIRMED), "%s", cases[i].text);
        if (confirmed)
            ok(!strcmp(j->user, "alice") && !strcmp(j->partition, "gpu") && !strcmp(j->account, "physics") &&
                   !strcmp(j->qos, "high"),
               "its user, partition, account and QOS are Slurm's");
        else
            ok(job_unconfirmed(j) && !*j->user, "its user and partition stay unknown");
        jobs_remove(&jobs, j);
        free(jobs.job);
    }
}

/* What Slurm says of the job decides about an exclude, before anybody is asked to confirm it. */
static void requeues(void)
{
    static const struct {
        const char *batch, *requeue, *uid, *why;
    } cases[] = {
        { "1", "1", "1000", NULL },        { "0", "1", "1000", "not a batch job" },
        { "1", "0", "1000", "Requeue=0" }, { "", "", "1000", NULL },
        { "0", "0", "1001", NULL }, /* another user's */
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct jobs jobs = { .n = 0 };
        int confirmed = 0;
        struct job *j;
        struct err err = { "" };

        batch = cases[i].batch;
        requeue = cases[i].requeue;
        slurm_has(cases[i].uid, "1");
        j = asked(&jobs, JOB_CONFIRMED, &confirmed);
        ok(!j->no_requeue == !cases[i].why &&
               (ability_check(j, ACTION_EXCLUDE, 0, &err) < 0) == !!cases[i].why &&
               (!cases[i].why || strstr(err.text, cases[i].why)),
           "a job of user %s with batch flag '%s' and requeue '%s' %s be requeued: %s", cases[i].uid, batch,
           requeue, cases[i].why ? "cannot" : "can", err.text);
        ok(ability_check(j, ACTION_JOB_COMMENT, 0, &err) == 0, "a comment on it is possible either way");
        jobs_remove(&jobs, j);
        free(jobs.job);
    }
}

/* Which jobs Slurm was asked about, since `from` bytes of what squeue was called with: how many, each counted
 * once a question; wanted: whether this one is among them. */
static size_t asked_about(long from, const char *wanted, bool *found)
{
    char path[80], *line = NULL, *rest, *id;
    size_t n = 0, size = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/asked", dir);
    f = fopen(path, "r");
    *found = false;
    if (!f || fseek(f, from, SEEK_SET) < 0)
        return 0;
    while (getline(&line, &size, f) > 0)
        for (rest = line; (id = strsep(&rest, ",\n"));) {
            n += *id != '\0';
            *found |= !strcmp(id, wanted);
        }
    free(line);
    fclose(f);
    return n;
}

/* Nobody's claim can keep Slurm from being asked about the others. */
static void questions(void)
{
    enum { MANY = 1600 };
    struct config_policy policy = { .hang_timeout_s = 30 };
    int confirmed = 0;
    struct jobtime *t = jobtime_new(base, on_confirmed, &confirmed);
    struct jobs jobs = { .n = 0 };
    bool found;
    FILE *f = fopen(squeue, "w");

    fprintf(f, "#!/bin/sh\necho \"$3\" >>%s/asked\n", dir);
    fclose(f);
    chmod(squeue, 0700);
    for (uint32_t i = 0; i < MANY + 2; i++) {
        struct job *j = job_new(
            &(struct job_id){ .uid = 1000, .job = i < 2 ? UINT32_MAX - i : 2000000000 + i, .restarts = 1 },
            &policy, now_s());

        j->trust = i < 2 ? JOB_UNCONFIRMED : JOB_VOUCHED;
        jobs_add(&jobs, j);
        if (i == 5) { /* a second step of the same job */
            j = job_new(&(struct job_id){ .uid = 1000, .job = 2000000000 + i, .step = 1, .restarts = 1 },
                        &policy, now_s());
            j->trust = JOB_VOUCHED;
            jobs_add(&jobs, j);
        }
    }
    for (int i = 0; i < 2; i++) {
        struct err err;

        is_int(jobtime_tick(t, &jobs, now_s() + 100 * (i + 1), &err), 0, "squeue is asked");
        while (event_base_loop(base, EVLOOP_ONCE) == 0)
            ;
    }
    ok(asked_about(0, "4294967295", &found) >= MANY && !found,
       "not about jobs of which only an ordinary user says that they are");
    asked_about(0, "2000000002", &found);
    ok(found, "about the first job");
    asked_about(0, "2000001601", &found);
    ok(found, "and about the last, where one list has no room for all");
    ok(asked_about(0, "", &found) < 2 * MANY, "a job of two steps is in a list once, and a list is bounded");
    while (jobs.n)
        jobs_remove(&jobs, jobs.job[0]);
    free(jobs.job);
    jobtime_free(t);
}

/* A squeue that is there and cannot be run. */
static void unable(void)
{
    struct config_policy policy = { .hang_timeout_s = 30 };
    struct jobtime *t;
    struct job *j = job_new(&(struct job_id){ .uid = 1000, .job = 123 }, &policy, now_s());
    struct jobs jobs = { .n = 0 };
    struct err err = { "" };
    FILE *f = fopen(squeue, "w");

    fputs("#!/nonexistent/interpreter\n", f);
    fclose(f);
    chmod(squeue, 0700);
    t = jobtime_new(base, on_confirmed, NULL);
    j->trust = JOB_VOUCHED;
    jobs_add(&jobs, j);
    ok(jobtime_tick(t, &jobs, now_s(), &err) < 0 && strstr(err.text, squeue),
       "a squeue that cannot be run is reported\n%s", err.text);
    is_int(jobtime_tick(t, &jobs, now_s() + 3600, &err), 0, "a squeue that cannot be run is reported once");
    jobtime_free(t);
    jobs_remove(&jobs, j);
    free(jobs.job);
}

int main(void)
{
    char path[4096];

    if (!mkdtemp(dir))
        return skip_all("cannot create a directory");
    snprintf(squeue, sizeof(squeue), "%s/squeue", dir);
    snprintf(path, sizeof(path), "%s:%s", dir, getenv("PATH"));
    setenv("PATH", path, 1);
    base = event_base_new();
    setenv("TZ", "UTC", 1);
    tzset();
    lines();
    outcomes();
    confirmation();
    requeues();
    questions();
    unable();
    event_base_free(base);
    unlink(squeue);
    snprintf(path, sizeof(path), "%s/asked", dir);
    unlink(path);
    rmdir(dir);
    return done_testing();
}
