#include "calls/expected.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"
#include "detect/work.h"

/* Levels and factors stand on each other. Chosen: what a pass changes is a part of what the one before did,
 * and each reads all pieces. */
#define PASSES 3u
/* Standard errors of the less certain one by which two steps differ: of two alike that are as certain, one
 * pair in 13 (2.5 / sqrt(2) standard deviations of their difference). */
#define APART 2.5
#define PAIRS (1u << 22) /* of steps, of all classes, that are compared: some 20 ms */

struct level { /* of a place */
    double sum, square;
    uint32_t n, group;
    float mean_s;
};

struct group { /* the places of a class and role */
    double sum, within, mean_s, between;
    double n, nn, freedom;
    uint32_t places;
};

struct factor { /* of a class in a step */
    double is_s, should_s, squares;
    float now, next, error;
};

struct expected {
    uint32_t steps, classes, places, at; /* at: the row that was asked for last */
    uint32_t *number;                    /* of each step, newest first */
    struct level *level;                 /* by place */
    struct factor *factor;               /* steps rows of classes */
    struct group *group;
    uint32_t n_groups;
    struct map groups;
    double spread; /* standard deviation of a piece over what is expected */
    bool (*leave_out)(const struct graph_op *op, const struct graph_step *s, void *arg);
    void *arg;
    size_t number_cap, level_cap, factor_cap, group_cap;
};

struct expected *expected_new(void)
{
    return xcalloc(1, sizeof(struct expected));
}

void expected_free(struct expected *e)
{
    if (!e)
        return;
    free(e->number);
    free(e->level);
    free(e->factor);
    free(e->group);
    map_free(&e->groups);
    free(e);
}

static struct factor *factor_at(const struct expected *e, const struct graph *g, uint32_t back,
                                uint32_t place)
{
    return &e->factor[(size_t)back * e->classes + graph_place_class(g, place)];
}

static uint32_t group_of(struct expected *e, const struct graph *g, const struct graph_op *op)
{
    uint64_t key = (uint64_t)graph_role(g, op->rank) << 32 | graph_place_class(g, op->place);
    uint32_t at = map_get(&e->groups, key);

    if (at != MAP_NONE)
        return at;
    e->group = xgrow(e->group, &e->group_cap, e->n_groups + 1, sizeof(*e->group));
    map_put(&e->groups, key, e->n_groups);
    return e->n_groups++;
}

static bool counts(const struct graph_op *op)
{
    return op->known && op->place != GRAPH_NONE && op->usual_s > 0;
}

static bool is_example(const struct expected *e, const struct graph_op *op, const struct graph_step *s)
{
    return counts(op) && !(e->leave_out && e->leave_out(op, s, e->arg));
}

static void begin_steps(struct expected *e, const struct graph *g, uint32_t steps)
{
    e->steps = steps;
    e->classes = graph_classes(g);
    e->places = graph_places(g);
    e->at = e->n_groups = 0;
    map_clear(&e->groups);
    e->number = xgrow(e->number, &e->number_cap, steps, sizeof(*e->number));
    e->level = xgrow(e->level, &e->level_cap, e->places, sizeof(*e->level));
    e->factor = xgrow(e->factor, &e->factor_cap, (size_t)steps * e->classes, sizeof(*e->factor));
    for (uint32_t p = 0; p < e->places; p++)
        e->level[p] = (struct level){ .group = GRAPH_NONE, .mean_s = NAN };
    for (uint32_t back = 0; back < steps; back++) {
        struct graph_step s = graph_step_get(g, back);

        e->number[back] = s.number;
        for (uint32_t c = 0; c < e->classes; c++)
            e->factor[(size_t)back * e->classes + c] =
                (struct factor){ .now = s.pause_s > 0 || !(s.factor > 0) ? 1 : (float)s.factor };
        for (size_t i = 0; i < s.n; i++)
            if (counts(&s.op[i]) && e->level[s.op[i].place].group == GRAPH_NONE)
                e->level[s.op[i].place].group = group_of(e, g, &s.op[i]);
    }
}

/* Means of the places, and of those that do the same. */
static void find_levels(struct expected *e, const struct graph *g)
{
    for (uint32_t i = 0; i < e->n_groups; i++)
        e->group[i] = (struct group){ 0 };
    for (uint32_t p = 0; p < e->places; p++)
        e->level[p].sum = e->level[p].square = e->level[p].n = 0;
    for (uint32_t back = 0; back < e->steps; back++) {
        struct graph_step s = graph_step_get(g, back);

        for (size_t i = 0; i < s.n; i++) {
            const struct graph_op *op = &s.op[i];
            double factor, should_s;
            struct level *l;

            if (!is_example(e, op, &s))
                continue;
            l = &e->level[op->place];
            factor = factor_at(e, g, back, op->place)->now;
            should_s = factor * (isnan(l->mean_s) ? op->usual_s : l->mean_s);
            if (op->work_s > WORK_PAUSE_RATIO * should_s)
                continue;
            l->sum += op->work_s / factor;
            l->square += op->work_s / factor * op->work_s / factor;
            l->n++;
        }
    }
    for (uint32_t p = 0; p < e->places; p++) {
        struct level *l = &e->level[p];
        struct group *k;

        if (!l->n)
            continue;
        k = &e->group[l->group];
        k->sum += l->sum;
        k->n += l->n;
        k->nn += (double)l->n * l->n;
        k->within += fmax(0, l->square - l->sum * l->sum / l->n);
        k->freedom += l->n - 1;
        k->places++;
    }
}

/* Variance between the places beyond what chance makes of it: the moments of an analysis of variance. */
static void draw_together(struct expected *e)
{
    for (uint32_t i = 0; i < e->n_groups; i++) {
        struct group *k = &e->group[i];

        k->mean_s = k->n > 0 ? k->sum / k->n : NAN;
        k->within = k->freedom > 0 ? k->within / k->freedom : 0;
    }
    for (uint32_t p = 0; p < e->places; p++)
        if (e->level[p].n) {
            struct group *k = &e->group[e->level[p].group];
            double off = e->level[p].sum / e->level[p].n - k->mean_s;

            k->between += e->level[p].n * off * off;
        }
    for (uint32_t i = 0; i < e->n_groups; i++) {
        struct group *k = &e->group[i];
        double each = k->places > 1 ? k->n - k->nn / k->n : 0;

        k->between = each > 0 ? fmax(0, (k->between - (k->places - 1) * k->within) / each) : INFINITY;
    }
    for (uint32_t p = 0; p < e->places; p++) {
        struct level *l = &e->level[p];
        struct group *k;
        double own_s, chance;

        if (!l->n)
            continue;
        k = &e->group[l->group];
        own_s = l->sum / l->n;
        chance = k->within / l->n;
        l->mean_s = isinf(k->between) ? (float)own_s
                    : k->between + chance > 0
                        ? (float)(k->mean_s + (own_s - k->mean_s) * k->between / (k->between + chance))
                        : (float)k->mean_s;
    }
}

/* What all ranks did more of, class by class, and how sure that is. */
static void find_factors(struct expected *e, const struct graph *g)
{
    double squares = 0, n = 0;

    for (uint32_t back = 0; back < e->steps; back++) {
        struct graph_step s = graph_step_get(g, back);
        struct factor *f = &e->factor[(size_t)back * e->classes];

        for (uint32_t c = 0; c < e->classes; c++)
            f[c].is_s = f[c].should_s = f[c].squares = 0;
        for (size_t i = 0; i < s.n; i++) {
            const struct graph_op *op = &s.op[i];
            double should_s, off;

            if (!is_example(e, op, &s) || !(e->level[op->place].mean_s > 0))
                continue;
            f = factor_at(e, g, back, op->place);
            should_s = e->level[op->place].mean_s;
            if (op->work_s > WORK_PAUSE_RATIO * should_s * f->now)
                continue;
            f->is_s += op->work_s;
            f->should_s += should_s;
            f->squares += should_s * should_s;
            off = op->work_s / (should_s * f->now) - 1;
            squares += off * off;
            n++;
        }
    }
    e->spread = n > 1 ? sqrt(squares / n) : 0;
    for (size_t i = 0; i < (size_t)e->steps * e->classes; i++) {
        struct factor *f = &e->factor[i];

        f->next = f->should_s > 0 ? (float)(f->is_s / f->should_s) : 1;
        f->error = f->should_s > 0 ? (float)(e->spread * sqrt(f->squares) / f->should_s) : INFINITY;
    }
}

/* Steps that chance cannot tell apart have the same factor. */
static void join_factors(struct expected *e)
{
    for (uint32_t c = 0; c < e->classes; c++)
        for (uint32_t i = 0; i < e->steps; i++) {
            struct factor *f = &e->factor[(size_t)i * e->classes + c];
            double sum = 0, weight = 0;

            for (uint32_t j = 0; j < e->steps; j++) {
                const struct factor *k = &e->factor[(size_t)j * e->classes + c];

                if (k->should_s > 0 && fabsf(k->next - f->next) <=
                                           (float)APART * fmaxf(f->error * f->next, k->error * k->next)) {
                    sum += k->next;
                    weight++;
                }
            }
            f->now = weight > 0 ? (float)(sum / weight) : 1;
        }
}

uint32_t expected_steps_max(const struct graph *g)
{
    return graph_classes(g) ? (uint32_t)sqrt(PAIRS / graph_classes(g)) : UINT32_MAX;
}

void expected_take(struct expected *e, const struct graph *g, uint32_t steps,
                   bool (*leave_out)(const struct graph_op *op, const struct graph_step *s, void *arg),
                   void *arg)
{
    e->leave_out = leave_out;
    e->arg = arg;
    steps = steps < graph_steps(g) ? steps : graph_steps(g);
    e->steps = 0;
    if ((uint64_t)steps * steps * graph_classes(g) > PAIRS)
        return;
    begin_steps(e, g, steps);
    for (uint32_t i = 0; i < PASSES; i++) {
        find_levels(e, g);
        draw_together(e);
        find_factors(e, g);
        join_factors(e);
    }
}

double expected_s(struct expected *e, const struct graph *g, const struct graph_op *op,
                  const struct graph_step *s)
{
    uint32_t back = e->at;

    if (op->place >= e->places || !counts(op))
        return NAN;
    if (back >= e->steps || e->number[back] != s->number) {
        for (back = 0; back < e->steps && e->number[back] != s->number; back++)
            ;
        e->at = back;
    }
    return back < e->steps ? e->level[op->place].mean_s * factor_at(e, g, back, op->place)->now : NAN;
}

double expected_elsewhere_s(const struct expected *e, const struct graph_op *op, double factor)
{
    return op->place < e->places && counts(op) && e->steps ? e->level[op->place].mean_s * factor : NAN;
}
