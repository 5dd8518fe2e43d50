/* view_course.c - on whose work the critical path lies, step by step, and from which node to which it moved. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/path.h"
#include "analysis/view_private.h"
#include "common/xalloc.h"

#define FADES     16.0 /* steps: older ones count less and less */
#define WEIGHT    1e6  /* from here on sums are scaled down */
#define SHARE     0.5  /* of the path: from here on it lies on a node ... */
#define SURE      4.0  /* ... that has it more than by chance, in standard deviations */
#define HOLD      8u   /* steps in a row */
#define NOT_KNOWN UINT32_MAX

struct view_course {
    double weight, all; /* of the next step; sum of the weights */
    float *rank, *node; /* share of each step's path, times its weight */
    size_t ranks_cap, nodes_cap;
    uint32_t nodes, limit; /* nodes with ranks; the limit of ranks when they were counted */
    uint32_t at, next;     /* the node that it lies on; one that it may have moved to */
    uint32_t held;         /* steps for which it may have */
    double next_s;         /* since when, by the caller's clock */
    int64_t next_step;
    struct {
        uint32_t from, to;
        double at_s;
        int64_t step;
    } move[VIEW_MOVES_MAX];
    uint64_t moves;
};

struct view_course *view_course_new(void)
{
    struct view_course *s = xcalloc(1, sizeof(*s));

    s->weight = 1;
    s->at = s->next = NOT_KNOWN;
    return s;
}

void view_course_free(struct view_course *s)
{
    free(s->rank);
    free(s->node);
    free(s);
}

void view_course_forget(struct view *v)
{
    view_course_free(v->course);
    v->course = view_course_new();
}

static uint32_t nodes_of(struct view *v)
{
    struct view_course *s = v->course;
    uint32_t limit = view_rank_limit(v), places = 1;
    bool *has;

    if (s->limit == limit)
        return s->nodes;
    for (uint32_t r = 0; r < limit; r++)
        if (view_ranks_at(v, r)->node != WORK_PLACE_NONE && view_ranks_at(v, r)->node >= places)
            places = view_ranks_at(v, r)->node + 1;
    has = xcalloc(places, sizeof(*has));
    s->nodes = 0;
    s->limit = limit;
    for (uint32_t r = 0; r < limit; r++) {
        uint32_t node = view_ranks_at(v, r)->node;

        if (!view_ranks_at(v, r)->known || node == WORK_PLACE_NONE || has[node])
            continue;
        has[node] = true;
        s->nodes++;
    }
    free(has);
    return s->nodes;
}

/* The share of the path from which on it is not by chance that it lies on one of n nodes. */
static double share_of_one(uint32_t n)
{
    double chance = 1.0 / n, sd = sqrt(chance * (1 - chance) / (2 * FADES - 1));

    return fmax(SHARE, chance + SURE * sd);
}

static void move_to(struct view *v, double now_s, uint32_t node)
{
    struct view_course *s = v->course;

    if (s->at != NOT_KNOWN)
        view_event(v, now_s, "", "the critical path moved from %s to %s", view_place_name(v, s->at),
                   view_place_name(v, node));
    s->move[s->moves % VIEW_MOVES_MAX].from = s->at;
    s->move[s->moves % VIEW_MOVES_MAX].to = node;
    s->move[s->moves % VIEW_MOVES_MAX].at_s = s->next_s;
    s->move[s->moves++ % VIEW_MOVES_MAX].step = s->next_step;
    s->at = node;
}

/* A step is over; most: the node that now has most of the path, of those that had some of this step's. */
static void watch(struct view *v, double now_s, uint32_t most)
{
    struct view_course *s = v->course;
    uint32_t nodes = nodes_of(v);

    if (nodes < 2 || s->node[most] < share_of_one(nodes) * s->all || s->all < SHARE * FADES * s->weight) {
        s->next = NOT_KNOWN;
        return;
    }
    if (most != s->next) {
        s->next = most;
        s->held = 0;
        s->next_s = now_s;
        s->next_step = (int64_t)view_steps_count(v)->done;
    }
    if (++s->held == HOLD && most != s->at)
        move_to(v, now_s, most);
}

static void scale_down(struct view_course *s)
{
    float by = (float)(1 / s->weight);

    for (size_t i = 0; i < s->ranks_cap; i++)
        s->rank[i] *= by;
    for (size_t i = 0; i < s->nodes_cap; i++)
        s->node[i] *= by;
    s->all *= by;
    s->weight = 1;
}

/* The rank's share of this step's path; returns the place of its node, NOT_KNOWN: not known. */
static uint32_t add(struct view *v, uint32_t rank, double share)
{
    struct view_course *s = v->course;
    uint32_t node = view_ranks_at(v, rank)->node;

    s->rank = xgrow(s->rank, &s->ranks_cap, rank + 1, sizeof(*s->rank));
    s->rank[rank] += (float)(share * s->weight);
    if (node == WORK_PLACE_NONE)
        return NOT_KNOWN;
    s->node = xgrow(s->node, &s->nodes_cap, node + 1, sizeof(*s->node));
    s->node[node] += (float)(share * s->weight);
    return node;
}

static void step_over(struct view *v, double now_s, uint32_t most)
{
    struct view_course *s = v->course;

    s->all += s->weight;
    if (most != NOT_KNOWN)
        watch(v, now_s, most);
    s->weight /= 1 - 1 / FADES;
    if (s->weight > WEIGHT)
        scale_down(s);
}

void view_course_take_path(struct view *v, double now_s, const struct path *p)
{
    uint32_t most = NOT_KNOWN;
    double all_s = 0;

    for (size_t i = 0; i < p->n; i++)
        all_s += p->piece[i].kind == PATH_WORK ? p->piece[i].end_s - p->piece[i].begin_s : 0;
    for (size_t i = 0; i < p->n && all_s > 0; i++) {
        uint32_t node;

        if (p->piece[i].kind != PATH_WORK || p->piece[i].rank >= view_rank_limit(v))
            continue;
        node = add(v, p->piece[i].rank, (p->piece[i].end_s - p->piece[i].begin_s) / all_s);
        if (most == NOT_KNOWN || (node != NOT_KNOWN && v->course->node[node] > v->course->node[most]))
            most = node;
    }
    if (all_s > 0)
        step_over(v, now_s, most);
}

void view_course_take_work(struct view *v, double now_s, const float *work_s, uint32_t n)
{
    uint32_t last = NOT_KNOWN;

    for (uint32_t r = 0; r < n; r++)
        if (!isnan(work_s[r]) && (last == NOT_KNOWN || work_s[r] > work_s[last]))
            last = r;
    if (last != NOT_KNOWN)
        step_over(v, now_s, add(v, last, 1));
}

double view_course_share(const struct view *v, uint32_t rank)
{
    const struct view_course *s = v->course;

    return !(s->all > 0) || !view_calls_active(v) ? NAN : rank < s->ranks_cap ? s->rank[rank] / s->all : 0;
}

size_t view_course_moves(const struct view *v, struct view_move out[VIEW_MOVES_MAX])
{
    const struct view_course *s = v->course;
    size_t n = 0;

    for (; n < s->moves && n < VIEW_MOVES_MAX; n++) {
        size_t i = (s->moves - 1 - n) % VIEW_MOVES_MAX;

        out[n] =
            (struct view_move){ .from =
                                    s->move[i].from == NOT_KNOWN ? "" : view_place_name(v, s->move[i].from),
                                .to = view_place_name(v, s->move[i].to),
                                .at_s = s->move[i].at_s,
                                .step = s->move[i].step };
    }
    return n;
}
