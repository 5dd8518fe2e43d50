#include "calls/transfer_excess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "model/statistics.h"

#define BEFORE_MAX 64u /* steps that show what was before: as many as COMPARED_STEPS */
/* Of them, so that their spread says how uncertain their mean is: the error of a spread is 1 / sqrt(2 (n -
 * 1)) of it, which is half with three. */
#define USUAL_STEPS_MIN 4u
/* times what the transfers of a step take in the median: it is not usual; as WORK_PAUSE_RATIO is of work */
#define UNUSUAL_RATIO  2.2
#define COMPARED_STEPS 64u /* newest steps that count: as many as a price stands on */
#define RECENT_MIN     2u  /* one step may be slow by chance */
/* Standard errors of the excess: by chance one way in 30,000, as many are looked at for each culprit. An
 * excess that was there stays while it is certain by EXCESS_LEFT_Z, so that one near the limit does not come
 * and go. */
#define EXCESS_Z      4.0
#define EXCESS_LEFT_Z 2.0

#define NOT_LOOKED 255u

/* The transfers of one way, step by step, over what they should have taken. */
struct way_sums {
    double is_s, should_s; /* means over the steps */
    double mean, square;   /* of the ratio: mean, mean square about it */
    double error;          /* of what they should have taken, as a share of it */
    uint32_t n;            /* steps */
    bool exceeds;
};

struct transfer_excess {
    uint32_t from, to; /* number of the first step that may be longer, of the newest that was looked at */
    bool known;        /* what was before */
    struct links_slow other; /* what is left out */
    uint32_t kinds;
    uint8_t *way; /* by kind */
    struct before {
        float s, variance; /* what it took before, 0: not known; of that mean */
        uint32_t n, in_step;
    } * kind;
    size_t way_cap, kind_cap;
    struct way_sums before[TRANSFER_EXCESS_WAYS], now[TRANSFER_EXCESS_WAYS];
};

struct transfer_excess *transfer_excess_new(void)
{
    return xcalloc(1, sizeof(struct transfer_excess));
}

void transfer_excess_reset(struct transfer_excess *l)
{
    free(l->way);
    free(l->kind);
    memset(l, 0, sizeof(*l));
}

void transfer_excess_free(struct transfer_excess *l)
{
    if (!l)
        return;
    transfer_excess_reset(l);
    free(l);
}

struct comparison {
    struct transfer_excess *l;
    const struct graph *g;
    transfer_excess_way *way;
    void *arg;
    const struct links_slow *other;
};

static uint32_t way_of(const struct comparison *k, uint32_t kind)
{
    uint8_t *way = &k->l->way[kind];

    if (*way == NOT_LOOKED)
        *way = (uint8_t)k->way(graph_kind_get(k->g, kind), k->arg);
    return *way == TRANSFER_EXCESS_NONE || (k->other && links_has(k->other, graph_kind_get(k->g, kind)))
               ? TRANSFER_EXCESS_NONE
               : *way;
}

/* The next transfer of the step that is looked at, from operation *at on; NULL: there is none.  A message
 * that a late receiver found was there after its usual time, but of a collective that nobody waited for
 * nothing is known. */
static const struct graph_meeting *next_transfer(const struct comparison *k, const struct graph_step *step,
                                                 size_t *at)
{
    while (*at < step->n) {
        const struct graph_op *op = &step->op[(*at)++];
        const struct graph_meeting *m = op->first ? graph_meeting_get(k->g, op->meeting) : NULL;

        if (m && (!isnan(m->transfer_s) || graph_kind_get(k->g, m->kind)->message) &&
            way_of(k, m->kind) != TRANSFER_EXCESS_NONE)
            return m;
    }
    return NULL;
}

static void look_at_step(const struct comparison *k, uint32_t back, struct way_sums *taken)
{
    struct graph_step step = graph_step_get(k->g, back);
    double is_s[TRANSFER_EXCESS_WAYS] = { 0 }, should_s[TRANSFER_EXCESS_WAYS] = { 0 },
           square[TRANSFER_EXCESS_WAYS] = { 0 };
    const struct graph_meeting *m;

    for (size_t i = 0; (m = next_transfer(k, &step, &i));) {
        uint32_t way = k->l->way[m->kind];
        struct before *b = &k->l->kind[m->kind];

        if (!b->n)
            continue;
        is_s[way] += m->over_s;
        should_s[way] += b->s;
        square[way] += (2 * b->in_step + 1) * b->variance; /* they have that error in common */
        b->in_step++;
    }
    for (size_t i = 0; (m = next_transfer(k, &step, &i));)
        k->l->kind[m->kind].in_step = 0;
    for (uint32_t i = 0; i < TRANSFER_EXCESS_WAYS; i++) {
        struct way_sums *t = &taken[i];
        /* means over all steps at first, then over the newest */
        double share = 1.0 / (t->n < COMPARED_STEPS ? t->n + 1 : COMPARED_STEPS), off;

        if (!(should_s[i] > 0))
            continue;
        off = is_s[i] / should_s[i] - t->mean;
        t->is_s += share * (is_s[i] - t->is_s);
        t->should_s += share * (should_s[i] - t->should_s);
        t->mean += share * off;
        t->square += share * ((1 - share) * off * off - t->square);
        t->error += share * (sqrt(square[i]) / should_s[i] - t->error);
        t->n++;
    }
}

/* Of the steps from `back` on, those that show what was usual; returns how many.  One in which all stand
 * still, as often the first one does, would be most of the mean. */
static uint32_t usual_steps(const struct comparison *k, uint32_t back, uint32_t usual[BEFORE_MAX])
{
    float mean[BEFORE_MAX], sorted[BEFORE_MAX], max_s = 0;
    const struct graph_meeting *m;
    uint32_t n = 0, kept = 0;

    for (; back < graph_steps(k->g) && n < BEFORE_MAX; back++) {
        struct graph_step step = graph_step_get(k->g, back);
        double sum = 0;
        uint32_t transfers = 0;

        for (size_t at = 0; (m = next_transfer(k, &step, &at)); transfers++)
            sum += m->over_s;
        if (!transfers || isnan(sum))
            continue;
        mean[n] = (float)(sum / transfers);
        usual[n++] = back;
    }
    memcpy(sorted, mean, n * sizeof(*sorted));
    if (n)
        max_s = (float)UNUSUAL_RATIO * statistics_medianf(sorted, n);
    for (uint32_t i = 0; i < n; i++)
        if (mean[i] <= max_s)
            usual[kept++] = usual[i];
    return kept;
}

/* What transfers took in the steps from `back` on. */
static void find_before(const struct comparison *k, uint32_t back)
{
    uint32_t usual[BEFORE_MAX], n = usual_steps(k, back, usual);
    const struct graph_meeting *m;

    memset(k->l->kind, 0, k->l->kinds * sizeof(*k->l->kind));
    for (uint32_t i = 0; i < n; i++) {
        struct graph_step step = graph_step_get(k->g, usual[i]);

        for (size_t at = 0; (m = next_transfer(k, &step, &at));) {
            struct before *b = &k->l->kind[m->kind];
            double s = m->over_s, off = s - b->s;

            b->n++;
            b->s += (float)(off / b->n);
            b->variance += (float)(off * (s - b->s)); /* the sum of squares until all are taken */
        }
    }
    for (uint32_t i = 0; i < k->l->kinds; i++) {
        struct before *b = &k->l->kind[i];

        b->variance = b->n > 1 ? b->variance / (float)(b->n - 1) / (float)b->n : b->s * b->s;
    }
    memset(k->l->before, 0, sizeof(k->l->before));
    memset(k->l->now, 0, sizeof(k->l->now));
    for (uint32_t i = n; i-- > 0;)
        look_at_step(k, usual[i], k->l->before);
    k->l->known = true;
}

/* The first step back, from the newest on, that is older than this number; graph_steps() where there is none.
 */
static uint32_t back_before(const struct graph *g, uint32_t number)
{
    uint32_t back = 0;

    while (back < graph_steps(g) && graph_step_about(g, back).number >= number)
        back++;
    return back;
}

/* The quantile of Student's distribution that belongs to z of the normal one (Abramowitz and Stegun
 * 1964, 26.7.5): how much few steps vary is poorly known. */
static double student(double z, double freedom)
{
    double zz = z * z;

    return z + z * (zz + 1) / (4 * freedom) + z * ((5 * zz + 16) * zz + 3) / (96 * freedom * freedom);
}

/* The excess, less or more this many standard errors; NaN: too little was seen. */
static double excess_within(const struct way_sums *t, const struct way_sums *before, double z)
{
    double n = t->n < COMPARED_STEPS ? t->n : COMPARED_STEPS, freedom = before->n - 1.0, square, error;

    if (before->n < USUAL_STEPS_MIN || t->n < RECENT_MIN)
        return NAN;
    square = before->square * before->n / freedom;
    error = sqrt(fmax(square / before->n, t->error * t->error) + fmax(square, t->square) / n);
    return t->is_s / t->should_s - 1 + copysign(student(fabs(z), freedom), z) * error;
}

void transfer_excess_update(struct transfer_excess *l, const struct graph *g, uint32_t from, uint32_t to,
                            transfer_excess_way *way, void *arg, const struct links_slow *other)
{
    struct comparison k = { l, g, way, arg, other };
    struct links_slow left_out = other ? *other : (struct links_slow){ 0 };
    uint32_t before = back_before(g, from);

    l->way = xgrow(l->way, &l->way_cap, graph_kinds(g), sizeof(*l->way));
    l->kind = xgrow(l->kind, &l->kind_cap, graph_kinds(g), sizeof(*l->kind));
    for (; l->kinds < graph_kinds(g); l->kinds++) {
        l->way[l->kinds] = NOT_LOOKED;
        l->kind[l->kinds] = (struct before){ 0 };
    }
    if ((!l->known || from != l->from || left_out.standing != l->other.standing ||
         !links_same_place(&left_out, &l->other)) &&
        before + USUAL_STEPS_MIN <= graph_steps(g)) {
        l->other = left_out;
        find_before(&k, before);
        l->from = from;
        l->to = from - 1;
    }
    if (!l->known)
        return;
    for (uint32_t back = back_before(g, l->to + 1); back-- > 0 && graph_step_about(g, back).number <= to;) {
        look_at_step(&k, back, l->now);
        l->to = graph_step_about(g, back).number;
    }
    for (uint32_t i = 0; i < TRANSFER_EXCESS_WAYS; i++) {
        struct way_sums *t = &l->now[i];
        double min = excess_within(t, &l->before[i], t->exceeds ? -EXCESS_LEFT_Z : -EXCESS_Z);

        if (!isnan(min))
            t->exceeds = min > 0;
    }
}

double transfer_excess_of_way(const struct transfer_excess *l, uint32_t way)
{
    const struct way_sums *t = &l->now[way];

    return t->exceeds ? t->is_s / t->should_s - 1 : 0;
}

double transfer_excess_max(const struct transfer_excess *l, uint32_t way)
{
    return excess_within(&l->now[way], &l->before[way], EXCESS_LEFT_Z);
}

double transfer_excess_of_kind(const struct transfer_excess *l, uint32_t kind)
{
    uint32_t way = kind < l->kinds ? l->way[kind] : TRANSFER_EXCESS_NONE;

    return way < TRANSFER_EXCESS_WAYS ? transfer_excess_of_way(l, way) : 0;
}
