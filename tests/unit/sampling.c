/* Which calls agents are asked for: none, all, or some stretches, by what the job does and how many come. */
#include "job/sampling.h"

#include "job/jobs.h"
#include "ring/ring.h"
#include "tests/tap.h"
#include "view/view.h"

#define RANKS 4u

static struct job *job_make(void)
{
    static const struct config_policy policy = { .min_slowdown_ratio = 1.02, .hang_timeout_s = 30 };
    struct job *j = job_new(&(struct job_id){ .job = 7 }, &policy, 0);

    for (uint32_t r = 0; r < RANKS; r++)
        view_rank_add(j->view, r, 0, "n0", NULL);
    return j;
}

static void sample(struct job *j, uint64_t comm)
{
    view_item(j->view, 1,
              &(struct telemetry_item){
                  .kind = TELEMETRY_SAMPLE,
                  .sample = { .op = RING_OP_BARRIER, .comm = comm, .n = 1, .enter_ns = 1000 } });
}

/* With a share of 1000 calls a second. */
static bool tick(struct job *j, double now_s)
{
    return sampling_tick(&j->sampling, j->view, now_s, 1000, false);
}

static void calls(struct job *j, unsigned n)
{
    while (n--)
        sampling_take(&j->sampling);
}

int main(void)
{
    struct job *j = job_make();
    double period_s;
    bool asked;

    sample(j, 5);
    ok(!tick(j, 1) && !j->sampling.open_s,
       "of a job whose ranks meet in one communicator no calls are asked for");
    sample(j, 6);
    ok(tick(j, 2) && j->sampling.open_s >= j->sampling.period_s,
       "where they meet in a second one, all calls are");
    calls(j, 4000);
    ok(!tick(j, 3), "a rate counts after some seconds");
    ok(!tick(j, 6) && j->sampling.open_s >= j->sampling.period_s, "all are while they are few enough");
    calls(j, 40000);
    asked = tick(j, 10);
    ok(asked && j->sampling.open_s / j->sampling.period_s <= 0.1,
       "of ten times as many as are wanted, a tenth\n%.2f s of %.0f s", j->sampling.open_s,
       j->sampling.period_s);
    period_s = j->sampling.period_s;
    ok(!tick(j, 11), "... for two periods at least");
    calls(j, (unsigned)(2000 * period_s));
    asked = tick(j, 10 + 2 * period_s);
    ok(asked && j->sampling.open_s > 1, "the next stretch is longer as long as no step is found\n%.0f s",
       j->sampling.open_s);
    period_s = j->sampling.period_s;
    calls(j, 100);
    ok(tick(j, 100 + 2 * period_s) && j->sampling.open_s >= j->sampling.period_s,
       "all are again when there are fewer");
    ok(!sampling_tick(&j->sampling, j->view, 1000, 1000, true) && !j->sampling.calls,
       "what comes while all are recorded does not count");
    job_free(j);
    return done_testing();
}
