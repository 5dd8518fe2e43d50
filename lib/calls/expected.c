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
/* Standard deviations by which a piece is longer than it should be and no pause: as DETOUR_Z of
 * detect/variability.c. */
#define SPREAD_Z 5.0
/* Standard deviations beyond which squares are not by chance: of one group in 40. */
#define CHANCE_Z 2.0
/* Standard errors of the less certain one by which two steps differ: of two alike that are as certain, one
 * pair in 13 (2.5 / sqrt(2) standard deviations of their difference). */
#define APART 2.5
#define PAIRS (1u << 22) /* of steps, of all classes, that are compared: some 20 ms */

struct level { /* of a place */
    double sum, square;
    uint32_t n, seat;
    float mean_s;
};

struct seat { /* the places of a role's ranks at which the same is called for the same time in a step */
    double sum, n, nn, mean_s;
    uint32_t group, places;
};

struct group { /* the seats of a class and role */
    double sum, n, nn, mean_s;
    double within, between, of_seats; /* variance of a place's pieces, of a seat's places, and of the seats */
    double freedom;                   /* of `within` */
    double each;                      /* pieces that a difference between places of a seat counts for */
    uint32_t seats, places;
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
    struct seat *seat;
    struct group *group;
    uint32_t n_seats, n_groups;
    struct map seats, groups;
    struct map times; /* that a rank had a place of a class so far */
    double spread;    /* standard deviation of a piece over what is expected */
    double error;     /* the same of all work together */
    bool (*leave_out)(const struct graph_op *op, const struct graph_step *s, void *arg);
    void *arg;
    size_t number_cap, level_cap, factor_cap, seat_cap, group_cap;
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
    free(e->seat);
    free(e->group);
    map_free(&e->seats);
    map_free(&e->groups);
    map_free(&e->times);
    free(e);
}

double expected_most(const struct expected *e)
{
    return fmax(WORK_PAUSE_RATIO, 1 + SPREAD_Z * e->spread);
}

double expected_error(const struct expected *e)
{
    return e->error;
}

static struct factor *factor_at(const struct expected *e, const struct graph *g, uint32_t back,
                                uint32_t place)
{
    return &e->factor[(size_t)back * e->classes + graph_place_class(g, place)];
}

static uint32_t group_of(struct expected *e, uint32_t role, uint32_t class)
{
    uint64_t key = (uint64_t)role << 32 | class;
    uint32_t at = map_get(&e->groups, key);

    if (at != MAP_NONE)
        return at;
    e->group = xgrow(e->group, &e->group_cap, e->n_groups + 1, sizeof(*e->group));
    map_put(&e->groups, key, e->n_groups);
    return e->n_groups++;
}

/* The seat of a place that is new: ranks of a role call the same in the same order. */
static uint32_t seat_of(struct expected *e, const struct graph *g, const struct graph_op *op)
{
    uint32_t class = graph_place_class(g, op->place), time, at;
    uint32_t group = group_of(e, graph_role(g, op->rank), class);
    uint64_t key = (uint64_t)op->rank << 32 | class;

    time = map_get(&e->times, key);
    time = time == MAP_NONE ? 0 : time;
    map_put(&e->times, key, time + 1);
    key = (uint64_t)group << 32 | time;
    at = map_get(&e->seats, key);
    if (at != MAP_NONE)
        return at;
    e->seat = xgrow(e->seat, &e->seat_cap, e->n_seats + 1, sizeof(*e->seat));
    e->seat[e->n_seats] = (struct seat){ .group = group };
    map_put(&e->seats, key, e->n_seats);
    return e->n_seats++;
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
    e->spread = e->error = 0;
    e->at = e->n_seats = e->n_groups = 0;
    map_clear(&e->seats);
    map_clear(&e->groups);
    map_clear(&e->times);
    e->number = xgrow(e->number, &e->number_cap, steps, sizeof(*e->number));
    e->level = xgrow(e->level, &e->level_cap, e->places, sizeof(*e->level));
    e->factor = xgrow(e->factor, &e->factor_cap, (size_t)steps * e->classes, sizeof(*e->factor));
    for (uint32_t p = 0; p < e->places; p++)
        e->level[p] = (struct level){ .seat = GRAPH_NONE, .mean_s = NAN };
    for (uint32_t back = 0; back < steps; back++) {
        struct graph_step s = graph_step_get(g, back);

        e->number[back] = s.number;
        for (uint32_t c = 0; c < e->classes; c++)
            e->factor[(size_t)back * e->classes + c] =
                (struct factor){ .now = s.pause_s > 0 || !(s.factor > 0) ? 1 : (float)s.factor };
        for (size_t i = 0; i < s.n; i++)
            if (counts(&s.op[i]) && e->level[s.op[i].place].seat == GRAPH_NONE)
                e->level[s.op[i].place].seat = seat_of(e, g, &s.op[i]);
    }
}

/* Means of the places, and of those that do the same. */
static void find_levels(struct expected *e, const struct graph *g)
{
    for (uint32_t i = 0; i < e->n_groups; i++)
        e->group[i] = (struct group){ 0 };
    for (uint32_t i = 0; i < e->n_seats; i++)
        e->seat[i] = (struct seat){ .group = e->seat[i].group };
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
            if (op->work_s > expected_most(e) * should_s)
                continue;
            l->sum += op->work_s / factor;
            l->square += op->work_s / factor * op->work_s / factor;
            l->n++;
        }
    }
    for (uint32_t p = 0; p < e->places; p++) {
        struct level *l = &e->level[p];
        struct seat *t;
        struct group *k;

        if (!l->n)
            continue;
        t = &e->seat[l->seat];
        t->sum += l->sum;
        t->n += l->n;
        t->nn += (double)l->n * l->n;
        t->places++;
        k = &e->group[t->group];
        k->within += fmax(0, l->square - l->sum * l->sum / l->n);
        k->freedom += l->n - 1;
    }
}

/* A variance between means, from their squares about their mean: none where as many of that variance come to
 * as much by chance. */
static double variance_of(double squares, double variance, double freedom, double each)
{
    double by_chance = variance * freedom;

    return each > 0 && squares > by_chance * (1 + CHANCE_Z * sqrt(2 / freedom)) ? (squares - by_chance) / each
                                                                                : 0;
}

/* Variances between places of a seat and between seats, beyond what chance makes of them: the moments of a
 * nested analysis of variance (Searle, Casella & McCulloch 1992). */
static void find_variances(struct expected *e)
{
    for (uint32_t i = 0; i < e->n_seats; i++) {
        struct seat *t = &e->seat[i];
        struct group *k = &e->group[t->group];

        if (!t->places)
            continue;
        t->mean_s = t->sum / t->n;
        k->sum += t->sum;
        k->n += t->n;
        k->nn += t->n * t->n;
        k->each += t->n - t->nn / t->n;
        k->places += t->places;
        k->seats++;
    }
    for (uint32_t i = 0; i < e->n_groups; i++) {
        struct group *k = &e->group[i];

        k->mean_s = k->n > 0 ? k->sum / k->n : NAN;
        k->within = k->freedom > 0 ? k->within / k->freedom : 0;
    }
    for (uint32_t p = 0; p < e->places; p++)
        if (e->level[p].n) {
            struct seat *t = &e->seat[e->level[p].seat];
            double off = e->level[p].sum / e->level[p].n - t->mean_s;

            e->group[t->group].between += e->level[p].n * off * off;
        }
    for (uint32_t i = 0; i < e->n_groups; i++) {
        struct group *k = &e->group[i];

        k->between = variance_of(k->between, k->within, k->places - k->seats, k->each);
    }
    for (uint32_t i = 0; i < e->n_seats; i++) {
        struct seat *t = &e->seat[i];
        struct group *k = &e->group[t->group];

        if (t->places)
            k->of_seats += t->n * (t->mean_s - k->mean_s) * (t->mean_s - k->mean_s);
    }
    for (uint32_t i = 0; i < e->n_groups; i++) {
        struct group *k = &e->group[i];

        if (k->seats)
            k->of_seats = variance_of(k->of_seats, k->within + k->n / k->places * k->between, k->seats - 1,
                                      k->n - k->nn / k->n);
    }
}

/* A mean of its own, as far as its like differ by more than chance. */
static double drawn(double own_s, double mean_s, double between, double chance)
{
    return between + chance > 0 ? mean_s + (own_s - mean_s) * between / (between + chance) : mean_s;
}

static void draw_together(struct expected *e)
{
    find_variances(e);
    for (uint32_t i = 0; i < e->n_seats; i++) {
        struct seat *t = &e->seat[i];
        const struct group *k = &e->group[t->group];

        if (t->places)
            t->mean_s =
                drawn(t->mean_s, k->mean_s, k->of_seats, (k->within + k->n / k->places * k->between) / t->n);
    }
    for (uint32_t p = 0; p < e->places; p++) {
        struct level *l = &e->level[p];
        const struct seat *t;
        const struct group *k;

        if (!l->n)
            continue;
        t = &e->seat[l->seat];
        k = &e->group[t->group];
        l->mean_s = (float)drawn(l->sum / l->n, t->mean_s, k->between, k->within / l->n);
    }
}

/* What all ranks did more of, class by class, and how sure that is. */
static void find_factors(struct expected *e, const struct graph *g)
{
    double squares = 0, n = 0, all_s = 0, all_squares = 0;

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
            if (op->work_s > expected_most(e) * should_s * f->now)
                continue;
            f->is_s += op->work_s;
            f->should_s += should_s;
            f->squares += should_s * should_s;
            off = op->work_s / (should_s * f->now) - 1;
            squares += off * off;
            n++;
            all_s += should_s;
            all_squares += should_s * should_s;
        }
    }
    e->spread = n > 1 ? sqrt(squares / n) : 0;
    e->error = n > 1 ? e->spread * sqrt(all_squares) / all_s : 0;
    for (size_t i = 0; i < (size_t)e->steps * e->classes; i++) {
        struct factor *f = &e->factor[i];

        /* None did anything of it: calls are missing there, and it says nothing of what they do. */
        if (!(f->is_s > 0))
            f->should_s = 0;
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
