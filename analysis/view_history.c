/* view_history.c - a view's columns of history, and the last ones as "now". */
#include <math.h>
#include <string.h>

#include "analysis/view_private.h"

void view_add_totals(struct totals *a, const struct totals *b)
{
    a->wait_s += b->wait_s;
    a->transfer_s += b->transfer_s;
    a->work_s += b->work_s;
    a->p2p_s += b->p2p_s;
    a->stay_s += b->stay_s;
    a->skew_sum_s += b->skew_sum_s;
    a->step_sum_s += b->step_sum_s;
    a->skews += b->skews;
    a->steps += b->steps;
}

static void add_cell(struct cell *a, const struct cell *b)
{
    a->lateness_s += b->lateness_s;
    a->joined += b->joined;
    a->last += b->last;
}

#define CELL_MAX 255

/* Only the ratios of a cell laid down matter. */
static void lay_down(struct view_rank *k, size_t at, const struct cell *c)
{
    uint32_t scale = (uint32_t)(c->joined + CELL_MAX) / CELL_MAX;

    scale = scale ? scale : 1;
    k->late_s[at] = c->joined ? c->lateness_s / c->joined : 0;
    k->joined[at] = (uint8_t)((c->joined + scale - 1) / scale);
    k->last[at] = (uint8_t)(c->last / scale);
}

static struct cell laid_down(const struct view_rank *k, size_t at)
{
    return (struct cell){ k->late_s[at] * k->joined[at], k->joined[at], k->last[at] };
}

static void add_laid_down(struct cell *sum, const struct view_rank *k, size_t at)
{
    struct cell c = laid_down(k, at);

    add_cell(sum, &c);
}

static size_t column_at(const struct view *v, size_t back)
{
    return (v->column + VIEW_COLUMNS - back) % VIEW_COLUMNS;
}

/* The newest column is kept in `now` while it fills, and laid down when it is over. */
static void next_column(struct view *v)
{
    view_series_add(v, &v->now, v->column_begin_s, v->column_begin_s + v->column_s);
    view_fade_sums(v);
    v->columns[v->column] = v->now;
    memset(&v->now, 0, sizeof(v->now));
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        lay_down(&v->rank[r], v->column, &v->rank[r].now);
        memset(&v->rank[r].now, 0, sizeof(v->rank[r].now));
    }
    v->column = (v->column + 1) % VIEW_COLUMNS;
    if (v->n_columns < VIEW_COLUMNS)
        v->n_columns++;
    v->column_begin_s += v->column_s;
}

/* Slow steps leave holes in columns of a second: double the column, two old ones become one. */
static void widen_columns(struct view *v)
{
    size_t kept = (v->n_columns - 1) / 2;

    for (size_t i = 0; i < kept; i++) {
        size_t to = column_at(v, i + 1), a = column_at(v, 2 * i + 1), b = column_at(v, 2 * i + 2);
        struct totals sum = v->columns[a];

        view_add_totals(&sum, &v->columns[b]);
        v->columns[to] = sum;
        for (uint32_t r = 0; r < v->n_ranks; r++) {
            struct cell cell = laid_down(&v->rank[r], a);

            add_laid_down(&cell, &v->rank[r], b);
            lay_down(&v->rank[r], to, &cell);
        }
    }
    v->n_columns = kept + 1;
    v->column_s *= 2;
}

void view_roll_columns(struct view *v, double now_s)
{
    if (now_s > v->column_begin_s + VIEW_COLUMNS * v->column_s) /* a long silence */
        v->column_begin_s = now_s - VIEW_COLUMNS * v->column_s;
    while (now_s >= v->column_begin_s + v->column_s)
        next_column(v);
    if (v->column_s < 64 && view_step_mean_s(v, now_s) > 0.7 * v->column_s)
        widen_columns(v);
}

double view_column_s(const struct view *v)
{
    return v->column_s;
}

size_t view_rank_columns(const struct view *v, uint32_t rank, float *lateness_s)
{
    for (size_t i = 0; i < v->n_columns; i++) {
        size_t back = v->n_columns - 1 - i;
        struct cell c = back ? laid_down(&v->rank[rank], column_at(v, back)) : v->rank[rank].now;

        lateness_s[i] = c.joined ? c.lateness_s / (float)c.joined : NAN;
    }
    return v->n_columns;
}

float view_lost_ratio(const struct totals *t)
{
    double all = t->work_s + t->p2p_s + t->stay_s;
    double joined = t->wait_s + t->transfer_s;

    return all > 0 && joined > 0 ? (float)(t->stay_s / all * t->wait_s / joined) : NAN;
}

size_t view_columns_get(const struct view *v, struct view_columns *c)
{
    for (size_t i = 0; i < v->n_columns; i++) {
        size_t back = v->n_columns - 1 - i;
        const struct totals *t = back ? &v->columns[column_at(v, back)] : &v->now;

        c->step_s[i] = t->steps ? (float)(t->step_sum_s / t->steps) : NAN;
        c->steps_per_s[i] = t->steps ? (float)(t->steps / t->step_sum_s) : NAN;
        c->skew_s[i] = t->skews ? (float)(t->skew_sum_s / t->skews) : NAN;
        c->lost_ratio[i] = view_lost_ratio(t);
    }
    return v->n_columns;
}

void view_recent_totals(const struct view *v, struct totals *sum)
{
    *sum = v->now;
    for (size_t back = 1; back < v->n_columns && back <= RECENT; back++)
        view_add_totals(sum, &v->columns[column_at(v, back)]);
}

void view_newest_cell(const struct view *v, uint32_t rank, struct cell *sum)
{
    *sum = v->rank[rank].now;
    if (v->n_columns > 1)
        add_laid_down(sum, &v->rank[rank], column_at(v, 1));
}

void view_recent_cell(const struct view *v, uint32_t rank, struct cell *sum)
{
    *sum = v->rank[rank].now;
    for (size_t back = 1; back < v->n_columns && back <= RECENT; back++)
        add_laid_down(sum, &v->rank[rank], column_at(v, back));
}
