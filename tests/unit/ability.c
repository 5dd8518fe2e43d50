/* job/ability: what can be done to a step, by what Slurm, the agents and the ranks' processes say of it. */
#include "job/ability.h"

#include <signal.h>

#include "job/cadence.h"
#include "job/jobs.h"
#include "tests/tap.h"
#include "view/view.h"

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

static void catches(uint32_t rank, uint64_t signals)
{
    view_item(job->view, 1,
              &(struct telemetry_item){ .kind = TELEMETRY_SIGNALS,
                                        .signals = { .rank = rank, .endured = signals } });
}

#define BIT(signal) (1ull << ((signal)-1))

/* "": it can. */
static const char *why_not(enum action_kind kind, int signal)
{
    static struct err err;

    err.text[0] = '\0';
    ok((ability_check(job, kind, signal, &err) < 0) == !!*err.text, "what is refused has a reason");
    return err.text;
}

static void signals(void)
{
    static const int sent_freely[] = { SIGTERM, SIGKILL, SIGINT,  SIGQUIT,  SIGSTOP,
                                       SIGTSTP, SIGCONT, SIGCHLD, SIGWINCH, SIGURG };

    begin();
    is_str(why_not(ACTION_SIGNAL, SIGUSR1), "", "a signal is sent while nothing is known of the processes");
    for (uint32_t r = 0; r < RANKS; r++)
        catches(r, BIT(SIGUSR1) | BIT(64));
    is_str(why_not(ACTION_SIGNAL, SIGUSR1), "", "a signal is sent that all ranks' programs handle");
    is_str(why_not(ACTION_SIGNAL, 64), "", "so is the one with the highest number");
    catches(3, BIT(SIGUSR2));
    is_str(
        why_not(ACTION_SIGNAL, SIGUSR1),
        "job 7.0: rank 3's program has no handler for SIGUSR1: it would be killed; sgctl action --force sends it anyway",
        "a signal that would kill a rank is not sent");
    ok(strstr(why_not(ACTION_SIGNAL, SIGHUP), "rank 0's program has no handler for SIGHUP"),
       "the first such rank is named");
    ok(strstr(why_not(ACTION_SIGNAL, 40), "no handler for signal 40"),
       "a signal without a name is named by its number");
    is_str(why_not(ACTION_SIGNAL, 0), "", "one that is forced is sent");
    for (size_t i = 0; i < ARRAY_SIZE(sent_freely); i++)
        is_str(why_not(ACTION_SIGNAL, sent_freely[i]), "", "signal %s is sent whatever handlers there are",
               action_signal_name(sent_freely[i]));
    view_rank_end(job->view, 3, 0, false);
    is_str(why_not(ACTION_SIGNAL, SIGUSR1), "", "a rank that has ended counts no more");
    view_rank_add(job->view, 3, 0, "n1", "");
    is_str(why_not(ACTION_SIGNAL, SIGUSR1), "", "a process in its place is not known yet");
    view_rank_add(job->view, 0, 1, "n1", "");
    is_str(why_not(ACTION_SIGNAL, SIGHUP), "", "nor is the next program of the step");
    job_free(job);
}

static void checkpoints(void)
{
    begin();
    ok(strstr(why_not(ACTION_CHECKPOINT, 0),
              "job 7.0 cannot be asked for a checkpoint: the program does not ask"),
       "a program that does not ask cannot be told of a checkpoint");
    snprintf(policy.checkpoint_signal, sizeof(policy.checkpoint_signal), "USR1");
    job_policy_set(job, &policy);
    is_str(why_not(ACTION_CHECKPOINT, 0), "", "with CheckpointSignal it can, as far as is known");
    catches(2, 0);
    is_str(
        why_not(ACTION_CHECKPOINT, 0),
        "job 7.0 cannot be asked for a checkpoint: CheckpointSignal=USR1: rank 2's program has no handler for SIGUSR1: it would be killed",
        "not by a signal that would kill a rank");
    snprintf(policy.checkpoint_file, sizeof(policy.checkpoint_file), "/tmp/now");
    job_policy_set(job, &policy);
    is_str(why_not(ACTION_CHECKPOINT, 0), "", "by CheckpointFile it can");
    job_free(job);
}

static void lives(void)
{
    begin();
    is_str(why_not(ACTION_REQUEUE, 0), "", "a requeue is tried where Slurm has said nothing against it");
    job->no_requeue = "it is not a batch job";
    is_str(why_not(ACTION_REQUEUE, 0), "job 7.0 cannot be requeued: it is not a batch job",
           "a job that Slurm will not requeue is not requeued");
    is_str(why_not(ACTION_EXCLUDE, 0), "job 7.0 cannot be requeued: it is not a batch job",
           "nor is it requeued without a node");
    is_str(why_not(ACTION_DRAIN, 0), "", "its node can be drained");
    job->trust = JOB_UNCONFIRMED;
    ok(strstr(why_not(ACTION_JOB_COMMENT, 0), "job 7.0 is unconfirmed, so that nothing acts on it: "),
       "nothing acts on an unconfirmed step");
    job->state = JOB_FINISHED;
    is_str(why_not(ACTION_JOB_COMMENT, 0), "job 7.0 has ended", "nor on one that has ended");
    job_free(job);
}

int main(void)
{
    signals();
    checkpoints();
    lives();
    return done_testing();
}
