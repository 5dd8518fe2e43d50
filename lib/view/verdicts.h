/* verdicts.h - what a view finds fault with: verdicts, the sentence, events. */
#ifndef SYNCGUARD_VIEW_VERDICTS_H
#define SYNCGUARD_VIEW_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "detect/finding.h"

struct view;

#define VIEW_VERDICTS_MAX 4u
/* verdicts of the whole run; the oldest that is over gives way */
#define VIEW_RAISED_MAX   FINDINGS_MAX
#define VIEW_CULPRITS_MAX 64u
#define VIEW_CULPRIT_SIZE 128u /* of its name; of a link, the names of both ends */

/* A finding in words, with names for its numbers. */
struct view_verdict {
    struct finding finding;
    char culprit[VIEW_CULPRITS_MAX][VIEW_CULPRIT_SIZE]; /* "r3", a node's or a switch's name */
    uint32_t n_culprits;
    int64_t since_step; /* -1: not known */
    int64_t found_step; /* the newest one when it was found; -1: not known */
    double since_s;     /* when it began, by the caller's clock; NaN: not known */
    double found_s;     /* when the verdict was raised, by the caller's clock */
    double over_s;      /* valid when it no longer stands */
    bool minor;         /* view_is_minor() of its price; in the timeline: of each price it had */
    /* found before view_position_set(): the text is in the past tense, without a price, and its places have
     * no numbers */
    bool earlier;
    bool went_on; /* of such a one: it stood when it was found last, and goes on if it is found again */
    /* in how many stretches it was there; more than 1 only in what is reported of a job that ended */
    uint32_t times;
    char text[512];  /* the evidence, one sentence */
    char cause[256]; /* what else is known of the culprit ("its CPU is shared ..."); "" nothing */
};
/* Is a verdict of this price left out of lists and sentences?  Not of an unknown price. */
#define VIEW_MINOR_SLOWDOWN 1.015 /* what people read as 1.00x and 1.01x */
bool view_is_minor(double slowdown);
/* When it began as far as is known: no later than it was found. */
double view_verdict_from_s(const struct view_verdict *d);
/* A verdict's sentence in the past tense, without its price.  Returns buf. */
char *view_verdict_past(const struct view *v, const struct view_verdict *d, char *buf, size_t size);

/* Those that stand, most costly first; returns how many. */
size_t view_verdicts_get(const struct view *v, const struct view_verdict **verdicts);
/* All that were raised since the beginning and not taken back, standing or over: most costly first, a hang
 * before all. slowdown is over the whole run: its time over its time without that cause. */
size_t view_verdicts_raised(const struct view *v, const struct view_verdict **verdicts);
/* What is reported of a job: while it goes on those that stand; when it has ended all that were raised,
 * priced over the whole run, what came and went several times once. */
size_t view_verdicts_reported(const struct view *v, const struct view_verdict **verdicts);

/* Whether the job's ranks could be compared; a job that is not judged has no verdicts that rest on it, and is
 * not healthy. */
enum view_judged {
    VIEW_JUDGED,
    VIEW_EARLY, /* how much the ranks' work varies is not known yet */
    /* some ranks are not recorded, or their node is silent: only the others were compared */
    VIEW_PARTLY,
    VIEW_NOT_SHOWN,   /* what is recorded does not show who waits for whom */
    VIEW_TOO_VARIOUS, /* a rank twice as slow as the others would not be seen */
    VIEW_NOTHING,     /* no steps, nothing moves, or the job is suspended */
};
enum view_judged view_judged_get(const struct view *v, double now_s);
/* "yes", "early", "partly", "not shown", "too various", "no" */
const char *view_judged_name(enum view_judged j);

/* What is going on and what it costs, one sentence. */
char *view_sentence(const struct view *v, double now_s, char *buf, size_t size);
/* Of few steps, which are not judged: whom the others waited for in them, for how much of run_s (NaN: that is
 * not known), and how sure it is that it goes on like that.  A sentence behind what is in buf, if there is
 * something to tell. */
void view_append_latest(const struct view *v, double run_s, char *buf, size_t size);

/* What changed since the last call, oldest first: texts for the event list.  false: nothing more. */
struct view_event {
    double at_s;
    /* the same of events that differ in figures alone; "": their texts are the same */
    char key[32 + VIEW_CULPRIT_SIZE];
    char text[512];
};
bool view_event_take(struct view *v, struct view_event *e);

#endif
