/* slurm/jobtime: the end of a job in squeue's lines. */
#include <stdlib.h>
#include <time.h>

#include "slurm/jobtime.h"
#include "tests/tap.h"

static void lines(void)
{
    static const char *const bad[] = { "", "slurm_load_jobs error: Invalid job id", "0 N/A N/A RUNNING 0",
                                       "12", "12 2026-11-21T15:30:00 N/A RUNNING" };
    struct jobtime_line l;
    bool any = false;

    ok(jobtime_line("123                     2026-11-21T15:30:00     N/A                     "
                    "RUNNING                 2                       ",
                    &l) &&
           l.job == 123 && l.end_wall_s == 1795275000 && isnan(l.preempted_wall_s) && l.restarts == 2 &&
           !strcmp(l.state, "RUNNING"),
       "the line of a job with a time limit is read");
    ok(jobtime_line("7 2026-11-21T15:30:30 2026-11-21T15:30:00 RUNNING 0", &l) &&
           l.end_wall_s - l.preempted_wall_s == 30,
       "the line of a job that is being preempted is read");
    ok(jobtime_line("7 N/A N/A PENDING 0", &l) && isnan(l.end_wall_s), "a job without a time limit has an unknown end");
    ok(jobtime_line("7 2026-11-21T15:30:00Z x FAILED 0", &l) && isnan(l.end_wall_s),
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
        ok(jobtime_outcome(&l, 1, cases[i].preempted) == cases[i].want, "a job that is %s in run %u%s has outcome %d", cases[i].state,
           cases[i].restarts, cases[i].preempted ? " after a notice" : "", (int)cases[i].want);
    }
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
    lines();
    outcomes();
    return done_testing();
}
