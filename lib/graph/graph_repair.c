/* graph_repair.c - calls whose records are missing, put back where the rank's usual step and the others'
 * records show them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "graph/graph_private.h"

#define AT_ONCE 8u /* missing calls in a row */
/* times the usual transfer: who stayed that long waited for one who is not recorded */
#define LAST 2.0

/* All calls of the step, by what they are and which meeting they belong to. */
struct record {
    uint32_t kind, meeting, rank;
    struct raw raw;
};

struct records {
    struct record *at;
    size_t n, cap;
};

static int by_meeting(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->meeting > y->meeting) - (x->meeting < y->meeting);
}

static struct records gather_records(const struct graph *g, const struct window *w)
{
    struct records all = { 0 };

    for (uint32_t r = 0; r < g->n_ranks; r++)
        for (size_t i = 0; i < w[r].n; i++) {
            all.at = xgrow(all.at, &all.cap, all.n + 1, sizeof(*all.at));
            all.at[all.n++] = (struct record){ meeting_at(g, w[r].raw[i].meeting)->kind, w[r].raw[i].meeting,
                                               r, w[r].raw[i] };
        }
    if (all.n)
        qsort(all.at, all.n, sizeof(*all.at), by_meeting);
    return all;
}

/* The first record of this meeting, or after it of its kind; one after the last: there is none. */
static const struct record *first_of(const struct records *all, uint32_t kind, uint32_t meeting)
{
    struct record key = { .kind = kind, .meeting = meeting };
    size_t low = 0, high = all->n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (by_meeting(&all->at[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return all->at + low;
}

static uint64_t later_ns(uint64_t from_ns, double s, uint64_t to_ns)
{
    return s > 0 ? s * 1e9 < (double)(to_ns - from_ns) ? from_ns + (uint64_t)(s * 1e9) : to_ns : from_ns;
}

/* A moment of the common clock as the rank's node shows it, between these two. */
static uint64_t shown_ns(const struct graph *g, uint32_t rank, double s, uint64_t from_ns, uint64_t to_ns)
{
    return later_ns(from_ns, s - moment_s(g, rank, from_ns), to_ns);
}

/* ---- which meeting it was ---- */

/* The step's meeting of this kind with that number; GRAPH_NONE: nobody's record shows it. */
static uint32_t find_meeting(const struct graph *g, const struct records *all, uint32_t kind, uint32_t seq)
{
    const struct record *k = first_of(all, kind, 0);

    for (; k < all->at + all->n && k->kind == kind; k++)
        if (meeting_at(g, k->meeting)->seq == seq)
            return k->meeting;
    return GRAPH_NONE;
}

/* ---- when it was ---- */

/* Of a message: when it was sent and received; of a collective: what those who were held in it say. */
struct seen {
    double sent_s, received_s, stay_s;
    double left_s, min_stay_s;
};

static struct seen look_at_meeting(const struct graph *g, const struct records *all, uint32_t kind,
                                   uint32_t meeting)
{
    struct seen seen = { NAN, NAN, NAN, INFINITY, INFINITY };

    for (const struct record *k = first_of(all, kind, meeting);
         k < all->at + all->n && k->kind == kind && k->meeting == meeting; k++) {
        double stay_s = raw_stay_s(&k->raw);

        if (k->raw.side == CALL_SENDS && (k->raw.does & GRAPH_ARRIVES))
            seen.sent_s = moment_s(g, k->rank, k->raw.enter_ns);
        if (k->raw.side == CALL_RECEIVES) {
            seen.received_s = moment_s(g, k->rank, k->raw.leave_ns);
            seen.stay_s = stay_s;
        }
        if (!(k->raw.does & GRAPH_IS_HELD))
            continue;
        seen.left_s = fmin(seen.left_s, moment_s(g, k->rank, k->raw.leave_ns));
        if (k->raw.blocking)
            seen.min_stay_s = fmin(seen.min_stay_s, stay_s);
    }
    return seen;
}

/* The call's moments, between these; work_s: what its rank mostly does before it. */
static void date_call(const struct graph *g, const struct records *all, uint32_t rank, struct raw *raw,
                      double work_s, uint64_t from_ns, uint64_t to_ns)
{
    uint32_t kind = meeting_at(g, raw->meeting)->kind;
    struct seen seen = look_at_meeting(g, all, kind, raw->meeting);
    double takes_s = isnan(g->kind[kind].usual_s) ? 0 : g->kind[kind].usual_s, enter_s;

    raw->enter_ns = raw->leave_ns = later_ns(from_ns, work_s, to_ns);
    enter_s = moment_s(g, rank, raw->enter_ns);
    if (raw->side == CALL_SENDS) {
        if (seen.stay_s > takes_s || seen.received_s - takes_s < enter_s)
            raw->enter_ns = raw->leave_ns = shown_ns(g, rank, seen.received_s - takes_s, from_ns, to_ns);
    } else if (raw->side == CALL_RECEIVES) {
        double begun_s = graph_is_eager(g, &g->kind[kind]) ? seen.sent_s : fmax(seen.sent_s, enter_s);

        if (!isnan(seen.sent_s))
            raw->leave_ns = shown_ns(g, rank, begun_s + takes_s, raw->enter_ns, to_ns);
    } else if (raw->does & GRAPH_IS_HELD) {
        raw->leave_ns = shown_ns(g, rank, seen.left_s, from_ns, to_ns);
        raw->enter_ns = raw->enter_ns < raw->leave_ns ? raw->enter_ns : raw->leave_ns;
        if (raw->blocking && seen.min_stay_s < INFINITY && seen.min_stay_s > LAST * takes_s)
            raw->enter_ns = shown_ns(g, rank, seen.left_s - takes_s, from_ns, raw->leave_ns);
    }
}

/* ---- a rank's step ---- */

static double usual_s(const struct graph *g, const struct rank *k, size_t slot)
{
    float s = k->slot[slot].place == GRAPH_NONE ? NAN : g->place[k->slot[slot].place].usual_s;

    return isnan(s) ? 0 : s;
}

/* Those of a step's records of calls, and the number of the step. */
struct step {
    struct records all;
    uint32_t number;
};

static bool put_back(struct graph *g, const struct step *step, struct window *w, uint32_t rank, size_t at,
                     size_t slot)
{
    struct rank *k = &g->rank[rank];
    const struct slot *p = &k->slot[slot];
    struct raw raw = { .meeting =
                           find_meeting(g, &step->all, p->token >> 8, p->first + p->each * step->number),
                       .side = p->token >> 4 & 0xf,
                       .does = p->token & 0xf };
    uint64_t from_ns = at ? w->raw[at - 1].leave_ns : w->begun_ns, to_ns = w->raw[at].enter_ns;

    if (raw.meeting == GRAPH_NONE || !from_ns)
        return false;
    raw.blocking = raw.side != CALL_COLLECTIVE || raw.does == (GRAPH_ARRIVES | GRAPH_IS_HELD);
    date_call(g, &step->all, rank, &raw, usual_s(g, k, slot), from_ns, to_ns > from_ns ? to_ns : from_ns);
    graph_raw_insert(g, k, at, &raw);
    w->raw = k->raw;
    w->n++;
    return true;
}

static void repair_rank(struct graph *g, const struct step *step, struct window *w, uint32_t rank)
{
    struct rank *k = &g->rank[rank];
    size_t slot = 0;
    bool same = true;

    for (size_t i = 0; i < w->n; i++) {
        uint32_t token = graph_token(g, &w->raw[i]);
        size_t to = slot;

        while (to < k->places && to < slot + AT_ONCE && k->slot[to].token != token)
            to++;
        if (to >= k->places || k->slot[to].token != token) { /* not in its usual step */
            same = false;
            continue;
        }
        for (; slot < to; slot++) {
            if (put_back(g, step, w, rank, i, slot))
                i++;
            else
                same = false;
        }
        slot++;
    }
    if (!same || slot != k->places)
        return;
    for (size_t i = 0; i < w->n; i++)
        w->raw[i].lost = false;
}

void graph_repair(struct graph *g, struct window *w, uint32_t number)
{
    struct step step = { .number = number };

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        if (!g->rank[r].whole || !w[r].n || (w[r].n == g->rank[r].places && !window_lost(&w[r])))
            continue;
        if (!step.all.n)
            step.all = gather_records(g, w);
        repair_rank(g, &step, &w[r], r);
    }
    free(step.all.at);
}

/* ---- the end of a step ---- */

/* The collective with which all ranks end it, as far as that is recorded. */
static const struct raw *end_of(const struct graph *g, uint32_t number)
{
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        const struct rank *k = &g->rank[r];
        const struct raw *raw;

        if (!k->n_ends || k->end[0].number != number || k->end[0].at == k->gone)
            continue;
        raw = &k->raw[k->end[0].at - k->gone - 1];
        return raw->side == CALL_COLLECTIVE && raw->blocking ? raw : NULL;
    }
    return NULL;
}

static double ended_s(const struct graph *g, uint32_t number)
{
    double s = INFINITY;

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        const struct rank *k = &g->rank[r];

        if (k->n_ends && k->end[0].number == number && k->end[0].at > k->gone)
            s = fmin(s, moment_s(g, r, k->raw[k->end[0].at - k->gone - 1].leave_ns));
    }
    return s;
}

bool graph_repair_end(struct graph *g, uint32_t number)
{
    const struct raw *end = end_of(g, number);
    double end_s = ended_s(g, number),
           inside_s = end_s; /* nobody enters its next call while others are still in this one */
    struct raw raw;

    if (!end || !g->steps)
        return false;
    inside_s -= fmax(0, g->kind[meeting_at(g, end->meeting)->kind].usual_s) / 2;
    raw = (struct raw){ .meeting = end->meeting, .side = end->side, .does = end->does, .blocking = true };
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];
        size_t at = 0;

        if (!k->known || !k->n_ends || k->end[0].number == number)
            continue;
        while (at < k->n && moment_s(g, r, k->raw[at].enter_ns) < inside_s)
            at++;
        if (!at || at == k->n || !k->whole)
            return false;
    }
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct rank *k = &g->rank[r];
        size_t at = 0;

        if (!k->known || !k->n_ends || k->end[0].number == number)
            continue;
        while (moment_s(g, r, k->raw[at].enter_ns) < inside_s)
            at++;
        raw.leave_ns = shown_ns(g, r, end_s, k->raw[at - 1].leave_ns, k->raw[at].enter_ns);
        raw.enter_ns = later_ns(k->raw[at - 1].leave_ns, usual_s(g, k, k->places - 1), raw.leave_ns);
        graph_raw_insert(g, k, at, &raw);
        graph_end_insert(k, 0, &(struct end){ number, k->gone + at + 1, k->end[0].begun_ns });
        k->end[1].begun_ns = raw.leave_ns;
    }
    return true;
}
