#include "view/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

struct columns {
    const struct roster *roster;
    struct totals now, column[VIEW_COLUMNS];
    size_t at, n; /* where now will go; columns with now */
    double column_s, begin_s;
    struct lateness *rank;
    size_t cap; /* of rank */
    float skew_s[SKEWS];
    size_t skews;
};

struct columns *columns_new(const struct roster *roster, double now_s)
{
    struct columns *s = xcalloc(1, sizeof(*s));

    s->roster = roster;
    s->column_s = 1;
    s->begin_s = now_s;
    s->n = 1;
    return s;
}

void columns_free(struct columns *s)
{
    free(s->rank);
    free(s);
}

void columns_reserve(struct columns *s, uint32_t ranks)
{
    s->rank = xgrow(s->rank, &s->cap, ranks, sizeof(struct lateness));
}

void columns_forget(struct columns *s)
{
    if (s->cap)
        memset(s->rank, 0, s->cap * sizeof(struct lateness));
    s->skews = 0;
}

void totals_add(struct totals *a, const struct totals *b)
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

static size_t column_at(const struct columns *s, size_t back)
{
    return (s->at + VIEW_COLUMNS - back) % VIEW_COLUMNS;
}

static struct cell sum_cells(const struct columns *s, uint32_t rank, size_t columns)
{
    struct cell sum = { 0 };

    for (size_t back = 1; back < s->n && back <= columns; back++)
        add_column(&sum, &s->rank[rank], column_at(s, back));
    return sum;
}

static void sum_recent(struct columns *s)
{
    for (uint32_t r = 0; r < roster_limit(s->roster); r++)
        s->rank[r].recent = sum_cells(s, r, COLUMNS_RECENT);
}

/* The newest column is kept in `now` while it fills. */
bool columns_close(struct columns *s, double now_s, struct column *out)
{
    if (now_s > s->begin_s + VIEW_COLUMNS * s->column_s) /* a long silence */
        s->begin_s = now_s - VIEW_COLUMNS * s->column_s;
    if (now_s < s->begin_s + s->column_s)
        return false;
    *out = (struct column){ s->now, s->begin_s, s->begin_s + s->column_s };
    s->column[s->at] = s->now;
    memset(&s->now, 0, sizeof(s->now));
    for (uint32_t r = 0; r < roster_limit(s->roster); r++) {
        put_cell(&s->rank[r], s->at, &s->rank[r].now);
        memset(&s->rank[r].now, 0, sizeof(s->rank[r].now));
    }
    s->at = (s->at + 1) % VIEW_COLUMNS;
    if (s->n < VIEW_COLUMNS)
        s->n++;
    sum_recent(s);
    s->begin_s += s->column_s;
    return true;
}

/* Slow steps leave columns of a second empty: double the column, two old ones become one. */
static void widen_columns(struct columns *s)
{
    size_t kept = (s->n - 1) / 2;

    for (size_t i = 0; i < kept; i++) {
        size_t to = column_at(s, i + 1), a = column_at(s, 2 * i + 1), b = column_at(s, 2 * i + 2);
        struct totals sum = s->column[a];

        totals_add(&sum, &s->column[b]);
        s->column[to] = sum;
        for (uint32_t r = 0; r < roster_limit(s->roster); r++) {
            struct cell cell = get_cell(&s->rank[r], a);

            add_column(&cell, &s->rank[r], b);
            put_cell(&s->rank[r], to, &cell);
        }
    }
    s->n = kept + 1;
    sum_recent(s);
    s->column_s *= 2;
}

static void halve_totals(struct totals *t)
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

/* Faster steps again: of the newer half of the columns each becomes two; what they had in common stays alike.
 * When now is empty. */
static void narrow_columns(struct columns *s)
{
    size_t kept = s->n - 1 < VIEW_COLUMNS / 2 ? s->n - 1 : VIEW_COLUMNS / 2 - 1;

    for (size_t i = kept; i-- > 0;) {
        size_t from = column_at(s, i + 1), to[] = { column_at(s, 2 * i + 1), column_at(s, 2 * i + 2) };
        struct totals half = s->column[from];

        halve_totals(&half);
        s->column[to[0]] = s->column[to[1]] = half;
        for (uint32_t r = 0; r < roster_limit(s->roster); r++) {
            struct cell cell = get_cell(&s->rank[r], from);

            put_cell(&s->rank[r], to[0], &cell);
            put_cell(&s->rank[r], to[1], &cell);
        }
    }
    s->n = 2 * kept + 1;
    sum_recent(s);
    s->column_s /= 2;
}

void columns_fit(struct columns *s, double step_s, bool closed)
{
    if (s->column_s < COLUMN_MAX_S && step_s > WIDEN * s->column_s)
        widen_columns(s);
    else if (closed && s->column_s > 1 && step_s < NARROW * s->column_s)
        narrow_columns(s);
}

/* Lateness spans decades: buckets of a constant ratio, from a microsecond up to 80 s. A quantile is the
 * middle of its bucket, so that it is off by 5 % at most: two digits can be shown. */
#define BUCKET_RATIO 1.1

/* Older ones fade by halves. What does not divide is carried to the next bucket: thrown away, the rare and
 * late ones would be missing from the upper quantiles. */
static void bucket_add(struct lateness *k, double s)
{
    double at = s > 1e-6 ? log(s * 1e6) / log(BUCKET_RATIO) : 0;
    unsigned b = at < BUCKETS - 1 ? (unsigned)at : BUCKETS - 1, carry = 0;

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

void columns_quantiles(const struct columns *s, uint32_t rank, double *p50_s, double *p95_s, double *p99_s)
{
    *p50_s = quantile(&s->rank[rank], 0.5);
    *p95_s = quantile(&s->rank[rank], 0.95);
    *p99_s = quantile(&s->rank[rank], 0.99);
}

void columns_take_sample(struct columns *s, const struct sample *i)
{
    s->now.work_s += (double)(i->gap_sum_ns - i->p2p_sum_ns) * 1e-9;
    s->now.p2p_s += (double)i->p2p_sum_ns * 1e-9;
    s->now.stay_s += (double)i->stay_sum_ns * 1e-9;
}

void columns_take_joined(struct columns *s, const struct joined *j, bool main)
{
    double skew_s = j->stay_max_s - j->stay_min_s;

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

        if (r >= roster_limit(s->roster) || isnan(j->stay_s[i]))
            continue;
        s->rank[r].now.lateness_s += (float)late_s;
        s->rank[r].now.joined++;
        bucket_add(&s->rank[r], late_s);
    }
    if (j->last < roster_limit(s->roster))
        s->rank[j->last].now.last++;
}

void columns_take_step(struct columns *s, double duration_s)
{
    s->now.step_sum_s += duration_s;
    s->now.steps++;
}

double columns_width_s(const struct columns *s)
{
    return s->column_s;
}

size_t columns_rank(const struct columns *s, uint32_t rank, float *lateness_s)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t back = s->n - 1 - i;
        struct cell c = back ? get_cell(&s->rank[rank], column_at(s, back)) : s->rank[rank].now;

        lateness_s[i] = c.joined ? c.lateness_s / (float)c.joined : NAN;
    }
    return s->n;
}

float totals_synchronisation(const struct totals *t)
{
    double all = t->work_s + t->p2p_s + t->stay_s;
    double joined = t->wait_s + t->transfer_s;

    return all > 0 && joined > 0 ? (float)(t->stay_s / all * t->wait_s / joined) : NAN;
}

size_t columns_get(const struct columns *s, struct view_columns *c)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t back = s->n - 1 - i;
        const struct totals *t = back ? &s->column[column_at(s, back)] : &s->now;

        c->step_s[i] = t->steps ? (float)(t->step_sum_s / t->steps) : NAN;
        c->steps_per_s[i] = t->steps ? (float)(t->steps / t->step_sum_s) : NAN;
        c->skew_s[i] = t->skews ? (float)(t->skew_sum_s / t->skews) : NAN;
        c->synchronisation_ratio[i] = totals_synchronisation(t);
    }
    return s->n;
}

struct totals columns_totals(const struct columns *s)
{
    struct totals sum = s->now;

    for (size_t back = 1; back < s->n && back <= COLUMNS_RECENT; back++)
        totals_add(&sum, &s->column[column_at(s, back)]);
    return sum;
}

struct cell columns_newest(const struct columns *s, uint32_t rank)
{
    struct cell sum = sum_cells(s, rank, 1);

    add_cell(&sum, &s->rank[rank].now);
    return sum;
}

struct cell columns_recent(const struct columns *s, uint32_t rank)
{
    struct cell sum = s->rank[rank].recent;

    add_cell(&sum, &s->rank[rank].now);
    return sum;
}

void columns_skews(const struct columns *s, double *p50_s, double *p95_s)
{
    size_t n = s->skews < SKEWS ? s->skews : SKEWS;
    float skew_s[SKEWS];

    memcpy(skew_s, s->skew_s, n * sizeof(skew_s[0]));
    *p50_s = statistics_quantilef(skew_s, n, 0.5);
    *p95_s = statistics_quantilef(skew_s, n, 0.95);
}
