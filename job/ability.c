#include "job/ability.h"

#include "job/cadence.h"
#include "job/job.h"

int ability_check(const struct job *j, enum action_kind kind, struct err *err)
{
    if (job_over(j))
        return err_set(err, "job %s has ended", j->text_id);
    if (job_unconfirmed(j))
        return err_set(err, "job %s is unconfirmed, so that nothing acts on it: %s", j->text_id, job_unconfirmed(j));
    if (action_table[kind].ends_run && j->no_requeue)
        return err_set(err, "job %s cannot be requeued: %s", j->text_id, j->no_requeue);
    if (kind == ACTION_CHECKPOINT && cadence_can(j, err) < 0)
        return err_prefix(err, "job %s cannot be asked for a checkpoint", j->text_id);
    return 0;
}
