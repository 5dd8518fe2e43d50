/* daemon/jobtime: what squeue says. */
#include <stdlib.h>
#include <time.h>

#include "daemon/jobtime.h"
#include "tests/tap.h"

int main(void)
{
    static const char *const bad[] = { "", "slurm_load_jobs error: Invalid job id", "0 N/A N/A", "12",
                                       "12 2026-11-21T15:30:00" };
    double end_s, preempted_s;
    uint32_t job;
    bool any = false;

    setenv("TZ", "UTC", 1);
    tzset();
    ok(jobtime_line("123                     2026-11-21T15:30:00     N/A                     ", &job, &end_s,
                    &preempted_s) &&
           job == 123 && end_s == 1795275000 && isnan(preempted_s),
       "a job with a limit");
    ok(jobtime_line("7 2026-11-21T15:30:30 2026-11-21T15:30:00", &job, &end_s, &preempted_s) &&
           end_s - preempted_s == 30,
       "one that is being preempted");
    ok(jobtime_line("7 N/A N/A", &job, &end_s, &preempted_s) && isnan(end_s), "one without a limit");
    ok(jobtime_line("7 2026-11-21T15:30:00Z x", &job, &end_s, &preempted_s) && isnan(end_s),
       "a time in another form is none");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        any |= jobtime_line(bad[i], &job, &end_s, &preempted_s);
    ok(!any, "what is no such line");
    return done_testing();
}
