/* graph_measure.c - clocks of the nodes, and beginning and end of each meeting. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define HELD_OTHERS 0.3  /* of the longest stay: who stayed shorter aligns no clocks */
#define THERE_S     2e-5 /* it takes less to find that a message is there */
#define SELDOM      8.0
#define CLOCK_ERROR 0.25 /* of a transfer that is known */
#define USUAL_ALL   32u  /* transfers after which the usual one follows slowly */
#define LONG_AGO \
    50.0 /* times the usual transfer: what was sent before that has arrived, also over a slow link */

struct leave { /* when a blocking collective's first rank on a node left it */
    uint32_t meeting, node;
    uint64_t ns;
};

static int by_meeting(const void *a, const void *b)
{
    const struct leave *x = a, *y = b;

    if (x->meeting != y->meeting)
        return x->meeting < y->meeting ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static double stay_of(const struct raw *raw)
{
    return (double)(raw->leave_ns - raw->enter_ns) * 1e-9;
}

/* The message from one node to another with the smallest difference of their clocks. */
struct fastest {
    uint32_t from, to;
    uint64_t sent_ns, received_ns;
    double s;
};

/* What the messages of the step show of the nodes' clocks. */
static void align_by_messages(struct graph *g, const struct window *w)
{
    struct fastest *list = NULL;
    struct map pairs = { 0 };
    size_t n = 0, cap = 0;

    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++) {
            const struct raw *raw = &w[r].raw[i];
            struct meeting *m = meeting_at(g, raw->meeting);
            const struct graph_kind_info *k = &g->kind[m->m.kind].info;
            struct fastest f;
            uint32_t at;

            if (raw->kind == GRAPH_SEND && (raw->does & GRAPH_ARRIVES))
                m->sent_ns = raw->enter_ns;
            else if (raw->kind == GRAPH_RECV && (raw->does & GRAPH_IS_HELD))
                m->received_ns = raw->leave_ns;
            if (raw->kind == GRAPH_COLLECTIVE || !m->sent_ns || !m->received_ns)
                continue;
            f = (struct fastest){ g->rank[k->from].node, g->rank[k->to].node, m->sent_ns, m->received_ns, 0 };
            if (f.from == f.to)
                continue;
            f.s = graph_clock_apart_s(g->clock, f.to, f.received_ns, f.from, f.sent_ns);
            at = map_get(&pairs, (uint64_t)f.from << 32 | f.to);
            if (at == MAP_NONE) {
                map_put(&pairs, (uint64_t)f.from << 32 | f.to, (uint32_t)n);
                list = xgrow(list, &cap, n + 1, sizeof(*list));
                list[n++] = f;
            } else if (f.s < list[at].s) {
                list[at] = f;
            }
        }
    for (size_t i = 0; i < n; i++)
        graph_clock_message(g->clock, list[i].from, list[i].sent_ns, list[i].to, list[i].received_ns);
    free(list);
    map_free(&pairs);
}

/* What the collectives of the step say of the nodes' clocks. */
void graph_align(struct graph *g, const struct window *w)
{
    struct leave *leave = NULL;
    size_t n = 0, cap = 0;

    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++) {
            struct meeting *m = meeting_at(g, w[r].raw[i].meeting);

            m->most_stay_s = fmax(m->most_stay_s, stay_of(&w[r].raw[i]));
        }
    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++) {
            const struct raw *raw = &w[r].raw[i];

            if (raw->kind != GRAPH_COLLECTIVE || !(raw->does & GRAPH_IS_HELD) ||
                (!raw->blocking &&
                 stay_of(raw) < fmax(g->held_s, HELD_OTHERS * meeting_at(g, raw->meeting)->most_stay_s)))
                continue;
            leave = xgrow(leave, &cap, n + 1, sizeof(*leave));
            leave[n++] = (struct leave){ raw->meeting, g->rank[r].node, raw->leave_ns };
        }
    if (n)
        qsort(leave, n, sizeof(*leave), by_meeting);
    for (size_t i = 0, hub = 0; i < n; i++) {
        if (leave[i].meeting != leave[hub].meeting)
            hub = i;
        if (leave[i].node != leave[hub].node && leave[i].node != leave[i - 1].node)
            graph_clock_meet(g->clock, leave[hub].node, leave[hub].ns, leave[i].node, leave[i].ns);
    }
    free(leave);
    align_by_messages(g, w);
    graph_clock_align(g->clock, g->nodes);
}

static void look_at_call(struct graph *g, uint32_t rank, const struct raw *raw)
{
    struct meeting *m = meeting_at(g, raw->meeting);
    double enter_s = moment_s(g, rank, raw->enter_ns), left_s = moment_s(g, rank, raw->leave_ns);

    if (raw->kind == GRAPH_SEND) {
        if (raw->does & GRAPH_ARRIVES) /* not where a nonblocking one is completed */
            m->send_s = enter_s;
        return;
    }
    if (raw->kind == GRAPH_RECV) {
        m->recv_s = enter_s;
        m->recv_left_s = left_s;
        return;
    }
    if (raw->does & GRAPH_ARRIVES) {
        m->m.start_s = fmax(m->m.start_s, enter_s);
    }
    if (raw->does & GRAPH_IS_HELD) {
        if (raw->blocking)
            m->least_stay_s = fmin(m->least_stay_s, left_s - enter_s);
        m->least_left_s = fmin(m->least_left_s, left_s);
        if (raw->blocking || stay_of(raw) > g->held_s)
            m->held_left_s = fmin(m->held_left_s, left_s);
    }
}

static void follow_usual(struct kind *k, double transfer_s)
{
    k->taken += k->taken < USUAL_ALL;
    if (isnan(k->usual_s))
        k->usual_s = transfer_s;
    else
        k->usual_s += (transfer_s > k->usual_s ? 1 : -1) * fmin(fabs(transfer_s - k->usual_s), k->usual_s) /
                      (1 + k->taken);
}

/* It took from its start to its end, which are off by error_s to each other. */
static void took(struct meeting *m, struct kind *k, double error_s)
{
    double transfer_s = m->m.end_s - m->m.start_s;

    if (error_s > CLOCK_ERROR * transfer_s) {
        m->m.most_s = (float)(transfer_s + 2 * error_s);
        return;
    }
    m->m.transfer_s = (float)transfer_s;
    follow_usual(k, transfer_s);
}

/* Was it there when the receiver came, or not begun before (rendezvous)?  One that is on its way takes less than half of its time when the
 * receiver comes in the second half of it, and seldom a small part of how late the receiver is. */
static void note_protocol(struct protocol *p, double usual_s, double late_s, double stay_s)
{
    if (stay_s < fmax(0.5 * usual_s, THERE_S))
        p->found++;
    else if (late_s > (usual_s > 0 ? 1 : SELDOM) * stay_s)
        p->waited++;
}

/* Of an eager message: it was there, and who came late spent a moment to take it. */
static bool was_there(double usual_s, double late_s, double stay_s)
{
    if (stay_s < fmax(0.5 * usual_s, THERE_S))
        return true;
    return usual_s > 0 ? late_s > LONG_AGO * usual_s && stay_s < 2 * usual_s : late_s > SELDOM * stay_s;
}

static void late_receiver(struct graph *g, struct meeting *m, struct kind *k, double stay_s, double error_s)
{
    struct protocol *p = &g->protocol[k->info.size][graph_crosses(g, k)];
    double late_s = m->recv_s - m->send_s, usual_s = isnan(k->usual_s) ? 0 : k->usual_s;

    if (late_s > stay_s && late_s > 2 * error_s)
        note_protocol(p, usual_s, late_s, stay_s);
    if (!graph_is_eager(g, k)) {
        m->m.start_s = m->recv_s;
        if (p->waited)
            took(m, k, 0);
        else
            m->m.most_s = (float)(late_s + stay_s + 2 * error_s);
    } else if (was_there(usual_s, late_s, stay_s)) {
        m->m.end_s = fmin(m->recv_left_s, m->send_s + usual_s);
        m->m.most_s = (float)(late_s + stay_s + 2 * error_s);
    } else {
        took(m, k, error_s);
    }
}

static void message_over(struct graph *g, struct meeting *m, struct kind *k)
{
    double late_s = m->recv_s - m->send_s, stay_s = m->recv_left_s - m->recv_s;
    double error_s = graph_clock_error_s(g->clock, g->rank[k->info.from].node, g->rank[k->info.to].node);

    if (isnan(m->recv_s)) /* it is received in a later step, or that is not recorded */
        return;
    if (isnan(m->send_s)) { /* its sender's record is missing: whatever held the receiver, nothing moves it */
        m->m.start_s = m->recv_s;
        m->m.end_s = m->recv_left_s;
        return;
    }
    m->m.start_s = m->send_s;
    m->m.end_s = fmax(m->send_s, m->recv_left_s);
    if (late_s > 0)
        late_receiver(g, m, k, stay_s, error_s);
    else /* it was waited for from its beginning */
        took(m, k, error_s);
}

/* One after another on a communicator. */
double meeting_begin_s(const struct graph *g, const struct meeting *m)
{
    double start_s = m->m.start_s;

    if (m->m.before != GRAPH_NONE && m->m.before >= g->base)
        start_s = fmax(start_s, meeting_at(g, m->m.before)->m.end_s);
    return start_s;
}

static void collective_over(const struct graph *g, struct meeting *m, struct kind *k)
{
    double start_s = meeting_begin_s(g, m);

    if (m->least_stay_s < INFINITY) /* blocking: who stayed shortest came last, and no clock is needed */
        m->m.transfer_s = (float)fmax(0, m->least_stay_s);
    else if (m->held_left_s < INFINITY && m->held_left_s > start_s)
        m->m.transfer_s = (float)(m->held_left_s - start_s);
    if (!isnan(m->m.transfer_s)) {
        m->m.end_s = start_s + m->m.transfer_s;
        follow_usual(k, m->m.transfer_s);
        return;
    }
    if (m->least_left_s > start_s)
        m->m.most_s = (float)(m->least_left_s - start_s);
    m->m.end_s = fmin(m->least_left_s, start_s + (isnan(k->usual_s) ? 0 : k->usual_s));
    m->m.end_s = fmax(m->m.end_s, start_s);
}

/* Ends of all meetings that have a call in the step. */
void graph_measure(struct graph *g, const struct window *w)
{
    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++)
            look_at_call(g, r, &w[r].raw[i]);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++) {
            struct meeting *m = meeting_at(g, w[r].raw[i].meeting);
            struct kind *k = &g->kind[m->m.kind];

            if (!isnan(m->m.end_s) && (w[r].raw[i].does & GRAPH_ARRIVES) &&
                !(w[r].raw[i].does & GRAPH_IS_HELD))
                continue;
            if (!isnan(m->m.end_s))
                continue;
            if (k->info.message)
                message_over(g, m, k);
            else if (m->least_left_s < INFINITY)
                collective_over(g, m, k);
            m->m.over_s = (float)fmax(0, m->m.end_s - meeting_begin_s(g, m));
        }
}
