/* job/ability: what can be done to a step, by what Slurm, the agents and the ranks' processes say of it. */
#include "job/ability.h"

#include "job/cadence.h"
#include "job/jobs.h"
#include "tests/tap.h"

#define RANKS 4u

static struct job *job;
static struct config_policy policy;

static void begin(void)
{
    static const struct job_id id = { .uid = 1, .job = 7 };

    policy = (struct config_policy){ .hang_timeout_s = 30 };
    job = job_new(&id, &policy, 0);
    job->trust = JOB_CONFIRMED;
    snprintf(job->text_id, sizeof(job->text_id), "7.0");
    for (uint32_t r = 0; r < RANKS; r++)
        view_rank_add(job->view, r, 0, "n1", "");
}

/* "": it can. */
static const char *why_not(enum action_kind kind)
{
    static struct err err;

    err.text[0] = '\0';
    ok((ability_check(job, kind, &err) < 0) == !!*err.text, "what is refused has a reason");
    return err.text;
}

static void checkpoints(void)
{
    begin();
    ok(strstr(why_not(ACTION_CHECKPOINT), "job 7.0 cannot be asked for a checkpoint: the program does not ask"),
       "a program that does not ask cannot be told of a checkpoint");
    snprintf(policy.checkpoint_signal, sizeof(policy.checkpoint_signal), "USR1");
    job_policy_set(job, &policy);
    is_str(why_not(ACTION_CHECKPOINT), "", "with CheckpointSignal it can, as far as is known");
    job_free(job);
}

static void lives(void)
{
    begin();
    is_str(why_not(ACTION_REQUEUE), "", "a requeue is tried where Slurm has said nothing against it");
    job->no_requeue = "it is not a batch job";
    is_str(why_not(ACTION_REQUEUE), "job 7.0 cannot be requeued: it is not a batch job", "a job that Slurm will not requeue is not requeued");
    is_str(why_not(ACTION_EXCLUDE), "job 7.0 cannot be requeued: it is not a batch job", "nor is it requeued without a node");
    is_str(why_not(ACTION_DRAIN), "", "its node can be drained");
    job->trust = JOB_UNCONFIRMED;
    ok(strstr(why_not(ACTION_JOB_COMMENT), "job 7.0 is unconfirmed, so that nothing acts on it: "), "nothing acts on an unconfirmed step");
    job->state = JOB_FINISHED;
    is_str(why_not(ACTION_JOB_COMMENT), "job 7.0 has ended", "nor on one that has ended");
    job_free(job);
}

int main(void)
{
    checkpoints();
    lives();
    return done_testing();
}
