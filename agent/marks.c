#include "agent/marks.h"

#include <string.h>

#define REPEAT_S 5u /* also what has not changed, for a controller that has lost it */

bool marks_news(const struct marks_sent *s, const struct marks_figures *f, bool due)
{
    bool any = due && (f->steps || f->used);

    for (int i = 0; i < MARKS_VALUES; i++)
        any = any || (due ? f->value[i].given > 0 : !s->f.value[i].since != !f->value[i].since);
    return any;
}

/* Sums that only grow, of a page that nobody has damaged. */
static bool grows(const struct marks_figures *before, const struct marks_figures *f)
{
    bool ok = f->steps >= before->steps && f->steps_ns >= before->steps_ns &&
              f->steps - before->steps <= UINT32_MAX;

    for (int i = 0; i < MARKS_PHASES; i++)
        ok = ok && f->phase_ns[i] >= before->phase_ns[i];
    return ok;
}

static void put_phases(const struct marks_sent *s, const struct marks_figures *f, uint32_t rank, uint16_t app,
                       uint64_t now_ns, flow_sink *put, void *arg)
{
    struct telemetry_item item = {
        .kind = TELEMETRY_PHASES,
        .phases = { .rank = rank,
                    .app = app,
                    .phase = f->phase < MARKS_PHASES ? (uint8_t)f->phase : MARKS_OTHER,
                    .used = (uint8_t)(f->used & (MARKS_SEEN | ((1u << MARKS_PHASES) - 1))),
                    .age_ns = f->since_ns && f->since_ns < now_ns ? now_ns - f->since_ns : 0 },
    };

    if (grows(&s->f, f)) {
        item.phases.steps = (uint32_t)(f->steps - s->f.steps);
        item.phases.duration_ns = f->steps_ns - s->f.steps_ns;
        for (int i = 0; i < MARKS_PHASES; i++)
            item.phases.phase_ns[i] = f->phase_ns[i] - s->f.phase_ns[i];
    }
    put(&item, arg);
}

void marks_send(struct marks_sent *s, const struct marks_figures *f, uint32_t rank, uint16_t app,
                uint64_t now_ns, bool due, flow_sink *put, void *arg)
{
    bool all = due && ++s->quiet_s >= REPEAT_S;

    if (due && (f->steps || f->used) &&
        (all || f->steps != s->f.steps || f->since_ns != s->f.since_ns || f->phase != s->f.phase)) {
        put_phases(s, f, rank, app, now_ns, put, arg);
        s->f.steps = f->steps;
        s->f.steps_ns = f->steps_ns;
        memcpy(s->f.phase_ns, f->phase_ns, sizeof(s->f.phase_ns));
        s->f.since_ns = f->since_ns;
        s->f.phase = f->phase;
    }
    for (int i = 0; i < MARKS_VALUES; i++) {
        const struct marks_series *v = &f->value[i];
        struct telemetry_item item = { .kind = TELEMETRY_VALUE,
                                       .value = { .rank = rank,
                                                  .app = app,
                                                  .value = (uint8_t)i,
                                                  .given = v->given,
                                                  .non_finite = v->non_finite,
                                                  .since = v->since,
                                                  .newest = v->newest } };

        if (!v->given || (!all && v->given == s->f.value[i].given))
            continue;
        put(&item, arg);
        s->f.value[i] = *v;
    }
    if (all)
        s->quiet_s = 0;
}
