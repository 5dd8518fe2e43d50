/* view_efficiency.c - what a view's ranks spend their time on, and on whom they wait.
 *
 * Sums are kept of the run, and of the last columns. The latter lose one part in RECENT whenever a column
 * ends, which weighs the past like a window of RECENT columns and needs no history of each rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/delay.h"
#include "analysis/view_private.h"
#include "common/xalloc.h"

#define FADE (1 - 1.0 / RECENT)

struct sums {
    struct {
        struct rank_sums recent, run;
        struct rank_delays {
            double wait_s, delay_s, collectives; /* recent, of those joined, each for those that it stands for */
        } delays;
    } * rank;
    size_t cap;
    struct joined_sums recent, run;
    double stay_s; /* recent, of all ranks */
    struct efficiency_sums before; /* of the run, in an earlier view */
    struct delay *delay; /* of the collective being shared out, and as much to sort them */
    size_t delay_cap;
};

struct sums *view_sums_new(void)
{
    return xcalloc(1, sizeof(struct sums));
}

void view_sums_free(struct sums *s)
{
    free(s->rank);
    free(s->delay);
    free(s);
}

void view_sums_reserve(struct view *v, uint32_t ranks)
{
    v->sums->rank = xgrow(v->sums->rank, &v->sums->cap, ranks, sizeof(*v->sums->rank));
}

void view_sums_forget(struct view *v)
{
    struct sums *s = v->sums;

    if (s->cap)
        memset(s->rank, 0, s->cap * sizeof(*s->rank));
    memset(&s->recent, 0, sizeof(s->recent));
    memset(&s->run, 0, sizeof(s->run));
    s->stay_s = 0;
    memset(&s->before, 0, sizeof(s->before));
}

const struct rank_sums *view_sums_rank(const struct view *v, uint32_t rank, bool run)
{
    return run ? &v->sums->rank[rank].run : &v->sums->rank[rank].recent;
}

double view_fade(double sum)
{
    return sum * FADE;
}

void view_joined_fade(struct joined_sums *s)
{
    s->wait_s *= FADE;
    s->transfer_s *= FADE;
}

void view_joined_add(struct joined_sums *a, const struct joined_sums *b)
{
    a->wait_s += b->wait_s;
    a->transfer_s += b->transfer_s;
}

/* Below, the last columns have faded away: what is left of them is rounding. */
#define FADED_S 1e-9

static void fade_rank(struct rank_sums *s)
{
    if (s->time_s < FADED_S) {
        memset(s, 0, sizeof(*s));
        return;
    }
    s->work_s *= FADE;
    s->stay_s *= FADE;
    s->time_s *= FADE;
}

static void fade_delays(struct rank_delays *d)
{
    d->wait_s *= FADE;
    d->delay_s *= FADE;
    d->collectives *= FADE;
}

void view_sums_fade(struct view *v)
{
    view_joined_fade(&v->sums->recent);
    v->sums->stay_s *= FADE;
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        fade_rank(&v->sums->rank[r].recent);
        fade_delays(&v->sums->rank[r].delays);
    }
}

static void add_sample(struct rank_sums *to, double work_s, double stay_s, double time_s)
{
    to->work_s += work_s;
    to->stay_s += stay_s;
    to->time_s += time_s;
}

void view_sums_take_sample(struct view *v, const struct sample *s)
{
    double stay_s = (double)s->stay_sum_ns * 1e-9, gap_s = (double)s->gap_sum_ns * 1e-9;
    double work_s = gap_s - (double)s->p2p_sum_ns * 1e-9;

    v->sums->stay_s += stay_s;
    add_sample(&v->sums->rank[s->rank].recent, work_s, stay_s, gap_s + stay_s);
    add_sample(&v->sums->rank[s->rank].run, work_s, stay_s, gap_s + stay_s);
}

struct joined_sums view_sums_take_joined(struct view *v, const struct joined *j)
{
    /* Rounded as lateness is: the last one's wait is zero, and nobody's is below. */
    float skew_s = (float)(j->stay_max_s - j->stay_min_s);
    struct joined_sums joined = { 0 };
    struct sums *s = v->sums;
    struct delay *d = s->delay = xgrow(s->delay, &s->delay_cap, 2 * (size_t)j->slots, sizeof(*s->delay));
    size_t n = 0;

    for (uint32_t i = 0; i < j->slots; i++)
        if (j->rank[i] < view_rank_limit(v) && !isnan(j->stay_s[i]))
            d[n++] = (struct delay){ .late_s = (float)(j->stay_max_s - j->stay_s[i]), .rank = j->rank[i] };
    delay_share(d, d + n, n);
    for (size_t i = 0; i < n; i++) {
        struct rank_delays *to = &s->rank[d[i].rank].delays;
        double own_s = (double)(skew_s - d[i].late_s) * j->n;

        to->wait_s += own_s;
        to->delay_s += (double)d[i].cost_s * j->n;
        to->collectives += j->n;
        joined.wait_s += own_s;
    }
    joined.transfer_s = j->stay_min_s * (double)n * j->n;
    view_joined_add(&s->recent, &joined);
    view_joined_add(&s->run, &joined);
    return joined;
}

static struct efficiency_sums spent(const struct view *v, bool run)
{
    const struct joined_sums *joined = run ? &v->sums->run : &v->sums->recent;
    struct efficiency_sums sums = { .wait_s = joined->wait_s, .transfer_s = joined->transfer_s };

    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        const struct rank_sums *k = view_sums_rank(v, r, run);

        if (view_ranks_at(v, r)->known)
            efficiency_rank(&sums, k->work_s, k->stay_s, k->time_s);
    }
    efficiency_group(&sums);
    return run ? efficiency_joined(&v->sums->before, &sums) : sums;
}

void view_efficiency_get(const struct view *v, struct view_efficiency *e)
{
    struct efficiency_sums recent = spent(v, false), run = spent(v, true);

    e->recent = view_stands_still(v) ? (struct efficiency){ NAN, NAN, NAN, NAN, NAN } : efficiency_of(&recent);
    e->run = efficiency_of(&run);
}

void view_sums_position(const struct view *v, struct view_position *p)
{
    p->spent = spent(v, true);
}

void view_sums_go_on(struct view *v, const struct view_position *p)
{
    v->sums->before = p->spent;
}

/* ---- who is waited for ---- */

#define LEAST_SHARE 0.005 /* of the critical path */

struct rank_waiting view_sums_waiting(const struct view *v, uint32_t rank)
{
    const struct rank_delays *k = &v->sums->rank[rank].delays;
    const struct joined_sums *joined = &v->sums->recent;
    double time_s = v->sums->rank[rank].recent.time_s;
    struct totals t = view_history_totals(v);
    double held;

    if (!(k->collectives > 0 && time_s > 0 && t.steps && joined->wait_s + joined->transfer_s > 0))
        return (struct rank_waiting){ NAN, NAN };
    /* A rank that is late for several collectives in flight is late for each of them; those who wait for all of them wait once. */
    held = fmin(1, v->sums->stay_s / (joined->wait_s + joined->transfer_s)) / time_s * (t.step_sum_s / t.steps);
    return (struct rank_waiting){ k->wait_s * held, k->delay_s * held };
}

struct lasts {
    uint32_t rank;
    double last; /* or how much of the path */
};

/* Keeps the n of the largest counts, in order. */
static size_t keep_most(struct lasts most[VIEW_CRITICAL_MAX], size_t n, struct lasts one)
{
    size_t at = n;

    if (n == VIEW_CRITICAL_MAX && one.last <= most[n - 1].last)
        return n;
    if (n < VIEW_CRITICAL_MAX)
        n++;
    else
        at--;
    for (; at > 0 && most[at - 1].last < one.last; at--)
        most[at] = most[at - 1];
    most[at] = one;
    return n;
}

void view_critical_path_get(const struct view *v, struct view_critical_path *c)
{
    struct lasts most[VIEW_CRITICAL_MAX];
    double all = 0, most_last = 0;
    size_t n = 0;

    *c = (struct view_critical_path){ .concentration = NAN };
    c->moves = view_course_moves(v, c->move);
    if (view_stands_still(v))
        return;
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        struct cell cell = view_history_recent(v, r);
        double share = view_course_share(v, r);

        all += cell.last;
        most_last = fmax(most_last, cell.last);
        /* Where calls are not known one by one: who came last. */
        if (isnan(share) ? cell.last > 0 : share >= LEAST_SHARE)
            n = keep_most(most, n, (struct lasts){ r, isnan(share) ? cell.last : share });
    }
    for (c->n = 0; c->n < n; c->n++) {
        uint32_t r = most[c->n].rank;
        struct cell cell = view_history_recent(v, r);

        c->rank[c->n].rank = r;
        c->rank[c->n].node = view_place_name(v, view_ranks_at(v, r)->node);
        c->rank[c->n].path_ratio = view_course_share(v, r);
        c->rank[c->n].last_ratio = cell.joined ? (double)cell.last / cell.joined : NAN;
        c->rank[c->n].delay_s = view_sums_waiting(v, r).caused_s;
    }
    if (all > 0)
        c->concentration = most_last / all;
}
