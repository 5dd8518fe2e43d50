/* What in a run is neither a step nor a fault: pauses, and a stretch in which all ranks are slow. */
#include "view/phases.h"

#include "tests/random.h"
#include "tests/tap.h"

#define RANKS 4u

struct run {
    struct work *work;
    struct phases *phases;
    struct events *events;
    double now_s;
    uint32_t k;
};

static void begin(struct run *r)
{
    *r = (struct run){ .work = work_new(), .events = events_new() };
    r->phases = phases_new(r->events);
}

static void end(struct run *r)
{
    phases_free(r->phases);
    events_free(r->events);
    work_free(r->work);
}

/* A step of all ranks, whose work is that many times the usual. */
static void step(struct run *r, double times)
{
    float own_s[RANKS];

    for (uint32_t i = 0; i < RANKS; i++)
        own_s[i] = (float)(0.1 * times * (1 + 0.01 * gauss()));
    r->now_s += 0.1 * times;
    work_take(r->work, r->k, own_s, RANKS, 0.1 * times, 0.001);
    phases_take_step(r->phases, r->now_s, &r->work->step[work_slot(r->work, 0)], true, r->k, r->k);
    r->k++;
}

static void steps(struct run *r, uint32_t n, double times)
{
    while (n--)
        step(r, times);
}

/* Pauses that were told since the last call; *at_s: when the first of them was. */
static uint32_t told(struct run *r, double *at_s)
{
    struct view_event e;
    uint32_t n = 0;

    while (events_take(r->events, &e)) {
        bool pause = !strcmp(e.key, "pause");

        *at_s = pause && !n ? e.at_s : *at_s;
        n += pause;
    }
    return n;
}

static void pauses(void)
{
    struct view_phases p;
    double paused_s, at_s = 0;
    struct run r;

    begin(&r);
    steps(&r, 40, 1);
    step(&r, 4);
    paused_s = r.now_s;
    phases_get(r.phases, &p);
    is_int((long long)p.pauses, 1, "a pause is counted at once");
    is_int(told(&r, &at_s), 0, "a pause is not told while it may go on");
    step(&r, 1);
    is_int(told(&r, &at_s), 1, "a pause is told when a step shows that it is over");
    ok(at_s == paused_s, "a pause is told with the time at which it was");
    steps(&r, 20, 1);
    steps(&r, WORK_PAUSE_MAX, 4);
    steps(&r, 20, 1);
    phases_get(r.phases, &p);
    is_int((long long)p.pauses, 1 + WORK_PAUSE_MAX, "three long steps in a row are pauses");
    is_near(p.pause_s, (1 + WORK_PAUSE_MAX) * 0.3, 0.02, "pauses are as long as they were");
    is_int(told(&r, &at_s), WORK_PAUSE_MAX, "each pause of three in a row is told");
    end(&r);
}

static void stretch(void)
{
    static const struct {
        const char *what;
        double times, varies;
    } cases[] = { { "three times as slow", 3, 0 },
                  { "ten times as slow", 10, 0 },
                  { "three to four times as slow", 3, 0.33 } };

    random_state = 3;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct view_phases p;
        double at_s;
        struct run r;

        begin(&r);
        steps(&r, 40, 1);
        for (uint32_t k = 0; k < 60; k++)
            step(&r, cases[i].times * (1 + cases[i].varies * uniform()));
        steps(&r, 40, 1);
        phases_get(r.phases, &p);
        is_int((long long)p.pauses, 0, "a stretch in which all ranks are %s is no pause", cases[i].what);
        is_int(told(&r, &at_s), 0, "no pause is told of a stretch in which all ranks are %s", cases[i].what);
        end(&r);
    }
}

int main(void)
{
    pauses();
    stretch();
    return done_testing();
}
