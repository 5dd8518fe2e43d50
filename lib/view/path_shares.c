#include "view/path_shares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"
#include "detect/work.h"

#define FADES     16.0 /* steps: older ones count less and less */
#define WEIGHT    1e6  /* from here on sums are scaled down */
#define SHARE     0.5  /* of the path: from here on it lies on a node ... */
#define SURE      4.0  /* ... that has it more than by chance, in standard deviations */
#define HOLD      8u   /* steps in a row */
#define NOT_KNOWN UINT32_MAX

struct path_shares {
    const struct roster *roster;
    const struct steps *steps;
    struct events *events;
    bool paths;         /* steps' paths are known: else it is who worked longest */
    double weight, all; /* of the next step; sum of the weights */
    float *rank, *node; /* share of each step's path, times its weight */
    size_t ranks_cap, nodes_cap;
    uint32_t nodes, limit; /* nodes with ranks; the limit of ranks when they were counted */
    uint32_t at, next;     /* the node that it lies on; one that it may have moved to */
    uint32_t held;         /* steps for which it may have */
    double next_s;         /* since when, by the caller's clock */
    int64_t next_step;
    struct node_move {
        uint32_t from, to;
        double at_s;
        int64_t step;
    } move[VIEW_MOVES_MAX];
    uint64_t moves;
};

struct path_shares *path_shares_new(const struct roster *roster, const struct steps *steps,
                                    struct events *events)
{
    struct path_shares *s = xcalloc(1, sizeof(*s));

    s->roster = roster;
    s->steps = steps;
    s->events = events;
    s->weight = 1;
    s->at = s->next = NOT_KNOWN;
    return s;
}

void path_shares_free(struct path_shares *s)
{
    free(s->rank);
    free(s->node);
    free(s);
}

void path_shares_forget(struct path_shares *s)
{
    free(s->rank);
    free(s->node);
    *s = (struct path_shares){ .roster = s->roster,
                               .steps = s->steps,
                               .events = s->events,
                               .weight = 1,
                               .at = NOT_KNOWN,
                               .next = NOT_KNOWN };
}

static uint32_t nodes_of(struct path_shares *s)
{
    struct map seen = { 0 };

    if (s->limit == roster_limit(s->roster))
        return s->nodes;
    s->limit = roster_limit(s->roster);
    s->nodes = 0;
    for (uint32_t r = 0; r < s->limit; r++) {
        const struct view_rank *k = roster_at(s->roster, r);

        if (k->known && k->node != WORK_PLACE_NONE && map_get(&seen, k->node) == MAP_NONE)
            map_put(&seen, k->node, s->nodes++);
    }
    map_free(&seen);
    return s->nodes;
}

/* The share of the path from which on it is not by chance that it lies on one of n nodes. */
static double share_of_one(uint32_t n)
{
    double chance = 1.0 / n, sd = sqrt(chance * (1 - chance) / (2 * FADES - 1));

    return fmax(SHARE, chance + SURE * sd);
}

/* A step is over; most: the node that now has most of the path, of those that had some of this step's. */
static void watch_node(struct path_shares *s, double now_s, uint32_t most)
{
    uint32_t nodes = nodes_of(s);

    if (nodes < 2 || s->node[most] < share_of_one(nodes) * s->all || s->all < SHARE * FADES * s->weight) {
        s->next = NOT_KNOWN;
        return;
    }
    if (most != s->next) {
        s->next = most;
        s->held = 0;
        s->next_s = now_s;
        s->next_step = (int64_t)steps_count(s->steps)->done;
    }
    if (++s->held != HOLD || most == s->at)
        return;
    if (s->at != NOT_KNOWN)
        events_add(s->events, now_s, "", "the critical path moved from %s to %s",
                   roster_place_name(s->roster, s->at), roster_place_name(s->roster, most));
    s->move[s->moves++ % VIEW_MOVES_MAX] = (struct node_move){ s->at, most, s->next_s, s->next_step };
    s->at = most;
}

/* The rank's share of this step's path; returns the place of its node, NOT_KNOWN: not known. */
static uint32_t add_share(struct path_shares *s, uint32_t rank, double share)
{
    uint32_t node = roster_at(s->roster, rank)->node;

    s->rank = xgrow(s->rank, &s->ranks_cap, rank + 1, sizeof(*s->rank));
    s->rank[rank] += (float)(share * s->weight);
    if (node == WORK_PLACE_NONE)
        return NOT_KNOWN;
    s->node = xgrow(s->node, &s->nodes_cap, node + 1, sizeof(*s->node));
    s->node[node] += (float)(share * s->weight);
    return node;
}

static void step_over(struct path_shares *s, double now_s, uint32_t most)
{
    float by;

    s->all += s->weight;
    if (most != NOT_KNOWN)
        watch_node(s, now_s, most);
    s->weight /= 1 - 1 / FADES;
    if (s->weight <= WEIGHT)
        return;
    by = (float)(1 / s->weight);
    for (size_t i = 0; i < s->ranks_cap; i++)
        s->rank[i] *= by;
    for (size_t i = 0; i < s->nodes_cap; i++)
        s->node[i] *= by;
    s->all *= by;
    s->weight = 1;
}

void path_shares_take_path(struct path_shares *s, double now_s, const struct path *p)
{
    uint32_t most = NOT_KNOWN;
    double all_s = 0;

    s->paths = true;
    for (size_t i = 0; i < p->n; i++)
        all_s += p->piece[i].kind == PATH_WORK ? p->piece[i].end_s - p->piece[i].begin_s : 0;
    for (size_t i = 0; i < p->n && all_s > 0; i++) {
        uint32_t node;

        if (p->piece[i].kind != PATH_WORK || p->piece[i].rank >= roster_limit(s->roster))
            continue;
        node = add_share(s, p->piece[i].rank, (p->piece[i].end_s - p->piece[i].begin_s) / all_s);
        if (most == NOT_KNOWN || (node != NOT_KNOWN && s->node[node] > s->node[most]))
            most = node;
    }
    if (all_s > 0)
        step_over(s, now_s, most);
}

void path_shares_take_work(struct path_shares *s, double now_s, const float *work_s, uint32_t n)
{
    uint32_t last = NOT_KNOWN;

    s->paths = false;
    for (uint32_t r = 0; r < n; r++)
        if (!isnan(work_s[r]) && (last == NOT_KNOWN || work_s[r] > work_s[last]))
            last = r;
    if (last != NOT_KNOWN)
        step_over(s, now_s, add_share(s, last, 1));
}

double path_shares_of(const struct path_shares *s, uint32_t rank)
{
    return !(s->all > 0) || !s->paths ? NAN : rank < s->ranks_cap ? s->rank[rank] / s->all : 0;
}

size_t path_shares_moves(const struct path_shares *s, struct view_move out[VIEW_MOVES_MAX])
{
    size_t n = 0;

    for (; n < s->moves && n < VIEW_MOVES_MAX; n++) {
        const struct node_move *m = &s->move[(s->moves - 1 - n) % VIEW_MOVES_MAX];

        out[n] = (struct view_move){ .from = roster_place_name(s->roster, m->from), /* NOT_KNOWN: "" */
                                     .to = roster_place_name(s->roster, m->to),
                                     .at_s = m->at_s,
                                     .step = m->step };
    }
    return n;
}
