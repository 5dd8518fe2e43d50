/* view_sentence.c - what a view shows in one sentence: whether its job could be judged, the costliest
 * verdict, or that it is healthy. */
#include <math.h>
#include <stdio.h>

#include "common/units.h"
#include "common/xalloc.h"
#include "view/comms.h"
#include "view/marks.h"
#include "view/view_private.h"

#define MESSAGES_SHOWN 0.005 /* share of the time: less is shown as 0 % */

static const char *format_s(char buf[32], double s)
{
    return units_format_s(buf, 32, s);
}

enum view_judged view_judged_get(const struct view *v, double now_s)
{
    double mds = 1 + diagnosis_limit(v->diagnosis);

    if (presence_stands_still(v->presence) || isnan(steps_mean_s(v->steps, now_s)))
        return VIEW_NOTHING;
    if (view_is_unseen(v))
        return VIEW_NOT_SHOWN;
    if (isnan(mds))
        return VIEW_EARLY;
    if (mds > VIEW_MDS_MAX)
        return VIEW_TOO_VARIOUS;
    return presence_is_partial(v->presence, v->now_s) ? VIEW_PARTLY : VIEW_JUDGED;
}

const char *view_judged_name(enum view_judged j)
{
    static const char *const names[] = { [VIEW_JUDGED] = "yes",
                                         [VIEW_EARLY] = "early",
                                         [VIEW_PARTLY] = "partly",
                                         [VIEW_NOT_SHOWN] = "not shown",
                                         [VIEW_TOO_VARIOUS] = "too various",
                                         [VIEW_NOTHING] = "no" };

    return j < ARRAY_SIZE(names) ? names[j] : "no";
}

/* "2 of 3 ranks are recorded (not rank 2)", "node4 is silent (no report for 8.1 s)"; "": all are seen. */
static void unseen_text(const struct view *v, double now_s, char *buf, size_t size)
{
    struct view_silence silence = presence_silence(v->presence);
    uint32_t first, missing = presence_missing(v->presence, v->now_s, &first);
    char age[32];
    size_t at = 0;

    buf[0] = '\0';
    if (missing)
        at = view_append(buf, size, 0, "%u of %u ranks are recorded (not rank %u%s)",
                         communicators_main_size(v->communicators) - missing,
                         communicators_main_size(v->communicators), first, missing > 1 ? ", ..." : "");
    if (silence.ranks)
        view_append(buf, size, at, "%s%s%s silent (no report for %s)", missing ? ", and " : "",
                    roster_place_name(v->roster, silence.first),
                    silence.nodes > 1 ? " and others are" : " is",
                    format_s(age, now_s - presence_silent_since_s(v->presence, silence.first)));
}

static size_t judged_text(const struct view *v, double now_s, const struct view_figures *f, char *buf,
                          size_t size)
{
    char run[32], unseen_ones[160];

    switch (view_judged_get(v, now_s)) {
    case VIEW_NOT_SHOWN:
        return view_append(
            buf, size, 0,
            "Not judged: what is recorded of the collectives does not show who waits for whom.");
    case VIEW_EARLY:
        if (presence_finished(v->presence))
            return view_append(buf, size, 0, "Finished after %s: too short to judge.",
                               format_s(run, presence_run_s(v->presence, now_s)));
        return view_append(buf, size, 0, "Too early to judge: learning how much the work of %u ranks varies.",
                           f->ranks);
    case VIEW_TOO_VARIOUS:
        return view_append(
            buf, size, 0,
            "Not judged: the work of %u ranks varies so much that one twice as slow would not be seen.",
            roster_count(v->roster)->most);
    case VIEW_PARTLY:
        unseen_text(v, now_s, unseen_ones, sizeof(unseen_ones));
        return view_append(buf, size, 0,
                           "Partly judged: %s; of the others a rank %.1f %% slower or more would be seen.",
                           unseen_ones, 100 * (f->mds - 1));
    case VIEW_JUDGED:
        return view_append(buf, size, 0, "Healthy: a rank %.1f %% slower or more would be seen.",
                           100 * (f->mds - 1));
    case VIEW_NOTHING:
        break;
    }
    return 0;
}

/* No rank has called anything that was seen. */
static void sentence_unseen(const struct view *v, char *buf, size_t size)
{
    const char *begin = presence_finished(v->presence)
                            ? v->unseen_quiet ? "Ended without a call of MPI, NCCL or Gloo" : "Ended unseen"
                        : v->unseen_quiet ? "No rank has called MPI, NCCL or Gloo yet"
                                          : "Not seen";

    if (*v->unseen)
        snprintf(buf, size, "%s: %s.", begin, v->unseen);
    else
        snprintf(buf, size, "No call of MPI, NCCL or Gloo was seen%s.",
                 presence_finished(v->presence) ? " before the end" : " yet");
}

/* Which steps a step's time is of. */
static const char *of_window(const struct view *v, double now_s, char buf[32])
{
    double window_s = steps_window_s(v->steps, now_s);

    if (steps_changed_s(v->steps) > presence_began_s(v->presence) && window_s < STEPS_MINUTE_S)
        snprintf(buf, 32, "of the last %.0f s", fmax(1, window_s));
    else
        snprintf(buf, 32, "of the last minute");
    return buf;
}

char *view_sentence(const struct view *v, double now_s, char *buf, size_t size)
{
    const struct view_verdict *now;
    enum view_regime regime = view_regime_get(v);
    size_t at, n = view_verdicts_get(v, &now);
    bool hangs = view_ended_still(v);
    const struct view_shortfall *shortfall;
    struct view_non_finite bad;
    struct view_figures f;
    char step[32], window[32];
    bool messages;

    view_figures_get(v, now_s, &f);
    messages = f.p2p_ratio >= MESSAGES_SHOWN;
    format_s(step, f.step_p50_s);
    if (step_marks_non_finite(v->marks, &bad)) { /* whatever the rest costs, it computes nothing */
        snprintf(buf, size, "%s.", bad.text);
        return buf;
    }
    if (view_run_sentence(v)) {
        bool hung = hangs && !(n && now[0].finding.class == FINDING_LOST);

        snprintf(buf, size, "%s%s", hung ? "Ended while it hung: " : "", view_run_sentence(v));
        return buf;
    }
    for (size_t i = 0; i < n; i++)
        if (!now[i].minor) {
            bool past = hangs && now[i].finding.class == FINDING_HANG;

            snprintf(buf, size, "%s%s", past ? "Ended while it hung: " : "", now[i].text);
            return buf;
        }
    if (regime == VIEW_SUSPENDED && !presence_finished(v->presence)) {
        snprintf(buf, size, "Suspended by Slurm for %s: this time does not count.",
                 format_s(step, presence_suspended_s(v->presence, now_s)));
        return buf;
    }
    if (regime == VIEW_STALLED) {
        snprintf(buf, size, "Nothing moves: %s.", view_stalled_text(v));
        return buf;
    }
    if (!roster_limit(v->roster)) {
        sentence_unseen(v, buf, size);
        return buf;
    }
    if (isnan(f.step_mean_s) && presence_finished(v->presence)) {
        snprintf(buf, size, "Ended before a repeating step was known.");
        return buf;
    }
    if (isnan(f.step_mean_s)) {
        snprintf(buf, size, "%u ranks run, but no repeating step is known yet.", f.ranks);
        return buf;
    }
    if (shortfalls_get(v->shortfalls, &shortfall)) {
        snprintf(buf, size, "%s.", shortfall->text);
        return buf;
    }
    at = judged_text(v, now_s, &f, buf, size);
    at = view_append(buf, size, at, " A step takes %s (median %s)", step, of_window(v, now_s, window));
    if (!isnan(f.synchronisation_ratio))
        at = view_append(buf, size, at, "; ranks wait for one another %s%.0f %% of the time",
                         messages ? "in collectives " : "", 100 * f.synchronisation_ratio);
    if (messages)
        at = view_append(buf, size, at, "%s messages hold them %.0f %%%s",
                         isnan(f.synchronisation_ratio) ? ";" : " and", 100 * f.p2p_ratio,
                         isnan(f.synchronisation_ratio) ? " of the time" : "");
    view_append(buf, size, at, ".");
    return buf;
}
