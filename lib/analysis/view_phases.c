/* view_phases.c - what in a run is neither an ordinary step nor a fault: warm-up, pauses (checkpoints),
 * collectives of another kind between the steps (evaluations). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "analysis/work.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define WARM_UP_STEPS 32u  /* the first ones, looked at when they are over */
#define WARM_UP_RATIO 1.1f /* the first step's work over what the later ones have, at the least */
#define WARM_RATIO    1.05f

struct phases { /* of the whole run, but for steps: since the steps are what they are */
    uint64_t steps;
    float first_s[WARM_UP_STEPS];
    uint32_t warm_up, last_seq;
    uint64_t pauses, evaluations, foreign;
    double pause_s;
};

struct phases *view_phases_new(void)
{
    return xcalloc(1, sizeof(struct phases));
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

static void look_at_beginning(struct view *v, double now_s, const struct work_step *k)
{
    struct phases *p = v->phases;
    char times[16];

    if (p->steps >= WARM_UP_STEPS)
        return;
    p->first_s[p->steps] = k->typical_s;
    if (p->steps + 1 < WARM_UP_STEPS)
        return;
    p->warm_up = warm_up_steps(p->first_s);
    if (p->warm_up)
        view_event(v, now_s, "", "warmed up: the first %u step%s seen took up to %s times as long", p->warm_up, p->warm_up == 1 ? "" : "s",
                   units_format_factor(times, sizeof(times), p->first_s[0] / p->first_s[WARM_UP_STEPS - 1]));
}

void view_phases_forget(struct view *v)
{
    v->phases->steps = 0; /* what was counted of the run stays */
}

void view_phases_take_step(struct view *v, double now_s, uint32_t first_seq, uint32_t last_seq)
{
    const struct work_step *k = diagnosis_newest(v->diagnosis);
    struct phases *p = v->phases;
    char text[32];

    look_at_beginning(v, now_s, k);
    if (k->pause) {
        p->pauses++;
        p->pause_s += k->typical_s - k->usual_s;
        view_event(v, now_s, "pause", "all ranks paused for %s before a step (a checkpoint?)",
                   units_format_s(text, sizeof(text), k->typical_s - k->usual_s));
    }
    /* Fast steps come several at a time, and their ends are not exact. */
    if (p->steps && view_steps_count(v)->block == 1 && first_seq > p->last_seq + 1) {
        p->evaluations++;
        p->foreign += first_seq - p->last_seq - 1;
        view_event(v, now_s, "evaluation", "%u collective%s between two steps that belong to none (an evaluation?)",
                   first_seq - p->last_seq - 1, first_seq - p->last_seq - 1 == 1 ? "" : "s");
    }
    p->last_seq = last_seq;
    p->steps++;
}

uint32_t view_phases_warm_up(const struct view *v)
{
    return v->phases->warm_up;
}

void view_phases_get(const struct view *v, struct view_phases *p)
{
    const struct work_rhythm *rhythm = &diagnosis_work(v->diagnosis)->rhythm;
    const struct phases *s = v->phases;

    *p = (struct view_phases){ .warm_up_steps = s->steps >= WARM_UP_STEPS ? (int32_t)s->warm_up : -1,
                               .pauses = s->pauses,
                               .pause_s = s->pause_s,
                               .evaluations = s->evaluations,
                               .foreign_collectives = s->foreign,
                               .rhythm_steps = rhythm->period,
                               .rhythm_heavy = rhythm->heavy,
                               .rhythm_ratio = rhythm->period ? rhythm->ratio : NAN };
}
