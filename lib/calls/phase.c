#include "calls/phase.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* A phase has at least this share of the excess. Chosen: what is left is no more than what noise makes of the
 * other pieces. */
#define MOST 0.8
/* A phase with more of the work than this has most of any excess. Chosen: between half of the work and MOST.
 */
#define ORDINARY 0.6
/* Standard errors by which a piece is surely longer. Chosen: one in 700 is by chance. */
#define SURELY 3.0
/* A further piece belongs to the phase when its excess, over its work, is this share of that of the phase.
 * Chosen: where one is twice the other, they are two things. */
#define LIKE       0.5
#define NO_WORK    1e-3       /* of the step: pieces that should have less are none */
#define EXCESS_MAX 1e6        /* times what it should take: of a piece that others hardly have */
#define OPS_MAX    (1u << 20) /* that are looked at: some 10 ms */
#define CELLS_MAX  (1u << 18)

struct cell { /* of a role, and a piece of its step */
    double slow_s, peers_s, peers_square;
    double excess_s, should_s; /* of all slow ones */
    uint32_t slow, peers, class, role;
    uint8_t op;
    bool message, sends;
};

struct looked {
    const struct graph *graph;
    struct cell *cell; /* roles rows of pieces */
    uint32_t roles, pieces;
    uint32_t *next; /* by rank: the piece of its next operation in the step */
    uint32_t ranks;
    bool (*slow)(uint32_t rank, const void *arg);
    const void *arg;
};

static void add_piece(struct looked *l, const struct graph_op *op, struct cell *c)
{
    uint32_t class = graph_place_class(l->graph, op->place);

    if (!c->slow && !c->peers) {
        c->class = class;
        c->role = graph_role(l->graph, op->rank);
    }
    if (c->class != class) /* a rank with other calls */
        return;
    if (l->slow(op->rank, l->arg)) {
        const struct graph_kind_info *k =
            graph_kind_get(l->graph, graph_meeting_get(l->graph, op->meeting)->kind);

        c->slow_s += op->work_s;
        c->slow++;
        c->message = k->message;
        c->op = k->op;
        c->sends = op->does & GRAPH_ARRIVES;
    } else {
        c->peers_s += op->work_s;
        c->peers_square += (double)op->work_s * op->work_s;
        c->peers++;
    }
}

static void add_step(struct looked *l, const struct graph_step *s)
{
    for (uint32_t r = 0; r < l->ranks; r++)
        l->next[r] = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct graph_op *op = &s->op[i];
        uint32_t role, piece;

        if (op->rank >= l->ranks || !op->has_work) /* it did not take part in the newest; a call's end */
            continue;
        role = graph_role(l->graph, op->rank);
        piece = l->next[op->rank]++;
        if (op->known && op->place != GRAPH_NONE && role < l->roles && piece < l->pieces)
            add_piece(l, op, &l->cell[(size_t)role * l->pieces + piece]);
    }
}

static int by_excess(const void *a, const void *b)
{
    const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;

    return (y->excess_s > x->excess_s) - (y->excess_s < x->excess_s);
}

static bool calls_alike(const struct cell *a, const struct cell *b)
{
    return a->message == b->message && (a->message ? a->sends == b->sends : a->op == b->op);
}

/* Pieces with slow ranks, those with the largest excess first; returns how many. 0: nobody else has one of
 * them. */
static size_t sort_pieces(const struct looked *l, struct cell **list, double *excess_s, double *should_s)
{
    size_t n = 0;

    *excess_s = *should_s = 0;
    for (size_t i = 0; i < (size_t)l->roles * l->pieces; i++) {
        struct cell *c = &l->cell[i];

        if (!c->slow)
            continue;
        if (!c->peers)
            return 0;
        c->should_s = c->peers_s / c->peers * c->slow;
        c->excess_s = c->slow_s - c->should_s;
        *should_s += c->should_s;
        *excess_s += c->excess_s;
        list[n++] = c;
    }
    if (n)
        qsort(list, n, sizeof(struct cell *), by_excess);
    return n;
}

static bool is_surely_longer(const struct cell *c)
{
    double mean_s = c->peers_s / c->peers, variance = c->peers_square / c->peers - mean_s * mean_s;

    return c->excess_s / c->slow > SURELY * sqrt(fmax(0, variance) / c->slow);
}

/* Of the first pieces of the list, the role with most of their excess. */
static uint32_t leading_role(struct cell *const *list, size_t most, uint32_t roles)
{
    double *excess_s = xcalloc(roles, sizeof(*excess_s));
    uint32_t role = list[0]->role;

    for (size_t i = 0; i < most; i++)
        excess_s[list[i]->role] += list[i]->excess_s;
    for (uint32_t r = 0; r < roles; r++)
        role = excess_s[r] > excess_s[role] ? r : role;
    free(excess_s);
    return role;
}

/* How many of the list's pieces are the phase; 0: none stands out. */
static size_t find_most(struct cell *const *list, size_t n, uint32_t roles, double all_s, double all_should_s,
                        struct slow_phase *found)
{
    double excess_s = 0, should_s = 0, of_role_s = 0;
    size_t most = 0;
    uint32_t role;

    /* ... and what is longer by as much belongs to them. */
    while (most < n && is_surely_longer(list[most]) &&
           (excess_s < MOST * all_s ||
            list[most]->excess_s * should_s > LIKE * excess_s * list[most]->should_s)) {
        excess_s += list[most]->excess_s;
        should_s += list[most++]->should_s;
    }
    if (!(all_s > 0) || excess_s < MOST * all_s || should_s > ORDINARY * all_should_s)
        return 0;
    role = leading_role(list, most, roles);
    *found = (struct slow_phase){ .share = fmin(1, excess_s / all_s),
                                  .alike = true,
                                  .message = list[0]->message,
                                  .sends = list[0]->sends,
                                  .op = list[0]->op };
    for (size_t i = 1; i < most; i++)
        found->alike = found->alike && calls_alike(list[i], list[0]);
    for (size_t i = 0; i < n; i++)
        of_role_s += list[i]->role == role ? list[i]->should_s : 0;
    for (size_t i = 0; i < n; i++) {
        if (list[i]->role != role)
            continue;
        found->pieces += i < most;
        found->n += i < most || (list[i]->should_s > NO_WORK * of_role_s &&
                                 (!found->alike || calls_alike(list[i], list[0])));
    }
    return most;
}

void phase_excess_free(struct phase_excess *e)
{
    free(e->of);
    *e = (struct phase_excess){ 0 };
}

static void tell_excess(const struct looked *l, struct cell *const *list, size_t most, struct phase_excess *e)
{
    e->roles = l->roles;
    e->pieces = l->pieces;
    e->of = xgrow(e->of, &e->cap, (size_t)l->roles * l->pieces, sizeof(*e->of));
    memset(e->of, 0, (size_t)l->roles * l->pieces * sizeof(*e->of));
    for (size_t i = 0; i < most; i++)
        e->of[list[i] - l->cell] = (float)fmin(EXCESS_MAX, list[i]->excess_s / list[i]->should_s);
}

void phase_excess_by_place(const struct phase_excess *e, const struct graph *g,
                           bool (*slow)(uint32_t rank, const void *arg), const void *arg, float *by_place)
{
    struct graph_step s = graph_step_get(g, 0);
    uint32_t *next = NULL, ranks = 0;
    size_t cap = 0;

    for (size_t i = 0; i < s.n; i++)
        ranks = s.op[i].rank >= ranks ? s.op[i].rank + 1 : ranks;
    next = xgrow(next, &cap, ranks + 1, sizeof(*next));
    memset(next, 0, (ranks + 1) * sizeof(*next));
    for (size_t i = 0; i < s.n; i++) {
        const struct graph_op *op = &s.op[i];
        uint32_t role, piece;

        if (!op->has_work || !slow(op->rank, arg))
            continue;
        role = graph_role(g, op->rank);
        piece = next[op->rank]++;
        if (op->place != GRAPH_NONE && role < e->roles && piece < e->pieces)
            by_place[op->place] = e->of[(size_t)role * e->pieces + piece];
    }
    free(next);
}

bool phase_find(const struct graph *g, uint32_t steps, bool (*slow)(uint32_t rank, const void *arg),
                const void *arg, struct slow_phase *found, struct phase_excess *excess)
{
    struct looked l = { .graph = g, .roles = graph_roles(g), .slow = slow, .arg = arg };
    struct graph_step newest;
    double excess_s, should_s;
    struct cell **list;
    size_t ops = 0, n, most;

    if (!l.roles || !graph_steps(g))
        return false;
    newest = graph_step_get(g, 0);
    for (size_t i = 0; i < newest.n; i++)
        l.ranks = newest.op[i].rank >= l.ranks ? newest.op[i].rank + 1 : l.ranks;
    l.next = xcalloc(l.ranks + 1, sizeof(*l.next));
    for (size_t i = 0; i < newest.n; i++)
        if (newest.op[i].has_work && ++l.next[newest.op[i].rank] > l.pieces)
            l.pieces = l.next[newest.op[i].rank];
    if ((uint64_t)l.roles * l.pieces > CELLS_MAX) {
        free(l.next);
        return false;
    }
    l.cell = xcalloc((size_t)l.roles * l.pieces, sizeof(*l.cell));
    list = xcalloc((size_t)l.roles * l.pieces, sizeof(struct cell *));
    for (uint32_t back = 0; back < steps && back < graph_steps(g) && ops < OPS_MAX; back++) {
        struct graph_step s = graph_step_get(g, back);

        ops += s.n;
        if (!(s.pause_s > 0)) /* which is everybody's */
            add_step(&l, &s);
    }
    n = sort_pieces(&l, list, &excess_s, &should_s);
    most = find_most(list, n, l.roles, excess_s, should_s, found);
    if (most && excess)
        tell_excess(&l, list, most, excess);
    free(list);
    free(l.cell);
    free(l.next);
    return most > 0;
}
