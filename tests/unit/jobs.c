/* Which step is meant by what somebody typed. */
#include "common/config_policy.h"
#include "job/jobs.h"
#include "tests/tap.h"

static const struct config_policy policy = { .min_slowdown_ratio = 1.02, .hang_timeout_s = 30 };

static struct job *add(struct jobs *t, uint32_t job, uint32_t step, bool het)
{
    struct job *j = job_new(&(struct job_id){ .uid = 7, .job = job, .step = step }, &policy, step);

    j->het = het;
    jobs_add(t, j);
    return j;
}

int main(void)
{
    struct jobs t = { 0 };
    struct job *old = add(&t, 10, 0, false), *newest = add(&t, 10, 1, false), *het = add(&t, 20, 0, true),
               *task = add(&t, 31, 0, false);
    const struct {
        const char *text;
        const struct job *want;
    } cases[] = {
        { "10", newest },  { "10.0", old },    { "10.1", newest }, { "10.2", NULL }, { "10+0", NULL },
        { "10+1", NULL },  { "10+1.0", NULL }, { "20", het },      { "20+0", het },  { "20+1", het },
        { "20+1.0", het }, { "20+1.1", NULL }, { "31", task },     { "30_4", task }, { "30_4+1", NULL },
        { "30", task },    { "99", NULL },
    };
    struct err err;

    task->array_job = 30;
    task->array_task = 4;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(jobs_lookup(&t, cases[i].text, UINT32_MAX, &err) == cases[i].want, "jobs_lookup: %s is %s",
           cases[i].text, cases[i].want ? cases[i].want->text_id : "no step");
    ok(!jobs_lookup(&t, "20+1", 8, &err), "jobs_lookup: a component of another user's job is no step");
    while (t.n)
        jobs_remove(&t, t.job[0]);
    free(t.job);
    return done_testing();
}
