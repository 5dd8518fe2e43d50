#include "view/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define WARM_UP_STEPS 32u /* the first ones, looked at when they are over */
/* the first step's work over what the later ones have, at the least */
#define WARM_UP_RATIO 1.1f
#define WARM_RATIO    1.05f

struct phases { /* of the whole run, but for steps: since the steps are what they are */
    struct events *events;
    uint64_t steps;
    float first_s[WARM_UP_STEPS];
    uint32_t warm_up, last_seq;
    uint64_t pauses, evaluations, foreign;
    double pause_s;
    struct paused {
        double at_s, pause_s;
    } open[WORK_PAUSE_MAX]; /* the newest steps, where they look like pauses */
    uint32_t n_open;
};

struct phases *phases_new(struct events *events)
{
    struct phases *p = xcalloc(1, sizeof(*p));

    p->events = events;
    return p;
}

void phases_free(struct phases *p)
{
    free(p);
}

/* How many of the first steps took clearly longer than those after them. */
static uint32_t warm_up_steps(const float first_s[WARM_UP_STEPS])
{
    float later[WARM_UP_STEPS / 2], usual_s;
    uint32_t n = 0;

    memcpy(later, first_s + WARM_UP_STEPS / 2, sizeof(later));
    usual_s = statistics_medianf(later, WARM_UP_STEPS / 2);
    if (first_s[0] < WARM_UP_RATIO * usual_s)
        return 0;
    while (n < WARM_UP_STEPS / 2 && first_s[n] > WARM_RATIO * usual_s)
        n++;
    return n;
}

void phases_forget(struct phases *p)
{
    p->steps = 0; /* what was counted of the run stays */
}

/* A pause is over when a step is as long as usual.  A stretch of long ones was none: the work has changed. */
static void take_pauses(struct phases *p, double now_s, const struct work_step *k)
{
    if (k->pause && p->n_open < WORK_PAUSE_MAX) {
        p->open[p->n_open++] = (struct paused){ now_s, k->typical_s - k->usual_s };
        return;
    }
    for (uint32_t i = 0; i < p->n_open && !work_is_long(k); i++) {
        p->pauses++;
        p->pause_s += p->open[i].pause_s;
        events_add(p->events, p->open[i].at_s, "pause",
                   "all ranks paused for %s before a step (a checkpoint?)", text_s(p->open[i].pause_s).s);
    }
    p->n_open = 0;
}

void phases_take_step(struct phases *p, double now_s, const struct work_step *k, bool alone,
                      uint32_t first_seq, uint32_t last_seq)
{
    char text[32];

    if (p->steps < WARM_UP_STEPS)
        p->first_s[p->steps] = k->typical_s;
    if (p->steps + 1 == WARM_UP_STEPS && (p->warm_up = warm_up_steps(p->first_s)))
        events_add(p->events, now_s, "", "warmed up: the first %u step%s seen took up to %s times as long",
                   p->warm_up, text_plural(p->warm_up),
                   units_format_factor(text, sizeof(text), p->first_s[0] / p->first_s[WARM_UP_STEPS - 1]));
    take_pauses(p, now_s, k);
    /* Fast steps come several at a time, and their ends are not exact. */
    if (p->steps && alone && first_seq > p->last_seq + 1) {
        p->evaluations++;
        p->foreign += first_seq - p->last_seq - 1;
        events_add(p->events, now_s, "evaluation",
                   "%u collective%s between two steps that belong to none (an evaluation?)",
                   first_seq - p->last_seq - 1, first_seq - p->last_seq - 1 == 1 ? "" : "s");
    }
    p->last_seq = last_seq;
    p->steps++;
}

uint32_t phases_warm_up(const struct phases *p)
{
    return p->warm_up;
}

void phases_get(const struct phases *p, struct view_phases *out)
{
    *out = (struct view_phases){ .warm_up_steps = p->steps >= WARM_UP_STEPS ? (int32_t)p->warm_up : -1,
                                 .pauses = p->pauses,
                                 .pause_s = p->pause_s,
                                 .evaluations = p->evaluations,
                                 .foreign_collectives = p->foreign };
    for (uint32_t i = 0; i < p->n_open; i++) {
        out->pauses++;
        out->pause_s += p->open[i].pause_s;
    }
}
