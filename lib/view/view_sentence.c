/* view_sentence.c - what a view shows in one sentence: whether its job could be judged, the costliest
 * verdict, or that it is healthy. */
#include <math.h>
#include <stdio.h>

#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "view/comms.h"
#include "view/marks.h"
#include "view/updates.h"
#include "view/view_private.h"

#define MESSAGES_SHOWN 0.005 /* share of the time: less is shown as 0 % */
#define ABOUT_ALIKE    1.25  /* limits less apart are one */
#define LATE_SHOWN     0.01  /* the same: waiting for one rank alone that is less is none to speak of */
#define HELD_UP        0.1   /* chosen: more of a run than this went by waiting for one rank alone */

enum view_judged view_judged_get(const struct view *v, double now_s)
{
    double mds = 1 + diagnosis_limit(v->diagnosis);
    struct view_updates updates;

    if (presence_stands_still(v->presence))
        return VIEW_NOTHING;
    if (view_updates_judge(v, now_s, &updates))
        return updates.compared ? VIEW_JUDGED : VIEW_EARLY;
    if (isnan(steps_mean_s(v->steps, now_s)))
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

    buf[0] = '\0';
    if (missing)
        text_append(buf, size, "%u of %u ranks %s recorded (not rank %u%s)",
                    communicators_main_size(v->communicators) - missing,
                    communicators_main_size(v->communicators),
                    communicators_main_size(v->communicators) - missing == 1 ? "is" : "are", first,
                    missing > 1 ? ", ..." : "");
    if (silence.ranks)
        text_append(buf, size, "%s%s%s silent (no report for %s)", missing ? ", and " : "",
                    roster_place_name(v->roster, silence.first),
                    silence.nodes > 1 ? " and others are" : " is",
                    text_s(now_s - presence_silent_since_s(v->presence, silence.first)).s);
}

/* Which steps a step's time is of. */
static const char *of_window(const struct view *v, double now_s, char buf[32])
{
    double window_s = steps_window_s(v->steps, now_s);

    if (steps_count(v->steps)->changed_s > presence_began_s(v->presence) && window_s < STEPS_MINUTE_S)
        snprintf(buf, 32, "of the last %.0f s", fmax(1, window_s));
    else
        snprintf(buf, 32, "of the last minute");
    return buf;
}

/* "; of the difference 450 ms is work, 20.0 ms transfers and 5.00 ms waiting" */
static void append_parts(const struct tempo_change *c, char *buf, size_t size)
{
    struct tempo_step longer = tempo_longer(c);

    if (isnan(longer.work_s))
        return;
    text_append(buf, size, "; of the difference %s is work, ", text_s(longer.work_s).s);
    if (!isnan(longer.transfer_s))
        text_append(buf, size, "%s transfers and %s waiting", text_s(longer.transfer_s).s,
                    text_s(longer.step_s - longer.work_s - longer.transfer_s).s);
    else
        text_append(buf, size, "%s transfers and waiting", text_s(longer.step_s - longer.work_s).s);
}

/* Was somebody named who cost something?  Then what the run's steps took is that verdict's to explain. */
static bool was_held_back(const struct view *v)
{
    const struct view_verdict *raised;
    size_t n = view_verdicts_raised(v, &raised);

    while (n && (raised->minor || raised->earlier)) {
        raised++;
        n--;
    }
    return n > 0;
}

/* "2.1 % slower or more", "that becomes 2.1 % slower, or was 13 % slower from the start,": which rank would
 * be seen. */
static void append_limit(const struct view_figures *f, char *buf, size_t size)
{
    if (f->mds_from_start - 1 < ABOUT_ALIKE * (f->mds - 1))
        text_append(buf, size, "%.1f %% slower or more", 100 * (f->mds - 1));
    else
        text_append(buf, size, "that becomes %.1f %% slower, or was %.0f %% slower from the start,",
                    100 * (f->mds - 1), 100 * (f->mds_from_start - 1));
}

/* All ranks alike take longer than they did: whether that is wanted is not known. */
static enum tempo_kind sentence_slower(const struct view *v, const struct view_figures *f, char *buf,
                                       size_t size)
{
    bool past = presence_finished(v->presence);
    struct tempo_change c;
    char times[16];

    if (was_held_back(v))
        return TEMPO_STEADY;
    tempo_get(&v->tempo, &c);
    if (c.kind == TEMPO_STEADY)
        return c.kind;
    units_format_factor(times, sizeof(times), c.now.step_s / c.before.step_s);
    text_append(buf, size, "No rank holds the others back (one ");
    append_limit(f, buf, size);
    text_append(buf, size, " would be seen), but ");
    if (c.kind == TEMPO_SLOWER)
        text_append(buf, size, "on all of them a step %s %s times as long as before since about step %llu",
                    past ? "took" : "takes", times, (unsigned long long)c.since);
    else if (c.kind == TEMPO_GROWING)
        text_append(buf, size,
                    "on all of them a step %s longer and longer since about step %llu, %s %s times as long",
                    past ? "took" : "takes", (unsigned long long)c.since, past ? "at the end" : "now", times);
    else
        text_append(buf, size,
                    "on all of them about %llu of %llu steps, in %u stretch%s, took %s times as long as the "
                    "others",
                    (unsigned long long)c.steps, (unsigned long long)steps_count(v->steps)->done, c.stretches,
                    c.stretches == 1 ? "" : "es", times);
    text_append(buf, size, ": %s instead of %s", text_s(c.now.step_s).s, text_s(c.before.step_s).s);
    append_parts(&c, buf, size);
    text_append(buf, size, ".");
    return c.kind;
}

/* A run that ended, of which no rank was slow in its steps, and the others waited long for one alone all the
 * same, as after a pause of its own. */
static bool sentence_held_up(const struct view *v, double now_s, const struct view_figures *f, char *buf,
                             size_t size)
{
    double run_s = presence_run_s(v->presence, now_s);
    struct arrivals_latest l;

    if (!presence_finished(v->presence) || !arrivals_latest(&v->arrivals, &l) ||
        !(l.waited_s > HELD_UP * run_s))
        return false;
    text_append(buf, size, "No rank was slow step by step (one ");
    append_limit(f, buf, size);
    text_append(buf, size, " would be seen), but the others waited %s for rank %u alone (%s of the time).",
                text_s(l.waited_s).s, l.rank, text_percent(l.waited_s / run_s).s);
    return true;
}

void view_append_latest(const struct view *v, double run_s, char *buf, size_t size)
{
    struct arrivals_latest l;

    if (!arrivals_latest(&v->arrivals, &l))
        return;
    if (l.waited_s < LATE_SHOWN * run_s || !(l.waited_s > 0)) {
        if (isnan(run_s))
            text_append(buf, size, " The others waited for no rank alone.");
        else
            text_append(buf, size, " The others waited for no single rank for more than %s of the time.",
                        text_percent(LATE_SHOWN).s);
        return;
    }
    text_append(buf, size,
                " Rank %u came last to %u of %u collective%s, and the others waited %s for it alone", l.rank,
                l.last, l.of, text_plural(l.of), text_s(l.waited_s).s);
    if (!isnan(run_s))
        text_append(buf, size, " (%s of the time)", text_percent(l.waited_s / run_s).s);
    if (isnan(l.low_s))
        text_append(buf, size, "; whether it is so each time takes several steps to tell.");
    else if (l.low_s > 0)
        text_append(buf, size,
                    ": %s each time that the same %u collective%s came (90 %% interval of %u: %s to %s).",
                    text_s(l.each_s).s, l.period, text_plural(l.period), l.times, text_s(l.low_s).s,
                    text_s(l.high_s).s);
    else
        text_append(buf, size, "; the same %u collective%s came %u times, and by so few it may be chance.",
                    l.period, text_plural(l.period), l.times);
}

static void sentence_short(const struct view *v, double now_s, char *buf, size_t size)
{
    double run_s = presence_run_s(v->presence, now_s);

    text_append(buf, size, "Finished after %s: too short to judge.", text_s(run_s).s);
    view_append_latest(v, run_s, buf, size);
}

/* "; 2 single delays cost at most 2.81 s" */
static void append_delays(const struct view *v, char *buf, size_t size)
{
    struct view_phases p;

    view_phases_get(v, &p);
    if (p.delays)
        text_append(buf, size, "; %u single delay%s cost at most %s", p.delays, text_plural(p.delays),
                    text_s(p.delays_s).s);
}

/* How well it could be judged, and its pace. */
static void sentence_judged(const struct view *v, double now_s, const struct view_figures *f, char *buf,
                            size_t size)
{
    bool messages = f->p2p_ratio >= MESSAGES_SHOWN, waiting = !isnan(f->synchronisation_ratio);
    enum tempo_kind tempo = TEMPO_STEADY;
    bool told;
    char window[32], unseen_ones[160];

    buf[0] = '\0';
    switch (view_judged_get(v, now_s)) {
    case VIEW_NOT_SHOWN:
        text_append(buf, size,
                    "Not judged: what is recorded of the collectives does not show who waits for whom.");
        break;
    case VIEW_EARLY:
        if (presence_finished(v->presence))
            sentence_short(v, now_s, buf, size);
        else
            text_append(buf, size, "Too early to judge: learning how much the work of %u rank%s varies.",
                        f->ranks, text_plural(f->ranks));
        break;
    case VIEW_TOO_VARIOUS:
        text_append(
            buf, size,
            "Not judged: the work of %u rank%s varies so much that one twice as slow would not be seen.",
            roster_count(v->roster)->most, text_plural(roster_count(v->roster)->most));
        break;
    case VIEW_PARTLY:
        unseen_text(v, now_s, unseen_ones, sizeof(unseen_ones));
        text_append(buf, size, "Partly judged: %s; of the others a rank ", unseen_ones);
        append_limit(f, buf, size);
        text_append(buf, size, " would be seen.");
        break;
    case VIEW_JUDGED:
        tempo = sentence_slower(v, f, buf, size);
        if (tempo == TEMPO_STEADY && !sentence_held_up(v, now_s, f, buf, size)) {
            text_append(buf, size, "Healthy: a rank ");
            append_limit(f, buf, size);
            text_append(buf, size, " would be seen");
            append_delays(v, buf, size);
            text_append(buf, size, ".");
        }
        break;
    case VIEW_NOTHING:
        break;
    }
    told = tempo == TEMPO_SLOWER || tempo == TEMPO_GROWING; /* what a step takes now */
    if (!told)
        text_append(buf, size, " A step takes %s (median %s)", text_s(f->step_p50_s).s,
                    of_window(v, now_s, window));
    if (waiting)
        text_append(buf, size, "%s wait for one another %s%.0f %% of the time", told ? " Ranks" : "; ranks",
                    messages ? "in collectives " : "", 100 * f->synchronisation_ratio);
    if (messages)
        text_append(buf, size, "%s hold them %.0f %%%s",
                    waiting ? " and messages"
                    : told  ? " Messages"
                            : "; messages",
                    100 * f->p2p_ratio, waiting ? "" : " of the time");
    if (!told || waiting || messages)
        text_append(buf, size, ".");
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

char *view_sentence(const struct view *v, double now_s, char *buf, size_t size)
{
    const struct view_verdict *now, *named;
    enum view_regime regime = view_regime_get(v);
    size_t n = view_verdicts_get(v, &now);
    bool finished = presence_finished(v->presence), hangs = v->verdicts->ended_still;
    const char *hung = "Ended while it hung: ";
    const struct view_shortfall *shortfall;
    struct view_updates updates;
    struct view_non_finite bad;
    struct view_figures f;

    view_figures_get(v, now_s, &f);
    /* while nothing moves, nothing costs a share of the time */
    for (named = now; named < now + n &&
                      (named->minor || (regime == VIEW_STALLED && !finding_stops(named->finding.class)));
         named++)
        ;
    if (step_marks_non_finite(v->marks, &bad)) /* whatever the rest costs, it computes nothing */
        snprintf(buf, size, "%s.", bad.text);
    else if (view_run_sentence(v))
        snprintf(buf, size, "%s%s", hangs && !(n && now[0].finding.class == FINDING_LOST) ? hung : "",
                 view_run_sentence(v));
    else if (named < now + n)
        snprintf(buf, size, "%s%s", hangs && named->finding.class == FINDING_HANG ? hung : "", named->text);
    else if (regime == VIEW_SUSPENDED && !finished)
        snprintf(buf, size, "Suspended by Slurm for %s: this time does not count.",
                 text_s(presence_suspended_s(v->presence, now_s)).s);
    else if (regime == VIEW_STALLED)
        snprintf(buf, size, "Nothing moves: %s.", v->verdicts->stalled.text);
    else if (!roster_limit(v->roster))
        sentence_unseen(v, buf, size);
    else if (view_updates_judge(v, now_s, &updates))
        view_updates_sentence(&updates, buf, size);
    else if (isnan(f.step_mean_s) && finished) {
        snprintf(buf, size, "Ended before a repeating step was known.");
        view_append_latest(v, presence_run_s(v->presence, now_s), buf, size);
    } else if (isnan(f.step_mean_s))
        snprintf(buf, size, "%u rank%s, but no repeating step is known yet.", f.ranks,
                 f.ranks == 1 ? " runs" : "s run");
    else if (shortfalls_get(v->shortfalls, &shortfall))
        snprintf(buf, size, "%s.", shortfall->text);
    else
        sentence_judged(v, now_s, &f, buf, size);
    return buf;
}
