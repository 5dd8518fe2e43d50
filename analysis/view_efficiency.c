/* view_efficiency.c - what a view's ranks make of their time, and on whom they wait.
 *
 * Running sums: of the run, and of the last columns. The latter lose one part in RECENT whenever a column
 * ends, which weighs the past like a window of RECENT columns and needs no history of each rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"

#define FADE (1 - 1.0 / RECENT)

void view_forget_sums(struct view *v)
{
    memset(&v->recent, 0, sizeof(v->recent));
    memset(&v->run, 0, sizeof(v->run));
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
    s->wait_s *= FADE;
    s->delay_s *= FADE;
    s->collectives *= FADE;
}

static void fade_joined(struct joined_sums *s)
{
    s->wait_s *= FADE;
    s->transfer_s *= FADE;
}

void view_fade_sums(struct view *v)
{
    if (!(v->now.work_s + v->now.stay_s > 0))
        return; /* nothing was told: what was the last stays so */
    fade_joined(&v->recent);
    for (uint32_t r = 0; r < v->n_ranks; r++)
        fade_rank(&v->rank[r].recent);
    for (size_t at = 0; at < v->n_comms; at++) {
        struct comm *c = &v->comm[at];

        fade_joined(&c->recent);
        for (uint32_t i = 0; i < c->size; i++)
            c->member[i].recent_s *= FADE;
    }
}

static void add_sample(struct rank_sums *to, double work_s, double stay_s, double time_s)
{
    to->work_s += work_s;
    to->stay_s += stay_s;
    to->time_s += time_s;
}

void view_sum_sample(struct view *v, struct comm *c, const struct sample *s)
{
    struct view_rank *k = &v->rank[s->rank];
    double stay_s = (double)s->stay_sum_ns * 1e-9, gap_s = (double)s->gap_sum_ns * 1e-9;
    double work_s = gap_s - (double)s->p2p_sum_ns * 1e-9;
    uint32_t place = c ? join_place(c->join, s->rank) : UINT32_MAX;

    add_sample(&k->recent, work_s, stay_s, gap_s + stay_s);
    add_sample(&k->run, work_s, stay_s, gap_s + stay_s);
    if (place == UINT32_MAX)
        return;
    c->member[place].told = true;
    c->member[place].rank = s->rank;
    c->member[place].recent_s += stay_s;
    c->member[place].run_s += stay_s;
}

static void add_joined(struct joined_sums *to, double wait_s, double transfer_s)
{
    to->wait_s += wait_s;
    to->transfer_s += transfer_s;
}

static void add_delay(struct rank_sums *to, double wait_s, double delay_s, double n)
{
    to->wait_s += wait_s;
    to->delay_s += delay_s;
    to->collectives += n;
}

void view_sum_joined(struct view *v, struct comm *c, const struct joined *j)
{
    /* Rounded as lateness is: the last one's wait is zero, and nobody's is below. */
    float skew_s = (float)(j->stay_max_s - j->stay_min_s);
    double wait_s = 0, transfer_s;
    struct delay *d = v->delay;
    size_t n = 0;

    for (uint32_t i = 0; i < j->slots; i++)
        if (j->rank[i] < v->n_ranks && !isnan(j->stay_s[i]))
            d[n++] = (struct delay){ .late_s = (float)(j->stay_max_s - j->stay_s[i]), .rank = j->rank[i] };
    delay_share(d, d + n, n);
    for (size_t i = 0; i < n; i++) {
        struct view_rank *k = &v->rank[d[i].rank];
        double own_s = (double)(skew_s - d[i].late_s) * j->n, cost_s = (double)d[i].cost_s * j->n;

        add_delay(&k->recent, own_s, cost_s, j->n);
        add_delay(&k->run, own_s, cost_s, j->n);
        wait_s += own_s;
    }
    transfer_s = j->stay_min_s * (double)n * j->n;
    add_joined(&c->recent, wait_s, transfer_s);
    add_joined(&c->run, wait_s, transfer_s);
    add_joined(&v->recent, wait_s, transfer_s);
    add_joined(&v->run, wait_s, transfer_s);
}

void view_sum_comm(const struct view *v, const struct comm *c, bool run, struct efficiency_sums *sums)
{
    const struct joined_sums *joined = run ? &c->run : &c->recent;

    for (uint32_t i = 0; i < c->size; i++) {
        const struct member_sums *m = &c->member[i];
        const struct view_rank *k = &v->rank[m->rank];
        double stay_s = run ? m->run_s : m->recent_s, time_s = run ? k->run.time_s : k->recent.time_s;

        if (m->told)
            efficiency_rank(sums, time_s - stay_s, stay_s, time_s);
    }
    sums->wait_s += joined->wait_s;
    sums->transfer_s += joined->transfer_s;
    efficiency_group(sums);
}

static struct efficiency of_ranks(const struct view *v, bool run)
{
    const struct joined_sums *joined = run ? &v->run : &v->recent;
    struct efficiency_sums sums = { .wait_s = joined->wait_s, .transfer_s = joined->transfer_s };

    for (uint32_t r = 0; r < v->n_ranks; r++) {
        const struct rank_sums *k = run ? &v->rank[r].run : &v->rank[r].recent;

        if (v->rank[r].known)
            efficiency_rank(&sums, k->work_s, k->stay_s, k->time_s);
    }
    efficiency_group(&sums);
    return efficiency_of(&sums);
}

void view_efficiency_get(const struct view *v, struct view_efficiency *e)
{
    e->recent = of_ranks(v, false);
    e->run = of_ranks(v, true);
}

/* ---- who is waited for ---- */

double view_rank_delay_s(const struct view_rank *k, double step_s)
{
    return k->recent.collectives > 0 && k->recent.time_s > 0 ? k->recent.delay_s / k->recent.time_s * step_s
                                                             : NAN;
}

struct lasts {
    uint32_t rank;
    double last;
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
    double all = 0;
    struct totals t;
    size_t n = 0;

    *c = (struct view_critical_path){ .concentration = NAN };
    view_recent_totals(v, &t);
    for (uint32_t r = 0; r < v->n_ranks; r++) {
        struct cell cell;

        view_recent_cell(v, r, &cell);
        all += cell.last;
        if (cell.last)
            n = keep_most(most, n, (struct lasts){ r, cell.last });
    }
    for (c->n = 0; c->n < n; c->n++) {
        const struct view_rank *k = &v->rank[most[c->n].rank];
        struct cell cell;

        view_recent_cell(v, most[c->n].rank, &cell);
        c->rank[c->n].rank = most[c->n].rank;
        c->rank[c->n].node = view_place_name(v, k->node);
        c->rank[c->n].last_ratio = (double)cell.last / cell.joined;
        c->rank[c->n].delay_s = view_rank_delay_s(k, t.steps ? t.step_sum_s / t.steps : NAN);
    }
    if (all > 0)
        c->concentration = most[0].last / all;
}
