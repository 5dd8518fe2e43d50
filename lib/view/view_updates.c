/* view_updates.c - what is said of a job whose workers read from servers and write to them without waiting
 * for one another (calls/updates.h): their rates add up, and instead of steps there is staleness. */
#include <math.h>
#include <stdio.h>

#include "calls/updates.h"
#include "common/text.h"
#include "common/units.h"
#include "model/interval.h"
#include "model/staleness.h"
#include "view/updates.h"
#include "view/view_private.h"

bool view_updates_get(const struct view *v, struct view_updates *f)
{
    struct updates *u = call_steps_updates(v->calls);

    *f = (struct view_updates){ 0 };
    if (u)
        updates_get(u, &f->u);
    f->past = !f->u.found || presence_finished(v->presence);
    for (size_t i = 0; i < f->u.n; i++)
        f->compared = f->compared || (!f->u.rank[i].serves && !isnan(f->u.rank[i].times));
    f->limit = staleness_limit(f->u.stale_mean, 0);
    f->limit_p95 = staleness_limit(f->u.stale_p95, 0);
    f->limit_fresh = staleness_limit(0, 0);
    return f->u.n > 0;
}

bool view_updates_judge(const struct view *v, double now_s, struct view_updates *f)
{
    return view_updates_get(v, f) &&
           (f->u.found || (presence_finished(v->presence) && isnan(steps_mean_s(v->steps, now_s))));
}

/* ---- in words ---- */

/* "rank 0 serves 97 % (95 to 99 %) of the time while workers wait in its queue: more workers do not add
 * updates" */
static bool append_limit(const struct view_updates *f, char *buf, size_t size)
{
    const struct updates_rank *limit = NULL;

    for (const struct updates_rank *k = f->u.rank; k < f->u.rank + f->u.n; k++)
        if (k->limit && (!limit || k->busy_ratio > limit->busy_ratio))
            limit = k;
    if (!limit)
        return false;
    text_append(buf, size, "rank %u %s %.0f %%", limit->rank, f->past ? "served" : "serves",
                100 * limit->busy_ratio);
    if (interval_known(limit->busy) && limit->busy.high - limit->busy.low >= 0.01)
        text_append(buf, size, " (%.0f to %.0f %%)", 100 * limit->busy.low, 100 * limit->busy.high);
    text_append(buf, size, " of the time while workers %s in its queue: more workers %s not add updates",
                f->past ? "waited" : "wait", f->past ? "would" : "do");
    return true;
}

static void append_staleness(const struct view_updates *f, char *buf, size_t size)
{
    const struct updates_figures *u = &f->u;

    text_append(
        buf, size,
        "between a worker's read and its write %.1f updates of others %s applied on average (in 95 %% of "
        "the cases %.0f or fewer, at most %u)",
        u->stale_mean, f->past ? "were" : "are", u->stale_p95, u->stale_max);
}

static void append_learning(const struct view_updates *f, char *buf, size_t size)
{
    text_append(
        buf, size,
        "; for gradients of a quadratic loss a learning rate times curvature below %.3g is stable with "
        "that delay (%.3g with that of the 95 %%, %g with none)",
        f->limit, f->limit_p95, f->limit_fresh);
}

char *view_updates_text(const struct view_updates *f, char *buf, size_t size)
{
    bool limit;

    buf[0] = '\0';
    limit = append_limit(f, buf, size);
    if (isnan(f->u.stale_mean))
        return buf;
    text_append(buf, size, limit ? "; " : "");
    append_staleness(f, buf, size);
    append_learning(f, buf, size);
    return buf;
}

/* What there is to tell of the limit leaves no room for the learning rate: that is in view_updates_text(). */
static void append_most(const struct view_updates *f, char *buf, size_t size)
{
    char limit[200] = "";

    if (append_limit(f, limit, sizeof(limit)))
        text_append(buf, size, "; %s", limit);
    if (isnan(f->u.stale_mean))
        return;
    text_append(buf, size, "; ");
    append_staleness(f, buf, size);
    if (!*limit)
        append_learning(f, buf, size);
}

void view_updates_sentence(const struct view_updates *f, char *buf, size_t size)
{
    const struct updates_figures *u = &f->u;

    buf[0] = '\0';
    if (f->compared || !f->past)
        text_append(buf, size, f->compared ? "Healthy: " : "Too early to judge: ");
    text_append(buf, size,
                "%u worker%s read parameters from %u server%s and %s updates without waiting for one another",
                u->workers, text_plural(u->workers), u->servers, text_plural(u->servers),
                f->past ? "wrote" : "write");
    if (!isnan(u->per_s))
        text_append(buf, size, ", %s iterations/s in all", text_number(u->per_s).s);
    append_most(f, buf, size);
    if (u->silent && !f->past)
        text_append(buf, size, "; %u of the workers %s written nothing for long", u->silent,
                    u->silent == 1 ? "has" : "have");
    text_append(buf, size, ".");
}

/* "rank 5 on node5 works 2.00 times as long an iteration as the other workers, which do not wait for it" */
void view_updates_append(const struct view *v, const struct finding *f, bool past, char *buf, size_t size)
{
    const char *node = f->place < roster_limit(v->roster)
                           ? roster_place_name(v->roster, roster_at(v->roster, f->place)->node)
                           : "";
    char times[16];

    units_format_factor(times, sizeof(times), 1 + f->excess);
    text_append(buf, size, "rank %u%s%s ", f->place, *node ? " on " : "", node);
    if (f->duty == DUTY_WORKER)
        text_append(buf, size,
                    "%s %s times as long an iteration as the other workers, which %s not wait for it",
                    past ? "worked" : "works", times, past ? "did" : "do");
    else
        text_append(buf, size, "%s %s times as long for an update as %s, and all workers %s for it",
                    past ? "took" : "takes", times, f->duty == DUTY_SERVER ? "the other servers" : "before",
                    past ? "waited" : "wait");
}
