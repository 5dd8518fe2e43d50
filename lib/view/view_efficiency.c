/* view_efficiency.c - how well a view's job uses its time, and on whom it waits. */
#include <math.h>

#include "calls/updates.h"
#include "view/view_private.h"

#define LEAST_SHARE 0.005 /* of the critical path */

void view_shares(const struct view *v, struct view_figures *f)
{
    struct totals t = columns_totals(v->columns);
    double all = t.work_s + t.p2p_s + t.stay_s, joined = t.wait_s + t.transfer_s, waiting;

    f->compute_ratio = all > 0 ? t.work_s / all : NAN;
    f->p2p_ratio = all > 0 ? t.p2p_s / all : NAN;
    waiting = presence_is_partial(v->presence, v->now_s) ? NAN
              : joined > 0                               ? t.wait_s / joined
              : t.stay_s > 0                             ? NAN
                                                         : 0;
    f->synchronisation_ratio = all > 0 ? t.stay_s / all * waiting : NAN;
    f->communication_ratio = all > 0 ? t.stay_s / all * (1 - waiting) : NAN;
}

/* Ranks run ahead of what they have posted, as programs do of their GPUs: when they post it says nothing of
 * who waits. */
bool view_is_unseen(const struct view *v)
{
    struct view_figures f;

    if (!communicators_unseen(v->communicators))
        return false;
    view_shares(v, &f);
    return !(f.p2p_ratio > 0);
}

void view_efficiency_get(const struct view *v, struct view_efficiency *e)
{
    struct efficiency_sums recent = sums_all(v->sums, false), run = sums_all(v->sums, true);

    e->recent = presence_stands_still(v->presence) ? (struct efficiency){ NAN, NAN, NAN, NAN, NAN }
                                                   : efficiency_of(&recent);
    e->run = efficiency_of(&run);
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
    struct totals recent = columns_totals(v->columns);
    double all = 0, most_last = 0;
    size_t n = 0;

    *c = (struct view_critical_path){ .concentration = NAN };
    if (updates_found(call_steps_updates(v->calls))) /* nobody waits for anybody */
        return;
    c->moves = path_shares_moves(v->path_shares, c->move);
    if (presence_stands_still(v->presence))
        return;
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        struct cell cell = columns_recent(v->columns, r);
        double share = path_shares_of(v->path_shares, r);

        all += cell.last;
        most_last = fmax(most_last, cell.last);
        /* Where calls are not known one by one: who came last. */
        if (isnan(share) ? cell.last > 0 : share >= LEAST_SHARE)
            n = keep_most(most, n, (struct lasts){ r, isnan(share) ? cell.last : share });
    }
    for (c->n = 0; c->n < n; c->n++) {
        uint32_t r = most[c->n].rank;
        struct cell cell = columns_recent(v->columns, r);

        c->rank[c->n].rank = r;
        c->rank[c->n].node = roster_place_name(v->roster, roster_at(v->roster, r)->node);
        c->rank[c->n].path_ratio = path_shares_of(v->path_shares, r);
        c->rank[c->n].last_ratio = cell.joined ? (double)cell.last / cell.joined : NAN;
        c->rank[c->n].delay_s = sums_waiting(v->sums, r, &recent).caused_s;
    }
    if (all > 0)
        c->concentration = most_last / all;
}
