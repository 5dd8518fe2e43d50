#include "agent/pacing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/config_policy.h"
#include "common/xalloc.h"
#include "pacing/pacer.h"
#include "ring/pacing.h"
#include "wire/json.h"

#define AGAIN_S 10.0 /* repeated for a controller that has lost it */

struct pacing {
    const char *dir;
    struct pacing_page *page;
    struct pacing_report reported;
    double last_report_s;
};

/* ---- to the ranks ---- */

static void read_bounded(const json_t *o, const char *key, double scale, double min, double max, uint32_t *to)
{
    double value = json_get_real(o, key, -INFINITY, INFINITY);

    if (!isnan(value))
        *to = (uint32_t)lround(fmin(fmax(value * scale, min), max));
}

void pacing_control(const json_t *pace, struct control_page_pace *c)
{
    static const struct value_type type = VALUE_SOME_OF(config_levers);
    const char *levers = json_get_string(pace, "levers");
    double bits;

    if (levers)
        c->levers = value_parse(&type, levers, &bits, NULL) == 0 ? (uint32_t)bits : 0;
    read_bounded(pace, "max_delay_s", 1e6, 0, 1e6, &c->max_delay_us);
    read_bounded(pace, "share", 1e3, 0, 1e3, &c->share);
    read_bounded(pace, "epoch", 1, 1, PACER_EPOCH_MAX, &c->epoch);
    read_bounded(pace, "holdout", 1, 2, HOLDOUT_EVERY_MAX, &c->every);
}

static bool differs(const struct control_page_pace *a, const struct control_page_pace *b)
{
    return a->levers != b->levers || a->max_delay_us != b->max_delay_us || a->share != b->share ||
           a->epoch != b->epoch || a->every != b->every;
}

/* Levers are written last, so that a rank that sees them sees their bounds. */
void pacing_apply(struct control_page *page, const struct control_page_pace *w)
{
    if (!page || !differs(&page->pace, w))
        return;
    __atomic_store_n(&page->pace.max_delay_us, w->max_delay_us, __ATOMIC_RELAXED);
    __atomic_store_n(&page->pace.share, w->share, __ATOMIC_RELAXED);
    __atomic_store_n(&page->pace.epoch, w->epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&page->pace.every, w->every, __ATOMIC_RELAXED);
    __atomic_add_fetch(&page->pace.generation, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&page->pace.levers, w->levers, __ATOMIC_RELEASE);
    __atomic_add_fetch(&page->generation, 1, __ATOMIC_RELEASE);
}

/* ---- from the ranks; the job itself writes the page, so values are bounded ---- */

struct pacing *pacing_new(const char *dir)
{
    struct pacing *p = xcalloc(1, sizeof(*p));

    p->dir = dir;
    p->last_report_s = -INFINITY;
    return p;
}

void pacing_free(struct pacing *p)
{
    if (!p)
        return;
    pacing_close(p->page);
    free(p);
}

/* Time of a step with the lever over the time without. */
static json_t *ratio_json(double log_ratio)
{
    return isnan(log_ratio) ? json_null() : json_of_real(exp(fmin(fmax(log_ratio, -10), 10)));
}

json_t *pacing_news(struct pacing *p, double now_s)
{
    static const char *const modes[] = { "off", "trial", "in force" };
    struct pacing_report r;
    json_t *levers;

    if (!p->page)
        p->page = pacing_look(p->dir);
    if (!p->page || !pacing_report_get(p->page, &r))
        return NULL;
    if (now_s < p->last_report_s + AGAIN_S && !memcmp(&r, &p->reported, sizeof(r)))
        return NULL;
    p->reported = r;
    p->last_report_s = now_s;
    levers = json_array();
    for (uint32_t i = 0; i < PACING_LEVERS; i++) {
        const struct pacing_lever *l = &r.levers[i];

        json_array_append_new(levers,
                              json_pack("{s:s, s:s, s:I, s:o, s:o, s:o}", "lever", pacer_lever_name(1u << i),
                                        "why", pacer_why_text(l->why), "compared", (json_int_t)l->compared,
                                        "ratio", ratio_json(l->log_mean), "low", ratio_json(l->log_low),
                                        "high", ratio_json(l->log_high)));
    }
    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "mode", modes[r.mode % 3],
                     "lever", json_of_text(pacer_lever_name(r.lever)), "ranks", (json_int_t)r.ranks, "cores",
                     (json_int_t)r.cores, "collectives", (json_int_t)(r.collectives & INT64_MAX), "with",
                     (json_int_t)(r.with & INT64_MAX), "without", (json_int_t)(r.without & INT64_MAX),
                     "late_holds", (json_int_t)(r.late & INT64_MAX), "switches_hz",
                     json_of_real(r.switches_hz), "wait_ratio", json_of_real(r.wait_ratio), "levers", levers);
}
