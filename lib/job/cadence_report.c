/* cadence_report.c - what agents report of their ranks: read, and summed up over all of them. */
#include <math.h>
#include <string.h>

#include "job/cadence_private.h"
#include "job/job.h"
#include "view/view.h"
#include "wire/json.h"

#define STEP_GAIN   0.2 /* weight of the latest step time */
#define CALLS_MAX   (INT64_C(1) << 52)
#define SECONDS_MAX 3.2e7
#define LEAST_SIGMA 3.0 /* a step may be this many deviations shorter than the mean */

/* A whole number, at most max; 0 if the value is not a number. */
static int64_t whole_number(const json_t *o, const char *key, int64_t max)
{
    int64_t n = json_get_int(o, key, 0, INT64_MAX, 0);

    return n < max ? n : max;
}

static double seconds(const json_t *o, const char *key)
{
    return json_get_real(o, key, 0, SECONDS_MAX);
}

static uint64_t call_number(const json_t *range, size_t i)
{
    double n = json_number_of(json_array_get(range, i));

    return n > 0 ? (uint64_t)fmin(n, (double)CALLS_MAX) : 0;
}

static void parse_calls(const json_t *o, const char *key, uint64_t *min, uint64_t *max)
{
    const json_t *range = json_get_array(o, key);

    *min = call_number(range, 0);
    *max = call_number(range, 1);
    if (*max < *min)
        *max = *min;
}

void cadence_report_parse(struct cadence_report *t, const json_t *o)
{
    const json_t *asked = json_object_get(o, "asked");
    const char *state = json_get_word(asked, "state");

    t->serial = json_get_int(asked, "serial", 0, CALLS_MAX, -1);
    t->at = (uint64_t)whole_number(asked, "at", CALLS_MAX);
    t->state = !strcmp(state, "committed") ? 2 : !strcmp(state, "armed");
    t->missed = !json_is_false(json_object_get(asked, "missed"));
    t->mixed = json_get_true(o, "mixed");
    t->notice = json_get_true(o, "notice");
    t->callers = (uint32_t)whole_number(o, "callers", VIEW_RANKS_MAX);
    t->deaf = (uint32_t)whole_number(o, "deaf", VIEW_RANKS_MAX);
    t->app = (uint32_t)whole_number(o, "app", UINT16_MAX);
    t->writing = (uint32_t)whole_number(o, "writing", VIEW_RANKS_MAX);
    parse_calls(o, "calls", &t->calls_min, &t->calls_max);
    parse_calls(o, "yes_at", &t->yes_min, &t->yes_max);
    t->samples = (uint64_t)whole_number(o, "samples", CALLS_MAX);
    t->writes = (uint64_t)whole_number(o, "writes", CALLS_MAX);
    t->age_s = seconds(o, "age_s");
    t->step_s = seconds(o, "step_s");
    t->write_s = seconds(o, "write_s");
}

void cadence_learn_step(struct cadence *c, double step_s)
{
    double off_s = step_s - c->step_s;

    if (!(step_s > 0))
        return;
    if (isnan(c->step_s)) {
        c->step_s = step_s;
        c->step_off_s = 0.1 * step_s;
        return;
    }
    c->step_s += STEP_GAIN * off_s;
    c->step_off_s += STEP_GAIN * (fabs(off_s) - c->step_off_s);
}

double cadence_step_min_s(const struct cadence *c)
{
    return fmax(c->step_s - LEAST_SIGMA * 1.25 * c->step_off_s, 0.3 * c->step_s);
}

struct cadence_sum cadence_sum_up(const struct job *j)
{
    struct cadence_sum s = { .age_s = NAN, .heard_s = INFINITY };

    for (size_t i = 0; i < j->n_agents; i++) {
        const struct job_agent *a = j->agent[i];
        const struct cadence_report *t = &a->checkpoint_report;

        s.connected += a->link != NULL && !a->bye;
        s.samples += t->samples;
        if (t->at_s == 0)
            continue;
        s.reported++;
        s.writing += t->writing;
        if (!t->callers)
            continue;
        s.mixed |= t->mixed || (s.callers && t->app != s.app);
        s.app = t->app;
        s.deaf += t->deaf;
        s.heard_s = fmin(s.heard_s, t->at_s);
        if (!s.callers || t->calls_max > s.calls_max) {
            s.calls_max = t->calls_max;
            s.age_s = t->age_s;
            s.at_s = t->at_s;
        }
        s.calls_min = s.callers && s.calls_min < t->calls_min ? s.calls_min : t->calls_min;
        s.callers += t->callers;
    }
    return s;
}
