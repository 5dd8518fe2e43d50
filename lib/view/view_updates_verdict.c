/* view_updates_verdict.c - the verdict that a worker nobody waits for, or a server, is slow
 * (calls/updates.h).
 */
#include <math.h>

#include "calls/updates.h"
#include "common/text.h"
#include "view/view_private.h"

void view_updates_describe(const struct view *v, double now_s, const struct updates_rank *k, uint32_t id,
                           const struct view_verdict *before, struct view_verdict *d)
{
    double kept_s = k->became_slow ? k->since_s : k->turns * k->turn_s;
    uint64_t since = k->became_slow ? k->since_update : k->updates > k->turns ? k->updates - k->turns : 0;

    *d = (struct view_verdict){
        .finding = { .id = id,
                     .with = id,
                     .class = FINDING_STRAGGLER,
                     .scope = SCOPE_RANK,
                     .duty = k->became_slow ? DUTY_SLOWED_SERVER
                             : k->serves    ? DUTY_SERVER
                                            : DUTY_WORKER,
                     .place = k->rank,
                     .other = WORK_PLACE_NONE,
                     .standing = true,
                     .onset_step = since + 1,
                     .named_step = k->updates + 1,
                     .onset_seq = -1,
                     .named_seq = -1,
                     .slowdown = k->slowdown,
                     .alone = NAN,
                     .cost = INTERVAL_UNKNOWN,
                     .excess = k->times - 1,
                     .last_ratio = NAN,
                     .rate = NAN,
                     .z = NAN },
        .since_step = -1,
        .found_step = -1,
        .since_s = fmax(isnan(v->watched_s) ? -INFINITY : v->watched_s, now_s - kept_s),
        .found_s = now_s,
        .minor = view_is_minor(k->slowdown),
        .times = 1,
    };
    if (before) {
        d->since_s = before->since_s;
        d->found_s = before->found_s;
        d->finding.onset_step = before->finding.onset_step;
        d->finding.named_step = before->finding.named_step;
    }
    d->finding.onset_s = d->since_s;
    d->finding.saved_s = (now_s - d->since_s) * (1 - 1 / k->slowdown);
    view_finding_add_rank(d, k->rank);
    view_finding_text(v, &d->finding, false, d->text, sizeof(d->text));
    text_append(d->text, sizeof(d->text),
                k->serves ? "; this costs all of them: %s" : "; it costs its own share: %s",
                text_times(k->slowdown).s);
    view_cause(v, d, d->cause, sizeof(d->cause));
}
