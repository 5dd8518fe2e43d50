/* view_history.c - a view's columns of history, of all ranks and of each rank's lateness; the last ones are "now". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/xalloc.h"
#include "model/statistics.h"

#define BUCKETS 192u /* of lateness */
#define SKEWS   512u
/* A column is widened for steps longer than this share of it, and narrowed again for shorter ones. */
#define WIDEN        0.7
#define NARROW       0.15
#define COLUMN_MAX_S 64

struct lateness { /* of a rank */
    struct cell now,
        recent; /* recent: the sum of the newest columns that are over, so that an answer looks at one line */
    uint16_t late[VIEW_COLUMNS]; /* of each column that is over: mean lateness, as a short float, ... */
    uint8_t joined[VIEW_COLUMNS], last[VIEW_COLUMNS]; /* ... and how many, scaled down where there are many */
    uint16_t bucket[BUCKETS], bucketed;               /* for its quantiles */
};

struct view_history {
    struct totals now, column[VIEW_COLUMNS];
    size_t at, n; /* where now will go; columns with now */
    double column_s, begin_s;
    struct lateness *rank;
    size_t cap; /* of rank */
    float skew_s[SKEWS];
    size_t skews;
};

struct view_history *view_history_new(double now_s)
{
    struct view_history *s = xcalloc(1, sizeof(*s));

    s->column_s = 1;
    s->begin_s = now_s;
    s->n = 1;
    return s;
}

void view_history_free(struct view_history *s)
{
    free(s->rank);
    free(s);
}

void view_history_reserve(struct view *v, uint32_t ranks)
{
    v->history->rank = xgrow(v->history->rank, &v->history->cap, ranks, sizeof(struct lateness));
}

void view_history_forget(struct view *v)
{
    if (v->history->cap)
        memset(v->history->rank, 0, v->history->cap * sizeof(struct lateness));
    v->history->skews = 0;
}

void view_totals_add(struct totals *a, const struct totals *b)
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

/* The upper half of a float (bfloat16): seconds to 0.4 %, for each rank and column. */
static uint16_t short_of(float s)
{
    uint32_t bits;

    memcpy(&bits, &s, sizeof(bits));
    return (uint16_t)((bits + 0x8000u) >> 16);
}

static float float_of(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float s;

    memcpy(&s, &bits, sizeof(s));
    return s;
}

#define CELL_MAX 255

/* Only the ratios of a column that is over matter. */
static void put_cell(struct lateness *k, size_t at, const struct cell *c)
{
    uint32_t scale = (uint32_t)(c->joined + CELL_MAX) / CELL_MAX;

    scale = scale ? scale : 1;
    k->late[at] = short_of(c->joined ? c->lateness_s / c->joined : 0);
    k->joined[at] = (uint8_t)((c->joined + scale - 1) / scale);
    k->last[at] = (uint8_t)(c->last / scale);
}

static struct cell get_cell(const struct lateness *k, size_t at)
{
    return (struct cell){ float_of(k->late[at]) * k->joined[at], k->joined[at], k->last[at] };
}

static void add_column(struct cell *sum, const struct lateness *k, size_t at)
{
    struct cell c = get_cell(k, at);

    add_cell(sum, &c);
}

static size_t column_at(const struct view_history *s, size_t back)
{
    return (s->at + VIEW_COLUMNS - back) % VIEW_COLUMNS;
}

static struct cell sum_cells(const struct view_history *s, uint32_t rank, size_t columns)
{
    struct cell sum = { 0 };

    for (size_t back = 1; back < s->n && back <= columns; back++)
        add_column(&sum, &s->rank[rank], column_at(s, back));
    return sum;
}

static void sum_recent(struct view *v)
{
    struct view_history *s = v->history;

    for (uint32_t r = 0; r < view_rank_limit(v); r++)
        s->rank[r].recent = sum_cells(s, r, RECENT);
}

/* The newest column is kept in `now` while it fills. */
static void next_column(struct view *v)
{
    struct view_history *s = v->history;

    view_series_take(v, &s->now, s->begin_s, s->begin_s + s->column_s);
    if (s->now.work_s + s->now.stay_s > 0) { /* else no sample came: what was recent remains so */
        view_sums_fade(v);
        view_comms_fade(v);
    }
    s->column[s->at] = s->now;
    memset(&s->now, 0, sizeof(s->now));
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        put_cell(&s->rank[r], s->at, &s->rank[r].now);
        memset(&s->rank[r].now, 0, sizeof(s->rank[r].now));
    }
    s->at = (s->at + 1) % VIEW_COLUMNS;
    if (s->n < VIEW_COLUMNS)
        s->n++;
    sum_recent(v);
    s->begin_s += s->column_s;
}

/* Slow steps leave columns of a second empty: double the column, two old ones become one. */
static void widen_columns(struct view *v)
{
    struct view_history *s = v->history;
    size_t kept = (s->n - 1) / 2;

    for (size_t i = 0; i < kept; i++) {
        size_t to = column_at(s, i + 1), a = column_at(s, 2 * i + 1), b = column_at(s, 2 * i + 2);
        struct totals sum = s->column[a];

        view_totals_add(&sum, &s->column[b]);
        s->column[to] = sum;
        for (uint32_t r = 0; r < view_rank_limit(v); r++) {
            struct cell cell = get_cell(&s->rank[r], a);

            add_column(&cell, &s->rank[r], b);
            put_cell(&s->rank[r], to, &cell);
        }
    }
    s->n = kept + 1;
    sum_recent(v);
    s->column_s *= 2;
}

static void halve(struct totals *t)
{
    t->wait_s /= 2;
    t->transfer_s /= 2;
    t->work_s /= 2;
    t->p2p_s /= 2;
    t->stay_s /= 2;
    t->skew_sum_s /= 2;
    t->step_sum_s /= 2;
    t->skews /= 2;
    t->steps /= 2;
}

/* Faster steps again: of the newer half of the columns each becomes two; what they had in common stays alike.  When now is empty. */
static void narrow_columns(struct view *v)
{
    struct view_history *s = v->history;
    size_t kept = s->n - 1 < VIEW_COLUMNS / 2 ? s->n - 1 : VIEW_COLUMNS / 2 - 1;

    for (size_t i = kept; i-- > 0;) {
        size_t from = column_at(s, i + 1), to[] = { column_at(s, 2 * i + 1), column_at(s, 2 * i + 2) };
        struct totals half = s->column[from];

        halve(&half);
        s->column[to[0]] = s->column[to[1]] = half;
        for (uint32_t r = 0; r < view_rank_limit(v); r++) {
            struct cell cell = get_cell(&s->rank[r], from);

            put_cell(&s->rank[r], to[0], &cell);
            put_cell(&s->rank[r], to[1], &cell);
        }
    }
    s->n = 2 * kept + 1;
    sum_recent(v);
    s->column_s /= 2;
}

static void fit_columns(struct view *v, double now_s, bool closed)
{
    struct view_history *s = v->history;
    double step_s = view_steps_median_s(v, now_s);

    if (s->column_s < COLUMN_MAX_S && step_s > WIDEN * s->column_s)
        widen_columns(v);
    else if (closed && s->column_s > 1 && step_s < NARROW * s->column_s)
        narrow_columns(v);
}

void view_history_roll(struct view *v, double now_s)
{
    bool closed = false;

    struct view_history *s = v->history;

    if (now_s > s->begin_s + VIEW_COLUMNS * s->column_s) /* a long silence */
        s->begin_s = now_s - VIEW_COLUMNS * s->column_s;
    for (; now_s >= s->begin_s + s->column_s; closed = true)
        next_column(v);
    fit_columns(v, now_s, closed);
}

/* Lateness spans decades: buckets of a constant ratio, from a microsecond up to 80 s. A quantile is the
 * middle of its bucket, so that it is off by 5 % at most: two digits can be shown. */
#define BUCKET_RATIO 1.1

static unsigned bucket_of(double s)
{
    double b = s > 1e-6 ? log(s * 1e6) / log(BUCKET_RATIO) : 0;

    return b < BUCKETS - 1 ? (unsigned)b : BUCKETS - 1;
}

/* Older ones fade by halves. What does not divide is carried to the next bucket: thrown away, the rare and
 * late ones would be missing from the upper quantiles. */
static void bucket_add(struct lateness *k, double s)
{
    unsigned b = bucket_of(s), carry = 0;

    k->bucket[b]++;
    if (++k->bucketed < 4096)
        return;
    k->bucketed = 0;
    for (b = 0; b < BUCKETS; b++) {
        carry += k->bucket[b];
        k->bucket[b] = (uint16_t)(carry / 2);
        k->bucketed += k->bucket[b];
        carry %= 2;
    }
}

static double quantile(const struct lateness *k, double q)
{
    double want = q * k->bucketed, sum = 0;

    if (!k->bucketed)
        return NAN;
    for (unsigned b = 0; b < BUCKETS; b++) {
        if (sum + k->bucket[b] >= want && k->bucket[b])
            return b ? 1e-6 * pow(BUCKET_RATIO, b + 0.5) : 1e-6;
        sum += k->bucket[b];
    }
    return NAN;
}

void view_history_quantiles(const struct view *v, uint32_t rank, struct view_rank_figures *f)
{
    const struct lateness *k = &v->history->rank[rank];

    f->lateness_p50_s = quantile(k, 0.5);
    f->lateness_p95_s = quantile(k, 0.95);
    f->lateness_p99_s = quantile(k, 0.99);
}

void view_history_take_sample(struct view *v, const struct sample *s)
{
    struct totals *now = &v->history->now;

    now->work_s += (double)(s->gap_sum_ns - s->p2p_sum_ns) * 1e-9;
    now->p2p_s += (double)s->p2p_sum_ns * 1e-9;
    now->stay_s += (double)s->stay_sum_ns * 1e-9;
}

void view_history_take_joined(struct view *v, const struct joined *j, bool main)
{
    struct view_history *s = v->history;
    double skew_s = j->stay_max_s - j->stay_min_s;

    if (view_stood_still(v, v->now_s, j->stay_max_s))
        return;
    s->now.wait_s += (j->stay_sum_s - j->present * j->stay_min_s) * j->n;
    s->now.transfer_s += j->stay_min_s * j->present * j->n;
    if (main) {
        s->now.skew_sum_s += skew_s;
        s->now.skews++;
        s->skew_s[s->skews++ % SKEWS] = (float)skew_s;
    }
    for (uint32_t i = 0; i < j->slots; i++) {
        uint32_t r = j->rank[i];
        double late_s = j->stay_max_s - j->stay_s[i];

        if (r >= view_rank_limit(v) || isnan(j->stay_s[i]))
            continue;
        s->rank[r].now.lateness_s += (float)late_s;
        s->rank[r].now.joined++;
        bucket_add(&s->rank[r], late_s);
    }
    if (j->last < view_rank_limit(v))
        s->rank[j->last].now.last++;
}

void view_history_take_step(struct view *v, double duration_s)
{
    v->history->now.step_sum_s += duration_s;
    v->history->now.steps++;
}

double view_column_s(const struct view *v)
{
    return v->history->column_s;
}

size_t view_rank_columns(const struct view *v, uint32_t rank, float *lateness_s)
{
    const struct view_history *s = v->history;

    for (size_t i = 0; i < s->n; i++) {
        size_t back = s->n - 1 - i;
        struct cell c = back ? get_cell(&s->rank[rank], column_at(s, back)) : s->rank[rank].now;

        lateness_s[i] = c.joined ? c.lateness_s / (float)c.joined : NAN;
    }
    return s->n;
}

float view_totals_synchronisation(const struct totals *t)
{
    double all = t->work_s + t->p2p_s + t->stay_s;
    double joined = t->wait_s + t->transfer_s;

    return all > 0 && joined > 0 ? (float)(t->stay_s / all * t->wait_s / joined) : NAN;
}

size_t view_columns_get(const struct view *v, struct view_columns *c)
{
    const struct view_history *s = v->history;

    for (size_t i = 0; i < s->n; i++) {
        size_t back = s->n - 1 - i;
        const struct totals *t = back ? &s->column[column_at(s, back)] : &s->now;

        c->step_s[i] = t->steps ? (float)(t->step_sum_s / t->steps) : NAN;
        c->steps_per_s[i] = t->steps ? (float)(t->steps / t->step_sum_s) : NAN;
        c->skew_s[i] = t->skews ? (float)(t->skew_sum_s / t->skews) : NAN;
        c->synchronisation_ratio[i] = view_totals_synchronisation(t);
    }
    return s->n;
}

struct totals view_history_totals(const struct view *v)
{
    const struct view_history *s = v->history;
    struct totals sum = s->now;

    for (size_t back = 1; back < s->n && back <= RECENT; back++)
        view_totals_add(&sum, &s->column[column_at(s, back)]);
    return sum;
}

struct cell view_history_newest(const struct view *v, uint32_t rank)
{
    struct cell sum = sum_cells(v->history, rank, 1);

    add_cell(&sum, &v->history->rank[rank].now);
    return sum;
}

struct cell view_history_recent(const struct view *v, uint32_t rank)
{
    struct cell sum = v->history->rank[rank].recent;

    add_cell(&sum, &v->history->rank[rank].now);
    return sum;
}

void view_history_skews(const struct view *v, struct view_figures *f)
{
    size_t n = v->history->skews < SKEWS ? v->history->skews : SKEWS;
    float skew_s[SKEWS];

    memcpy(skew_s, v->history->skew_s, n * sizeof(skew_s[0]));
    f->skew_p50_s = statistics_quantilef(skew_s, n, 0.5);
    f->skew_p95_s = statistics_quantilef(skew_s, n, 0.95);
}
