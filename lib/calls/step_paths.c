#include "calls/step_paths.h"

#include <math.h>
#include <stdlib.h>

#include "calls/boundary.h"
#include "calls/updates.h"
#include "common/xalloc.h"

#define LAST_S 4e9 /* since the origin: what a number of nanoseconds holds */

struct step_paths {
    step_paths_take *take;
    void *arg;
    uint64_t origin_ns;
    struct graph *graph;
    struct boundary *boundary;
    struct updates *updates;
    bool *known; /* by rank */
    size_t ranks_cap;
    uint32_t ranks;
    bool any;        /* a step was taken since steps end where they do */
    uint32_t number; /* its number */
    uint32_t next; /* the number behind that of the newest step that was handed on; 0: none was since then */
    uint64_t end_ns; /* of the newest step that was handed on; 0: none was */
    struct step_slice *slice;
    size_t slice_cap;
};

struct step_paths *step_paths_new(uint64_t origin_ns, double error_s, struct boundary *boundary,
                                  step_paths_take *take, void *arg)
{
    struct step_paths *s = xcalloc(1, sizeof(*s));

    s->take = take;
    s->arg = arg;
    s->origin_ns = origin_ns;
    s->graph = graph_new();
    graph_share_clock(s->graph, origin_ns, error_s);
    s->boundary = boundary;
    s->updates = updates_new();
    return s;
}

void step_paths_free(struct step_paths *s)
{
    if (!s)
        return;
    graph_free(s->graph);
    boundary_free(s->boundary);
    updates_free(s->updates);
    free(s->known);
    free(s->slice);
    free(s);
}

void step_paths_rank(struct step_paths *s, uint32_t rank, uint32_t node)
{
    s->known = xgrow(s->known, &s->ranks_cap, rank + 1, sizeof(*s->known));
    s->known[rank] = true;
    s->ranks = rank >= s->ranks ? rank + 1 : s->ranks;
    boundary_rank(s->boundary, rank);
    graph_rank(s->graph, rank, node);
}

/* ---- a path's pieces as slices of a step ---- */

static uint64_t moment_ns(const struct step_paths *s, double since_s)
{
    return since_s > 0 ? s->origin_ns + (uint64_t)llround(fmin(since_s, LAST_S) * 1e9) : s->origin_ns;
}

static struct step_slice slice_of(const struct step_paths *s, const struct path_piece *x)
{
    struct step_slice slice = { .kind = x->kind, .rank = x->rank, .from = x->from };
    const struct graph_kind_info *k;

    if (x->kind != PATH_TRANSFER || x->meeting == GRAPH_NONE)
        return slice;
    k = graph_kind_get(s->graph, graph_meeting_get(s->graph, x->meeting)->kind);
    slice.message = k->message;
    slice.op = k->op;
    if (k->message) { /* a sender's time in its call is part of the transfer, too */
        slice.from = k->from;
        slice.rank = k->to;
    }
    return slice;
}

static void add_slice(struct step_paths *s, struct step_path *to, struct step_slice slice, uint64_t begin_ns,
                      uint64_t end_ns)
{
    if (end_ns <= begin_ns)
        return;
    slice.begin_ns = begin_ns;
    slice.end_ns = end_ns;
    s->slice = xgrow(s->slice, &s->slice_cap, to->n + 1, sizeof(*s->slice));
    s->slice[to->n++] = slice;
    to->sum_ns[slice.kind] += end_ns - begin_ns;
}

/* The pieces, cut to the step, which begins at to->begin_ns. */
static void fill_step(struct step_paths *s, struct step_path *to, const struct path *p)
{
    uint64_t at_ns = to->begin_ns;

    for (size_t i = 0; i < p->n; i++) {
        uint64_t begin_ns = moment_ns(s, p->piece[i].begin_s), end_ns = moment_ns(s, p->piece[i].end_s);

        if (end_ns <= at_ns)
            continue;
        if (begin_ns > at_ns) /* the path could not be followed back to the step's begin */
            add_slice(s, to,
                      (struct step_slice){
                          .kind = PATH_UNKNOWN, .rank = p->piece[i].rank, .from = p->piece[i].rank },
                      at_ns, begin_ns);
        add_slice(s, to, slice_of(s, &p->piece[i]), begin_ns > at_ns ? begin_ns : at_ns, end_ns);
        at_ns = end_ns;
    }
}

static void take_step(struct step_paths *s, uint32_t back)
{
    struct path *p = path_new(s->graph, back, s->ranks);
    struct step_path to = { .number = graph_step_about(s->graph, back).number };
    bool follows = s->next && to.number == s->next;

    s->any = true;
    s->number = to.number;
    if (!p || !p->n) {
        path_free(p);
        return;
    }
    to.begin_ns = moment_ns(s, p->piece[0].begin_s);
    to.end_ns = moment_ns(s, p->piece[p->n - 1].end_s);
    if (follows || to.begin_ns < s->end_ns)
        to.begin_ns = s->end_ns;
    if (to.end_ns > to.begin_ns) {
        fill_step(s, &to, p);
        to.slice = s->slice;
        s->end_ns = to.end_ns;
        s->next = to.number + 1;
        s->take(&to, s->arg);
    }
    path_free(p);
}

/* Steps that are complete and were not taken, the oldest first. */
static void take_steps(struct step_paths *s)
{
    uint32_t back = 0;

    while (back < graph_steps(s->graph) && (!s->any || graph_step_about(s->graph, back).number > s->number))
        back++;
    while (back-- > 0)
        take_step(s, back);
}

/* ---- calls ---- */

/* What was taken for steps was something else. */
static void forget_steps(struct step_paths *s)
{
    graph_reset(s->graph);
    s->any = false;
    s->next = 0;
}

/* Ranks that do not wait for one another have no steps in common, and nothing that they waited for. */
static bool have_no_steps(const struct step_paths *s)
{
    return updates_found(s->updates) || updates_undecided(s->updates);
}

void step_paths_call(struct step_paths *s, const struct call *c)
{
    bool had_steps = !have_no_steps(s);
    struct boundary_at at;

    if (c->rank >= s->ranks || !s->known[c->rank])
        return;
    updates_call(s->updates, c);
    if (have_no_steps(s)) {
        if (had_steps)
            forget_steps(s);
        return;
    }
    for (uint32_t r = 0; !had_steps && r < s->ranks; r++)
        if (s->known[r])
            graph_gap(s->graph, r);
    graph_call(s->graph, c, c->comm);
    at = boundary_call(s->boundary, c, c->comm);
    if (at.moved)
        forget_steps(s);
    if (!at.ends)
        return;
    graph_step_end(s->graph, c->rank, at.number);
    take_steps(s);
}

void step_paths_lost(struct step_paths *s, uint32_t rank)
{
    graph_lost(s->graph, rank);
    updates_gap(s->updates, rank);
}

void step_paths_finish(struct step_paths *s)
{
    graph_finish(s->graph);
    take_steps(s);
}
