/* view_stall_waits.c - who waits for whom, and where the chains end.
 *
 * Ranks and the collectives in which they wait are the nodes of a graph: a rank waits in its collective,
 * which waits for its members that have not come, or it waits for the other end of its message.  Whoever
 * holds others up stands where no way leads on (the strongly connected components without a way out of them;
 * R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Computing 1, 1972): a rank that waits
 * for nobody, a collective that all members have come to, or several that wait for each other. */
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/xalloc.h"
#include "ring/ring.h"
#include "view/view_stall_private.h"

/* Members of collectives, of all together; what is beyond is not looked at, and nobody is named for it. */
#define PLACES_MAX (1u << 22)
#define NOWHERE    UINT32_MAX

/* A collective in which ranks wait. */
struct meeting {
    uint64_t comm;
    uint32_t seq, inside;
    size_t first, n; /* the members that have not come, in edge[] */
    bool passed;     /* a member has left it */
    uint32_t newest; /* the newest one that any member has left; UINT32_MAX: not known */
    bool unseen;     /* there are members of whom nothing can be said */
    uint8_t op;
};

struct waits {
    const struct stall_search *s;
    uint32_t ranks;
    uint32_t *to; /* by rank: another rank, or ranks + a meeting; NOWHERE */
    struct meeting *meeting;
    size_t meetings, meetings_cap;
    uint32_t *edge;
    size_t edges, edges_cap;
    size_t places; /* looked at */
};

static enum stall_doing doing_of(const struct stall_search *s, uint32_t rank)
{
    return view_stall_doing(s->v, roster_at(s->v->roster, rank), s->now_s);
}

/* ---- the graph ---- */

static bool has_passed(const struct stall_search *s, const struct view_rank *k, uint32_t rank,
                       const struct meeting *m)
{
    struct communicators_progress p = communicators_progress(s->v->communicators, m->comm, rank);
    enum stall_doing doing = view_stall_doing(s->v, k, s->now_s);

    return (p.left != UINT32_MAX && p.left >= m->seq) ||
           (k->left_op != RING_OP_NONE && k->left_comm == m->comm && k->left_seq >= m->seq) ||
           (doing == STALL_COLLECTIVE && k->inside_comm == m->comm && k->inside_seq > m->seq) ||
           (doing == STALL_OUTSIDE && k->inside_comm == m->comm && k->inside_seq >= m->seq);
}

static void see_newest(const struct stall_search *s, struct meeting *m, uint32_t rank)
{
    uint32_t left = communicators_progress(s->v->communicators, m->comm, rank).left;

    if (left != UINT32_MAX && (m->newest == UINT32_MAX || left > m->newest))
        m->newest = left;
}

/* A record says that this rank had not called what others have left meanwhile: it is older than theirs. */
static bool is_outdated(const struct stall_search *s, const struct meeting *m, uint32_t rank)
{
    uint32_t called = communicators_progress(s->v->communicators, m->comm, rank).called;

    return s->told && called != UINT32_MAX && m->newest != UINT32_MAX && m->newest > called;
}

/* Who of the members has not come. */
static void add_absent(struct waits *w, struct meeting *m)
{
    const struct stall_search *s = w->s;
    uint32_t size = communicators_size(s->v->communicators, m->comm);

    m->first = w->edges;
    m->newest = UINT32_MAX;
    m->unseen = size > PLACES_MAX - w->places;
    for (uint32_t place = 0; place < size && w->places < PLACES_MAX; place++, w->places++) {
        uint32_t rank = communicators_member_at(s->v->communicators, m->comm, place);
        const struct view_rank *k = rank < w->ranks ? roster_at(s->v->roster, rank) : NULL;
        enum stall_doing doing = k ? view_stall_doing(s->v, k, s->now_s) : STALL_ELSEWHERE;

        if (k)
            see_newest(s, m, rank);
        if (!k) {
            m->unseen = true;
        } else if (doing == STALL_COLLECTIVE && k->inside_comm == m->comm && k->inside_seq == m->seq) {
            m->inside++;
        } else if (has_passed(s, k, rank, m)) {
            m->passed = true;
        } else {
            w->edge = xgrow(w->edge, &w->edges_cap, w->edges + 1, sizeof(*w->edge));
            w->edge[w->edges++] = rank;
            s->awaited[rank] = true;
        }
    }
    m->n = w->edges - m->first;
}

static uint32_t meeting_of(struct waits *w, struct map *known, const struct view_rank *k)
{
    uint64_t key = hash_mix(k->inside_comm) + k->inside_seq;
    uint32_t at = map_get(known, key);

    if (at != MAP_NONE)
        return at;
    w->meeting = xgrow(w->meeting, &w->meetings_cap, w->meetings + 1, sizeof(*w->meeting));
    w->meeting[w->meetings] =
        (struct meeting){ .comm = k->inside_comm, .seq = k->inside_seq, .op = k->inside_op };
    add_absent(w, &w->meeting[w->meetings]);
    map_put(known, key, (uint32_t)w->meetings);
    return (uint32_t)w->meetings++;
}

/* Both ends of a message are there, and it does not go on: nobody is waited for.  A library that matches
 * messages by their tags would have passed on one of the same tag, so these differ in something else. */
static bool both_came(const struct stall_search *s, uint32_t rank, const struct partner_item *p)
{
    const struct partner_item *back = roster_partner(roster_at(s->v->roster, p->peer));

    return s->told && back && back->peer == rank && back->op != p->op && back->tag == p->tag;
}

static void find_waits(struct waits *w)
{
    const struct stall_search *s = w->s;
    struct map known = { 0 };

    for (uint32_t r = 0; r < w->ranks; r++) {
        const struct view_rank *k = roster_at(s->v->roster, r);
        enum stall_doing doing = doing_of(s, r);
        const struct partner_item *p = doing == STALL_MESSAGE ? roster_partner(k) : NULL;

        w->to[r] = NOWHERE;
        if (p && p->peer < w->ranks && !both_came(s, r, p)) {
            w->to[r] = p->peer;
            s->awaited[p->peer] = true;
            s->waiter[p->peer] = r;
        } else if (doing == STALL_COLLECTIVE) {
            w->to[r] = w->ranks + meeting_of(w, &known, k);
        }
    }
    map_free(&known);
}

/* ---- components ---- */

struct search {
    const struct waits *w;
    uint32_t *index, *low; /* by node; index 0: not visited */
    uint32_t *open;        /* nodes whose component is not known yet */
    uint32_t *part;        /* by node: the component, from 1 on */
    bool *leads_on;        /* by component: a way leads out of it */
    uint32_t *inner;       /* by node: the first way that stays in its component; NOWHERE */
    uint32_t n_open, visited, parts;
};

static size_t ways(const struct waits *w, uint32_t node)
{
    return node < w->ranks ? w->to[node] != NOWHERE : w->meeting[node - w->ranks].n;
}

static uint32_t way(const struct waits *w, uint32_t node, size_t i)
{
    return node < w->ranks ? w->to[node] : w->edge[w->meeting[node - w->ranks].first + i];
}

static void enter_node(struct search *t, uint32_t node)
{
    t->index[node] = t->low[node] = ++t->visited;
    t->open[t->n_open++] = node;
}

static void leave_node(struct search *t, uint32_t node)
{
    uint32_t other;

    if (t->low[node] != t->index[node])
        return;
    t->parts++;
    do {
        other = t->open[--t->n_open];
        t->part[other] = t->parts;
    } while (other != node);
}

/* From one node on, without recursion: chains are as long as there are ranks. */
static void walk(struct search *t, uint32_t from, uint32_t *path, size_t *next)
{
    size_t depth = 0;

    path[depth] = from;
    next[depth++] = 0;
    enter_node(t, from);
    while (depth) {
        uint32_t node = path[depth - 1];

        if (next[depth - 1] < ways(t->w, node)) {
            uint32_t to = way(t->w, node, next[depth - 1]++);

            if (!t->index[to]) {
                path[depth] = to;
                next[depth++] = 0;
                enter_node(t, to);
            } else if (!t->part[to] && t->index[to] < t->low[node]) {
                t->low[node] = t->index[to];
            }
            continue;
        }
        leave_node(t, node);
        depth--;
        if (depth && t->low[node] < t->low[path[depth - 1]])
            t->low[path[depth - 1]] = t->low[node];
    }
}

static void find_components(struct search *t, uint32_t nodes)
{
    uint32_t *path = xcalloc(nodes + 1, sizeof(*path));
    size_t *next = xcalloc(nodes + 1, sizeof(*next));

    for (uint32_t r = 0; r < t->w->ranks; r++)
        if (t->w->to[r] != NOWHERE && !t->index[r])
            walk(t, r, path, next);
    t->leads_on = xcalloc(t->parts + 1, sizeof(*t->leads_on));
    t->inner = xcalloc(nodes + 1, sizeof(*t->inner));
    for (uint32_t node = 0; node < nodes; node++) {
        t->inner[node] = NOWHERE;
        for (size_t i = 0; t->part[node] && i < ways(t->w, node); i++) {
            uint32_t to = way(t->w, node, i);

            if (t->part[to] != t->part[node])
                t->leads_on[t->part[node]] = true;
            else if (t->inner[node] == NOWHERE)
                t->inner[node] = to;
        }
    }
    memset(t->low, 0, nodes * sizeof(*t->low)); /* from here on: where the search for a circle has been */
    free(path);
    free(next);
}

/* ---- where the chains end ---- */

/* Is it known that the rank is in no call?  A record has all that there was to know. */
static bool is_known_free(const struct stall_search *s, const struct view_rank *k)
{
    bool seen = presence_finished(s->v->presence) || view_stall_is_seen(k, s->now_s);

    return s->told || (k->known && (k->ended || (seen && !view_stall_is_counted(k))));
}

static enum stall_end end_of_rank(const struct stall_search *s, uint32_t rank)
{
    const struct view_rank *k = roster_at(s->v->roster, rank);

    if (doing_of(s, rank) >= STALL_COLLECTIVE || (k->queued && !k->ended))
        return STALL_END_UNKNOWN;
    if (k->unrecorded)
        return STALL_END_UNRECORDED;
    return is_known_free(s, k) ? STALL_END_FREE : STALL_END_UNKNOWN;
}

/* Of the ranks that wait in a collective to which no member has still to come.  While a job runs, who left it
 * may compute on, and those inside wait for a transfer: unless somebody waits for them. */
static enum stall_end end_of_meeting(const struct stall_search *s, const struct meeting *m, uint32_t rank)
{
    bool behind = m->passed && !m->unseen && ring_op_synchronises(m->op) && !is_outdated(s, m, rank);

    return behind && (s->told || s->awaited[rank]) ? STALL_END_BEHIND : STALL_END_UNKNOWN;
}

/* The rank waits for a message of another one that has made calls beyond the one that it is in: the other end
 * may be among them, and the circle stand still for another reason. */
static bool may_be_queued(const struct waits *w, uint32_t rank, uint32_t next)
{
    return w->to[rank] < w->ranks && roster_at(w->s->v->roster, next)->queued;
}

/* The next one has made the call in which the rank waits, behind the one that it is in itself. */
static bool has_called(const struct waits *w, uint32_t rank, uint32_t next)
{
    const struct meeting *m = w->to[rank] >= w->ranks ? &w->meeting[w->to[rank] - w->ranks] : NULL;
    struct communicators_progress p = { UINT32_MAX, UINT32_MAX };

    if (m)
        p = communicators_progress(w->s->v->communicators, m->comm, next);
    return p.called != UINT32_MAX && p.called >= m->seq;
}

static uint32_t next_in(const struct search *t, uint32_t rank)
{
    uint32_t node = t->w->to[rank];

    return node < t->w->ranks ? node : t->inner[node];
}

/* One circle of those that the component has: from its smallest rank on, and then from the circle's. */
static void keep_circle(struct search *t, struct stall_search *s, uint32_t rank)
{
    uint32_t first;

    for (; !t->low[rank]; rank = next_in(t, rank)) /* onto the circle */
        t->low[rank] = 1;
    first = rank;
    for (uint32_t r = next_in(t, rank); r != rank; r = next_in(t, r))
        first = r < first ? r : first;
    rank = first;
    s->n_circle = 0;
    s->circle_order = false;
    do {
        uint32_t next = next_in(t, rank);

        if (may_be_queued(t->w, rank, next)) {
            s->n_circle = 0;
            return;
        }
        s->circle_order |= has_called(t->w, rank, next);
        s->circle[s->n_circle++] = rank;
        rank = next;
    } while (rank != first);
}

static void find_ends(struct search *t, struct stall_search *s)
{
    const struct waits *w = t->w;
    bool *done = xcalloc(t->parts + 1, sizeof(*done));

    for (uint32_t r = 0; r < w->ranks; r++) {
        uint32_t part = t->part[r], node = w->to[r];

        if (!part)
            continue;
        if (node == NOWHERE) {
            s->end[r] = (uint8_t)end_of_rank(s, r);
        } else if (node >= w->ranks && !ways(w, node)) {
            s->end[r] = (uint8_t)end_of_meeting(s, &w->meeting[node - w->ranks], r);
        } else if (!t->leads_on[part] && !done[part] && t->part[node] == part && !s->n_circle) {
            keep_circle(t, s, r);
            s->unsure |= !s->n_circle;
        }
        done[part] = true;
    }
    free(done);
}

/* In which collective most wait for the rank. */
static void find_missed(const struct waits *w, struct stall_search *s)
{
    for (uint32_t i = 0; i < w->meetings; i++) {
        const struct meeting *m = &w->meeting[i];

        for (size_t e = 0; e < m->n; e++) {
            uint32_t rank = w->edge[m->first + e];
            struct stall_front *f = &s->missed[rank];

            if (s->end[rank] == STALL_END_FREE && is_outdated(s, m, rank))
                s->end[rank] = STALL_END_UNKNOWN;
            if (m->inside > f->waiting)
                *f =
                    (struct stall_front){ .comm = m->comm, .seq = m->seq, .waiting = m->inside, .op = m->op };
        }
    }
}

void stall_waits_find(struct stall_search *s)
{
    uint32_t ranks = roster_limit(s->v->roster), nodes;
    struct waits w = { .s = s, .ranks = ranks, .to = xcalloc(ranks + 1, sizeof(*w.to)) };
    struct search t = { .w = &w };

    find_waits(&w);
    nodes = ranks + (uint32_t)w.meetings;
    t.index = xcalloc(nodes + 1, sizeof(*t.index));
    t.low = xcalloc(nodes + 1, sizeof(*t.low));
    t.open = xcalloc(nodes + 1, sizeof(*t.open));
    t.part = xcalloc(nodes + 1, sizeof(*t.part));
    find_components(&t, nodes);
    find_ends(&t, s);
    find_missed(&w, s);
    free(t.index);
    free(t.low);
    free(t.open);
    free(t.part);
    free(t.leads_on);
    free(t.inner);
    free(w.to);
    free(w.meeting);
    free(w.edge);
}
