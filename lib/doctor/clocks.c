#include "doctor/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "common/text.h"
#include "common/xalloc.h"
#include "model/statistics.h"
#include "wire/json.h"

#define PARTNERS_MIN 2u
#define SHOWN        8u

struct clocks {
    size_t n;
    struct clock_bound *ahead; /* n * n, [a * n + b]: b of a */
    double *scratch;           /* n */
};

struct clocks *clocks_new(size_t n)
{
    struct clocks *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->n = n;
    c->ahead = calloc(n * n + 1, sizeof(*c->ahead));
    c->scratch = calloc(n + 1, sizeof(*c->scratch));
    if (!c->ahead || !c->scratch) {
        clocks_free(c);
        return NULL;
    }
    for (size_t i = 0; i < n * n; i++)
        c->ahead[i] = (struct clock_bound){ NAN, NAN };
    return c;
}

void clocks_free(struct clocks *c)
{
    if (!c)
        return;
    free(c->ahead);
    free(c->scratch);
    free(c);
}

void clocks_add(struct clocks *c, uint32_t a, uint32_t b, double ahead_s, double rtt_s)
{
    struct clock_bound *there = &c->ahead[a * c->n + b], *back = &c->ahead[b * c->n + a];

    if (a == b || !isfinite(ahead_s) || !(rtt_s >= 0) || rtt_s >= there->high_s - there->low_s)
        return;
    *there = (struct clock_bound){ ahead_s - rtt_s / 2, ahead_s + rtt_s / 2 };
    *back = (struct clock_bound){ -there->high_s, -there->low_s };
}

static double median_bound(struct clocks *c, uint32_t node, bool high)
{
    size_t n = 0;

    for (size_t a = 0; a < c->n; a++) {
        const struct clock_bound *b = &c->ahead[a * c->n + node];

        if (!isnan(b->low_s))
            c->scratch[n++] = high ? b->high_s : b->low_s;
    }
    return n < PARTNERS_MIN ? NAN : statistics_median(c->scratch, n);
}

struct clock_bound clocks_of(struct clocks *c, uint32_t node)
{
    return (struct clock_bound){ median_bound(c, node, false), median_bound(c, node, true) };
}

/* ---- what is said of them ---- */

struct off {
    uint32_t node;
    double ahead_s, doubt_s;
};

static int by_distance(const void *a, const void *b)
{
    const struct off *one = a, *two = b;

    return (fabs(one->ahead_s) < fabs(two->ahead_s)) - (fabs(one->ahead_s) > fabs(two->ahead_s));
}

/* Those that differ for certain, the farthest first. */
static void say_all(const struct off *off, size_t n, const char *const *name, struct findings *f)
{
    double worst_s = 0;
    char text[1000] = "";
    size_t differ = 0;

    for (size_t i = 0; i < n; i++) {
        const struct off *o = &off[i];

        worst_s = fmax(worst_s, fabs(o->ahead_s) + o->doubt_s);
        if (fabs(o->ahead_s) > o->doubt_s && differ++ < SHOWN)
            text_append(text, sizeof(text), "%s%.60s %s %s (give or take %s)", differ > 1 ? ", " : ": ",
                        name[o->node], text_about_s(fabs(o->ahead_s)).s, o->ahead_s > 0 ? "ahead" : "behind",
                        text_about_s(o->doubt_s).s);
    }
    if (differ > SHOWN)
        text_append(text, sizeof(text), ", and %zu that are nearer (--json has them)", differ - SHOWN);
    findings_add(f, FINDING_OK, "clock", NULL, NULL,
                 "%zu clocks are within %s of the median of their partners'%s", n, text_about_s(worst_s).s,
                 differ ? text : ": none differs by more than a round trip can tell");
}

void clocks_judge(struct clocks *c, const char *const *name, double limit_s, struct findings *f)
{
    struct off *good = xcalloc(c->n + 1, sizeof(*good));
    json_t *all = json_array();
    char next[400];
    size_t n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        struct clock_bound b = clocks_of(c, i);
        struct off o = { i, (b.low_s + b.high_s) / 2, (b.high_s - b.low_s) / 2 };
        json_t *one = json_object();

        json_put_text(one, "node", name[i]);
        json_put_real(one, "ahead_s", o.ahead_s);
        json_put_real(one, "doubt_s", o.doubt_s);
        json_array_append_new(all, one);
        if (b.low_s > limit_s || b.high_s < -limit_s) {
            snprintf(next, sizeof(next), FINDINGS_NEXT_CLOCK, name[i]);
            findings_add(f, FINDING_FAULT, "clock", json_pack("[o]", json_of_text(name[i])), next,
                         "%.200s: its clock is %s %s the median of its partners', give or take %s", name[i],
                         text_about_s(fabs(o.ahead_s)).s, o.ahead_s > 0 ? "ahead of" : "behind",
                         text_about_s(o.doubt_s).s);
        } else if (b.low_s >= -limit_s && b.high_s <= limit_s) {
            good[n++] = o;
        }
    }
    qsort(good, n, sizeof(*good), by_distance);
    if (n)
        say_all(good, n, name, f);
    json_decref(f->clocks);
    f->clocks = all;
    free(good);
}
