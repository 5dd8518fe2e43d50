/* view_presence.c - what of a job a view sees: ranks that nobody records, nodes that have gone silent, and what Slurm does with it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/xalloc.h"

#define SETTLE_S 5.0 /* a node's ranks may be reported this much later than the others */

struct view_presence {
    double *since_s; /* by place: when a silent node was heard last; infinite: it is heard */
    size_t n, cap;
    enum view_slurm slurm;
    double suspended_s; /* since when it is suspended */
    double resumed_s;   /* what began before is not measured; minus infinity: it never was suspended */
    double lost_s;      /* for how long it was, in all */
    char state[VIEW_STATE_SIZE];
};

struct view_presence *view_presence_new(void)
{
    struct view_presence *s = xcalloc(1, sizeof(*s));

    s->resumed_s = -INFINITY;
    return s;
}

void view_presence_free(struct view_presence *s)
{
    free(s->since_s);
    free(s);
}

/* ---- nodes ---- */

void view_node_silent(struct view *v, const char *node, double since_s)
{
    struct view_presence *s = v->presence;
    uint32_t place = view_place_find(v, node);

    if (place == WORK_PLACE_NONE || (isnan(since_s) && place >= s->n))
        return;
    if (place >= s->n) {
        s->since_s = xgrow(s->since_s, &s->cap, place + 1, sizeof(*s->since_s));
        while (s->n <= place)
            s->since_s[s->n++] = INFINITY;
    }
    s->since_s[place] = isnan(since_s) ? INFINITY : since_s;
}

double view_silent_since_s(const struct view *v, uint32_t place)
{
    return place < v->presence->n ? v->presence->since_s[place] : INFINITY;
}

struct view_silence view_silence_get(const struct view *v)
{
    struct view_silence s = { .first = WORK_PLACE_NONE };

    for (uint32_t p = 0; p < v->presence->n; p++)
        s.nodes += !isinf(v->presence->since_s[p]);
    for (uint32_t r = 0; s.nodes && r < view_rank_limit(v); r++) {
        const struct view_rank *k = view_ranks_at(v, r);

        if (!k->known || k->ended || isinf(view_silent_since_s(v, k->node)))
            continue;
        if (!s.ranks++)
            s.first = k->node;
    }
    return s;
}

/* ---- ranks ---- */

/* What is said of who waits in a communicator rests on all of its members. */
uint32_t view_missing_ranks(const struct view *v, uint32_t *first)
{
    uint32_t size = view_comms_main_size(v), limit = view_rank_limit(v), known = 0;

    if (v->now_s < view_ranks_count(v)->added_s + SETTLE_S && !v->finished)
        return 0;
    *first = limit;
    for (uint32_t r = limit; r-- > 0;) {
        known += view_ranks_at(v, r)->known;
        if (!view_ranks_at(v, r)->known)
            *first = r;
    }
    return size > known ? size - known : 0;
}

bool view_is_partial(const struct view *v)
{
    uint32_t first;

    return view_silence_get(v).ranks || view_missing_ranks(v, &first);
}

/* ---- Slurm ---- */

void view_slurm_set(struct view *v, double now_s, enum view_slurm slurm, const char *state)
{
    struct view_presence *s = v->presence;

    snprintf(s->state, sizeof(s->state), "%s", state);
    if (slurm == s->slurm)
        return;
    if (slurm == VIEW_SLURM_SUSPENDED)
        s->suspended_s = now_s;
    if (s->slurm == VIEW_SLURM_SUSPENDED) {
        s->resumed_s = now_s;
        s->lost_s += now_s - s->suspended_s;
        for (uint32_t r = 0; r < view_rank_limit(v); r++)
            view_call_lost(v, r);
    }
    s->slurm = slurm;
}

enum view_slurm view_slurm_get(const struct view *v)
{
    return v->presence->slurm;
}

const char *view_slurm_state(const struct view *v)
{
    return v->presence->state;
}

double view_suspended_s(const struct view *v, double now_s)
{
    const struct view_presence *s = v->presence;

    return s->slurm == VIEW_SLURM_SUSPENDED ? now_s - s->suspended_s : NAN;
}

double view_run_s(const struct view *v, double now_s)
{
    const struct view_presence *s = v->presence;

    return now_s - v->began_s - s->lost_s - (s->slurm == VIEW_SLURM_SUSPENDED ? now_s - s->suspended_s : 0);
}

void view_presence_go_on(struct view *v, double suspended_s)
{
    v->presence->lost_s = isnan(suspended_s) ? 0 : suspended_s;
}

bool view_was_suspended(const struct view *v, double now_s, double duration_s)
{
    const struct view_presence *s = v->presence;

    return s->slurm == VIEW_SLURM_SUSPENDED || now_s - duration_s < s->resumed_s;
}
