/* graph_measure.c - clocks of the nodes, and beginning and end of each meeting. */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

/* of the longest stay: who was not held for so long saw the end, if it came less than that before it left */
#define HELD_OTHERS 0.3
#define THERE_S     2e-5 /* it takes less to find that a message is there */
#define SELDOM      8.0
#define CLOCK_ERROR 0.5 /* of a transfer that is known */
#define USUAL_ALL   32u /* transfers after which the usual one follows slowly */
/* times the usual transfer: what was sent before that has arrived, also over a slow link */
#define LONG_AGO 50.0

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

/* The message from one node to another with the smallest difference of their clocks. */
struct fastest {
    uint32_t from, to;
    uint64_t sent_ns, received_ns;
    double s;
};

/* When a message was sent and received, as soon as both are known. */
static bool both_ends(struct meeting *m, const struct raw *raw, uint64_t *sent_ns, uint64_t *received_ns)
{
    bool sends = raw->side == CALL_SENDS;

    if (raw->side == CALL_COLLECTIVE || !(raw->does & (sends ? GRAPH_ARRIVES : GRAPH_IS_HELD)))
        return false;
    *sent_ns = sends ? raw->enter_ns : m->message.half_ns;
    *received_ns = sends ? m->message.half_ns : raw->leave_ns;
    if (sends ? m->message.received : m->message.sent)
        return true;
    m->message.half_ns = sends ? raw->enter_ns : raw->leave_ns;
    m->message.sent = sends;
    m->message.received = !sends;
    return false;
}

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
            const struct graph_kind_info *k = &g->kind[m->kind].info;
            struct fastest f = { 0 };
            uint32_t at;

            if (!both_ends(m, raw, &f.sent_ns, &f.received_ns))
                continue;
            f.from = g->rank[k->from].node;
            f.to = g->rank[k->to].node;
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

/* The step at hand has a call of it. */
static void begin_meeting(const struct graph *g, struct meeting *m)
{
    const struct graph_kind_info *k = &g->kind[m->kind].info;

    m->measured = true;
    m->newest = (uint8_t)g->steps;
    m->before =
        k->message || !m->seq ? GRAPH_NONE : meeting_find(g, meeting_collective_key(k->comm, m->seq - 1));
}

/* Does the rank's leaving show when the collective ended?  Who was held by it saw the end.  So did who came
 * long after others that were held: it cannot have ended before, and the rank left soon.  A rank that is
 * always last is aligned by nothing else. */
static bool shows_end(const struct graph *g, uint32_t rank, const struct raw *raw)
{
    const struct meeting *m = meeting_at(g, raw->meeting);
    double long_s = HELD_OTHERS * m->all.max_stay_s;

    if (raw->blocking || raw_stay_s(raw) >= fmax(g->held_s, long_s))
        return true;
    return m->all.posted_ns && m->all.posted_by == rank &&
           (double)(raw->leave_ns - m->all.posted_ns) * 1e-9 <= long_s;
}

/* What the collectives of the step say of the nodes' clocks. */
void graph_align(struct graph *g, const struct window *w)
{
    struct leave *leave = NULL;
    size_t n = 0, cap = 0;

    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++) {
            struct meeting *m = meeting_at(g, w[r].raw[i].meeting);

            if (!m->measured)
                begin_meeting(g, m);
            if (w[r].raw[i].side == CALL_COLLECTIVE)
                m->all.max_stay_s = fmaxf(m->all.max_stay_s, (float)raw_stay_s(&w[r].raw[i]));
        }
    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++) {
            const struct raw *raw = &w[r].raw[i];

            if (raw->side != CALL_COLLECTIVE)
                continue;
            if (!(raw->does & GRAPH_IS_HELD)) {
                meeting_at(g, raw->meeting)->all.posted_ns = raw->enter_ns;
                meeting_at(g, raw->meeting)->all.posted_by = r;
                continue;
            }
            if (!shows_end(g, r, raw))
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
    if (!g->one_clock)
        graph_clock_align(g->clock, g->nodes);
}

static void look_at_call(struct graph *g, uint32_t rank, const struct raw *raw)
{
    struct meeting *m = meeting_at(g, raw->meeting);
    double enter_s = moment_s(g, rank, raw->enter_ns), left_s = moment_s(g, rank, raw->leave_ns);

    if (!m->measured) /* it was put back */
        begin_meeting(g, m);
    if (raw->side == CALL_SENDS) {
        if (raw->does & GRAPH_ARRIVES) /* not where a nonblocking one is completed */
            m->message.send_s = enter_s;
        if ((raw->blocking && raw->leave_ns != raw->enter_ns) || !(raw->does & GRAPH_ARRIVES))
            m->message.send_stay_s = (float)(left_s - m->message.send_s);
        return;
    }
    if (raw->side == CALL_RECEIVES) {
        m->message.recv_s = enter_s;
        m->message.recv_stay_s = (float)(left_s - enter_s);
        return;
    }
    if (raw->does & GRAPH_ARRIVES)
        m->start_s = fmax(m->start_s, enter_s);
    if (!(raw->does & GRAPH_IS_HELD))
        return;
    if (raw->blocking)
        m->all.min_stay_s = fminf(m->all.min_stay_s, (float)(left_s - enter_s));
    m->all.least_left_s = fmin(m->all.least_left_s, left_s);
    if (raw->blocking || raw_stay_s(raw) > g->held_s)
        m->all.held_left_s = fmin(m->all.held_left_s, left_s);
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

/* What a transfer was not longer than; clocks that nothing compares bound nothing. */
static float bound_of(double most_s)
{
    return isfinite(most_s) ? (float)most_s : NAN;
}

/* It took from its start to its end, which are off by error_s to each other. */
static void take_transfer(struct meeting *m, struct kind *k, double error_s)
{
    double transfer_s = m->end_s - m->start_s;

    if (error_s > CLOCK_ERROR * transfer_s) {
        m->max_s = bound_of(transfer_s + 2 * error_s);
        return;
    }
    m->transfer_s = (float)transfer_s;
    follow_usual(k, transfer_s);
}

/* Did the receiver, who came late, find it there? */
static bool is_found(double usual_s, double stay_s)
{
    return stay_s < fmax(0.5 * usual_s, THERE_S);
}

/* Was it there when the receiver came, or not begun before (rendezvous)?  One that is on its way takes less
 * than half of its time when the receiver comes in the second half of it, and seldom a small part of how late
 * the receiver is. left: its sender had gone on before. */
static void note_protocol(struct protocol *p, double usual_s, double late_s, double stay_s, bool left)
{
    if (is_found(usual_s, stay_s)) {
        p->found++;
    } else if (late_s > (usual_s > 0 ? 1 : SELDOM) * stay_s) {
        p->waited++;
        p->left += left;
    }
}

/* Of an eager message: it was there, and who came late spent a moment to take it. */
static bool was_there(double usual_s, double late_s, double stay_s)
{
    if (is_found(usual_s, stay_s))
        return true;
    return usual_s > 0 ? late_s > LONG_AGO * usual_s && stay_s < 2 * usual_s : late_s > SELDOM * stay_s;
}

static void late_receiver(struct graph *g, struct meeting *m, struct kind *k, double stay_s, double error_s)
{
    struct protocol *p = &g->protocol[k->info.size][graph_crosses(g, k)];
    double late_s = m->message.recv_s - m->message.send_s, usual_s = isnan(k->usual_s) ? 0 : k->usual_s;

    if (late_s > stay_s && late_s > 2 * error_s)
        note_protocol(p, usual_s, late_s, stay_s, (double)m->message.send_stay_s + 2 * error_s < late_s);
    if (!graph_is_eager(g, k)) {
        m->start_s = m->message.recv_s;
        if (p->waited)
            take_transfer(m, k, 0);
        else
            m->max_s = bound_of(late_s + stay_s + 2 * error_s);
    } else if (was_there(usual_s, late_s, stay_s)) {
        m->end_s = fmin(m->message.recv_s + m->message.recv_stay_s, m->message.send_s + usual_s);
        m->max_s = bound_of(late_s + stay_s + 2 * error_s);
    } else {
        take_transfer(m, k, error_s);
    }
}

/* Standard deviation of the difference of two moments at the message's ends. */
static double clock_error_s(const struct graph *g, const struct kind *k)
{
    if (g->one_clock)
        return graph_crosses(g, k) ? g->error_s : 0;
    return graph_clock_error_s(g->clock, g->rank[k->info.from].node, g->rank[k->info.to].node);
}

static void message_over(struct graph *g, struct meeting *m, struct kind *k)
{
    double late_s = m->message.recv_s - m->message.send_s, stay_s = m->message.recv_stay_s;
    double error_s = clock_error_s(g, k);

    if (isnan(m->message.recv_s)) /* it is received in a later step, or that is not recorded */
        return;
    /* its sender's record is missing: whatever held the receiver, nothing moves it */
    if (isnan(m->message.send_s)) {
        m->start_s = m->message.recv_s;
        m->end_s = m->message.recv_s + m->message.recv_stay_s;
        return;
    }
    m->start_s = m->message.send_s;
    m->end_s = fmax(m->message.send_s, m->message.recv_s + m->message.recv_stay_s);
    if (late_s > 0)
        late_receiver(g, m, k, stay_s, error_s);
    else /* it was waited for from its beginning */
        take_transfer(m, k, error_s);
}

/* One after another on a communicator. */
static double meeting_begin_s(const struct graph *g, const struct meeting *m)
{
    double start_s = m->start_s;

    if (m->before != GRAPH_NONE)
        start_s = fmax(start_s, meeting_at(g, m->before)->end_s);
    return start_s;
}

static void collective_over(const struct graph *g, struct meeting *m, struct kind *k)
{
    double start_s = meeting_begin_s(g, m);

    if (m->all.min_stay_s < INFINITY) /* blocking: who stayed shortest came last, and no clock is needed */
        m->transfer_s = (float)fmax(0, m->all.min_stay_s);
    else if (m->all.held_left_s < INFINITY && m->all.held_left_s > start_s)
        m->transfer_s = (float)(m->all.held_left_s - start_s);
    if (!isnan(m->transfer_s)) {
        m->end_s = start_s + m->transfer_s;
        follow_usual(k, m->transfer_s);
        return;
    }
    if (m->all.least_left_s > start_s)
        m->max_s = (float)(m->all.least_left_s - start_s);
    m->end_s = fmin(m->all.least_left_s, start_s + (isnan(k->usual_s) ? 0 : k->usual_s));
    m->end_s = fmax(m->end_s, start_s);
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
            struct kind *k = &g->kind[m->kind];

            if (!isnan(m->end_s))
                continue;
            if (k->info.message)
                message_over(g, m, k);
            else if (m->all.least_left_s < INFINITY)
                collective_over(g, m, k);
            m->over_s = (float)fmax(0, m->end_s - meeting_begin_s(g, m));
        }
}
