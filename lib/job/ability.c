#include "job/ability.h"

#include "job/cadence.h"
#include "job/job.h"

int ability_check(const struct job *j, enum action_kind kind, int signal, struct err *err)
{
    struct err why;

    if (job_over(j))
        return err_set(err, "job %s has ended", j->text_id);
    if (job_unconfirmed(j))
        return err_set(err, "job %s is unconfirmed, so that nothing acts on it: %s", j->text_id,
                       job_unconfirmed(j));
    if (action_table[kind].ends_run && j->no_requeue)
        return err_set(err, "job %s cannot be requeued: %s", j->text_id, j->no_requeue);
    if (kind == ACTION_CHECKPOINT && cadence_can(j, err) < 0)
        return err_prefix(err, "job %s cannot be asked for a checkpoint", j->text_id);
    if (kind == ACTION_SIGNAL && signal && job_takes_signal(j, signal, &why) < 0)
        return err_set(err, "job %s: %.200s; sgctl action --force sends it anyway", j->text_id, why.text);
    return 0;
}
