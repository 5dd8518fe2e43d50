/* view_stall.c - does a job stand still, since when, and who holds it up.
 *
 * Evidence, the strongest first: a process that cannot run; a rank that is in none of the calls in which the others wait,
 * or that is in an older collective of the same communicator, or in another one than they; a rank in a message while the
 * others wait in a collective; ranks that wait for each other in a circle of communicators.  Partners of the messages that
 * are waited for are not known: a rank is named only if it waits for nobody. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_stall_private.h"
#include "common/xalloc.h"
#include "ring/ring.h"

#define OPEN_STEPS   5.0 /* a collective open for this many steps, and at least OPEN_S, is a stall */
#define OPEN_S       3.0
#define SILENT_STEPS 20.0 /* so is no step for this many, and at least SILENT_S, whatever the calls are */
#define SILENT_S     30.0
#define REPORTS_S    10.0 /* agents report at least this often: without any item nothing is known */
#define SAME_TIME    0.1  /* of a step: as long ago as the other */
#define CIRCLE_MAX   64u  /* ranks that wait for each other: communicators are few */

/* ---- what each rank does ---- */

static bool waits_for_messages(const struct view *v, const struct view_rank *k)
{
    return k->inside_op == RING_OP_POINT_TO_POINT ||
           (k->inside_op == RING_OP_WAIT && !view_comms_size(v, k->inside_comm));
}

enum stall_doing view_stall_doing(const struct view *v, const struct view_rank *k, double now_s)
{
    if (!k->known || k->ended || k->live_at_s + LIVE_VALID_S <= now_s)
        return STALL_ELSEWHERE;
    if (k->inside_op != RING_OP_NONE)
        return waits_for_messages(v, k) ? STALL_MESSAGE : STALL_COLLECTIVE;
    return k->live_op == RING_OP_NONE ? STALL_OUTSIDE : STALL_ELSEWHERE;
}

static void look(const struct view *v, double now_s, struct stall_scene *s)
{
    *s = (struct stall_scene){ .collective_s = INFINITY, .message_s = INFINITY, .halted_s = INFINITY };
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        const struct view_rank *k = view_ranks_at(v, r);
        enum stall_doing doing = view_stall_doing(v, k, now_s);

        s->ranks += k->known && !k->ended;
        s->ended += k->known && k->ended && !k->vanished;
        if (doing == STALL_COLLECTIVE) {
            s->collectives++;
            s->collective_s = fmin(s->collective_s, k->inside_since_s);
            s->open_collective |= k->never_left;
        } else if (doing == STALL_MESSAGE) {
            s->messages++;
            s->message_s = fmin(s->message_s, k->inside_since_s);
            s->open_message |= k->never_left;
        }
        if (view_rank_process(k, now_s) != PROCESS_RUNS) {
            s->halted++;
            s->halted_s = fmin(s->halted_s, k->process_since_s);
        }
    }
}

static bool somebody_computes(const struct view *v, double now_s)
{
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        const struct view_rank *k = view_ranks_at(v, r);

        if (k->known && !k->ended && view_stall_doing(v, k, now_s) <= STALL_OUTSIDE &&
            !(view_health_cpu_ratio(v, r) < STALL_IDLE_RATIO))
            return true;
    }
    return false;
}

/* ---- does it stand still ---- */

double view_stall_limit_s(const struct view *v, double now_s)
{
    double step_s = view_steps_mean_s(v, now_s);

    return isnan(step_s) ? 2 * OPEN_S : fmax(OPEN_S, OPEN_STEPS * step_s);
}

static double silent_limit_s(const struct view *v, double now_s)
{
    double step_s = view_steps_mean_s(v, now_s);

    return isnan(step_s) ? SILENT_S : fmax(SILENT_S, SILENT_STEPS * step_s);
}

double view_stall_idle_since_s(const struct view *v)
{
    const struct step_count *steps = view_steps_count(v);

    return steps->period ? fmax(steps->seen_s, v->moved_s) : v->active_s;
}

/* How long it has stood still; negative: it does not. */
static double still_s(const struct view *v, double now_s, const struct stall_scene *s)
{
    double limit_s = view_stall_limit_s(v, now_s), open_s = now_s - s->collective_s,
           idle_s = now_s - view_stall_idle_since_s(v), age_s = -1;

    if (open_s > limit_s || (v->finished && s->open_collective))
        age_s = open_s;
    if (s->open_message && (now_s - s->message_s > limit_s || v->finished))
        age_s = fmax(age_s, now_s - s->message_s);
    if (v->finished || !s->ranks || s->ended || now_s > v->item_s + REPORTS_S)
        return age_s;
    if (s->halted && fmin(idle_s, now_s - s->halted_s) > limit_s)
        age_s = fmax(age_s, fmin(idle_s, now_s - s->halted_s));
    if (idle_s <= silent_limit_s(v, now_s))
        return age_s;
    /* Without steps: some wait for a message for as long, and nobody works on it. */
    if (view_steps_count(v)->period ||
        (fmin(s->message_s, s->collective_s) < now_s - SILENT_S && !somebody_computes(v, now_s)))
        age_s = fmax(age_s, idle_s);
    return age_s;
}

/* ---- who holds it up ---- */

struct place { /* a rank's newest collective of a communicator */
    uint64_t comm;
    uint32_t seq, rank;
    bool inside;
};

enum mark { UNMARKED, PASSED, BEHIND_OUTSIDE, BEHIND_INSIDE, DIFFERS };

static int by_comm(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->comm != y->comm ? (x->comm > y->comm) - (x->comm < y->comm)
                              : (x->seq > y->seq) - (x->seq < y->seq);
}

static void collect_places(struct stall_search *s)
{
    for (uint32_t r = 0; r < view_rank_limit(s->v); r++) {
        const struct view_rank *k = view_ranks_at(s->v, r);
        enum stall_doing doing = view_stall_doing(s->v, k, s->now_s);
        struct place p = { k->inside_comm, k->inside_seq, r, doing == STALL_COLLECTIVE };

        if (!k->known || k->ended || doing == STALL_MESSAGE)
            continue;
        if (doing == STALL_ELSEWHERE) {
            p.comm = k->left_op == RING_OP_NONE ? 0 : k->left_comm;
            p.seq = k->left_seq;
        }
        if (view_comms_size(s->v, p.comm))
            s->place[s->n_places++] = p;
    }
    if (s->n_places)
        qsort(s->place, s->n_places, sizeof(*s->place), by_comm);
}

static struct stall_front front_of(const struct stall_search *s, size_t from, size_t to)
{
    struct stall_front f = { .comm = s->place[from].comm, .since_s = INFINITY };

    for (size_t i = to; i-- > from;) {
        const struct view_rank *k = view_ranks_at(s->v, s->place[i].rank);

        if (!s->place[i].inside || (f.waiting && s->place[i].seq != f.seq))
            continue;
        f.seq = s->place[i].seq;
        f.op = k->inside_op;
        f.since_s = fmin(f.since_s, k->inside_since_s);
        f.waiting++;
    }
    return f;
}

/* More wait in it; between equals on the larger communicator, then for longer. */
static bool weightier(const struct view *v, const struct stall_front *a, const struct stall_front *b)
{
    uint32_t x = view_comms_size(v, a->comm), y = view_comms_size(v, b->comm);

    if (a->waiting != b->waiting || !a->waiting)
        return a->waiting > b->waiting;
    return x != y ? x > y : a->since_s < b->since_s;
}

/* Who of a communicator's ranks [from, to) is behind the newest collective that any of them is in. */
static void mark_group(struct stall_search *s, size_t from, size_t to, uint32_t newest)
{
    uint32_t oldest = s->place[from].seq;

    for (size_t i = from; i < to; i++) {
        const struct place *p = &s->place[i];

        if (p->seq >= newest)
            s->mark[p->rank] = PASSED;
        else if (p->seq == oldest)
            s->mark[p->rank] = p->inside ? BEHIND_INSIDE : BEHIND_OUTSIDE;
    }
}

/* The operation of most of the ranks inside of the front.  Where a nonblocking one is waited for it is not known. */
static uint8_t common_op(const struct stall_search *s, size_t from, size_t to, const struct stall_front *f)
{
    uint32_t n[RING_OP_MAX] = { 0 };
    uint8_t best = f->op;

    for (size_t i = from; i < to; i++)
        if (s->place[i].inside && s->place[i].seq == f->seq)
            n[view_ranks_at(s->v, s->place[i].rank)->inside_op]++;
    n[RING_OP_WAIT] = 0;
    for (uint8_t op = 0; op < RING_OP_MAX; op++)
        best = n[op] > n[best] ? op : best;
    return best;
}

/* Ranks that call another collective than most do: the program is wrong. */
static void mark_different(struct stall_search *s, size_t from, size_t to, const struct stall_front *f)
{
    for (size_t i = from; i < to; i++) {
        const struct place *p = &s->place[i];
        uint8_t op = view_ranks_at(s->v, p->rank)->inside_op;

        if (p->inside && p->seq == f->seq && op != f->op && op != RING_OP_WAIT && f->op != RING_OP_WAIT)
            s->mark[p->rank] = DIFFERS;
    }
}

static void mark_ranks(struct stall_search *s, bool polled)
{
    for (size_t from = 0, to; from < s->n_places; from = to) {
        struct stall_front f;

        for (to = from + 1; to < s->n_places && s->place[to].comm == s->place[from].comm;)
            to++;
        f = front_of(s, from, to);
        f.op = common_op(s, from, to, &f);
        if (weightier(s->v, &f, &s->front))
            s->front = f;
        if (f.waiting) {
            mark_group(s, from, to, f.seq);
            mark_different(s, from, to, &f);
        } else if (polled) {
            mark_group(s, from, to, s->place[to - 1].seq);
        }
    }
}

static bool halted(const struct stall_search *s, const struct view_rank *k)
{
    return view_rank_process(k, s->now_s) != PROCESS_RUNS;
}

static bool gone(const struct stall_search *s, const struct view_rank *k)
{
    (void)s;
    return k->known && k->vanished;
}

static bool behind_outside(const struct stall_search *s, const struct view_rank *k)
{
    return s->mark[k - view_ranks_at(s->v, 0)] == BEHIND_OUTSIDE;
}

static bool behind_inside(const struct stall_search *s, const struct view_rank *k)
{
    return s->mark[k - view_ranks_at(s->v, 0)] == BEHIND_INSIDE;
}

static bool differs(const struct stall_search *s, const struct view_rank *k)
{
    return s->mark[k - view_ranks_at(s->v, 0)] == DIFFERS;
}

static bool waits_for_nobody(const struct stall_search *s, const struct view_rank *k)
{
    return k->known && !k->ended && view_stall_doing(s->v, k, s->now_s) <= STALL_OUTSIDE &&
           s->mark[k - view_ranks_at(s->v, 0)] != PASSED;
}

static bool in_message(const struct stall_search *s, const struct view_rank *k)
{
    return s->scene.collectives && view_stall_doing(s->v, k, s->now_s) == STALL_MESSAGE;
}

/* Unless somebody was named before. */
static void name_all(struct stall_search *s, enum stall_why why,
                     bool is(const struct stall_search *s, const struct view_rank *k))
{
    if (s->n)
        return;
    s->why = why;
    for (uint32_t r = 0; r < view_rank_limit(s->v); r++)
        if (is(s, view_ranks_at(s->v, r)))
            s->rank[s->n++] = r;
}

/* Since when a rank has been in no collective. */
static double out_since_s(const struct stall_search *s, uint32_t rank)
{
    const struct view_rank *k = view_ranks_at(s->v, rank);

    return view_stall_doing(s->v, k, s->now_s) == STALL_ELSEWHERE ? k->left_at_s
                                                                  : fmin(k->inside_since_s, s->now_s);
}

/* Of those that were named, the ones that have been out of any collective for longest: another one may just have left an
 * inner group's (or the record that it is inside is lost). */
static void keep_first(struct stall_search *s)
{
    double step_s = view_steps_mean_s(s->v, s->now_s), since_s = INFINITY;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        since_s = fmin(since_s, out_since_s(s, s->rank[i]));
    since_s += isnan(step_s) ? 0 : SAME_TIME * step_s;
    for (uint32_t i = 0; i < s->n; i++)
        if (out_since_s(s, s->rank[i]) <= since_s)
            s->rank[n++] = s->rank[i];
    s->n = n;
}

/* Those that do not compute either, if the others do. */
static void keep_idle(struct stall_search *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        n += view_health_cpu_ratio(s->v, s->rank[i]) < STALL_IDLE_RATIO;
    if (!n || n == s->n)
        return;
    n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (view_health_cpu_ratio(s->v, s->rank[i]) < STALL_IDLE_RATIO)
            s->rank[n++] = s->rank[i];
    s->n = n;
}

/* A member of the collective in which a rank waits that has not come to it, and waits in another one; the rank itself: none. */
static uint32_t waited_for(const struct stall_search *s, uint32_t rank)
{
    const struct view_rank *k = view_ranks_at(s->v, rank);

    for (uint32_t r = 0; r < view_rank_limit(s->v); r++) {
        const struct view_rank *other = view_ranks_at(s->v, r);

        if (r != rank && view_stall_doing(s->v, other, s->now_s) == STALL_COLLECTIVE &&
            view_comms_member(s->v, k->inside_comm, r) && other->inside_comm != k->inside_comm)
            return r;
    }
    return rank;
}

/* Follow who waits for whom until a rank comes again. */
static void name_circle(struct stall_search *s)
{
    uint32_t limit = view_rank_limit(s->v), rank = 0, first, n = 0;

    s->why = STALL_NOBODY;
    if (s->scene.collectives != s->scene.ranks || !limit)
        return;
    while (rank < limit && view_stall_doing(s->v, view_ranks_at(s->v, rank), s->now_s) != STALL_COLLECTIVE)
        rank++;
    for (uint32_t i = 0; i < CIRCLE_MAX && rank < limit; i++)
        rank = waited_for(s, rank);
    first = rank;
    for (uint32_t i = 0; i < CIRCLE_MAX && rank < limit; i++) { /* begin with the smallest */
        rank = waited_for(s, rank);
        first = rank < first ? rank : first;
    }
    for (rank = first; n < CIRCLE_MAX && n < limit && (!n || rank != first); rank = waited_for(s, rank))
        s->rank[n++] = rank;
    s->n = n > 1 && rank == first ? n : 0;
    s->why = s->n ? STALL_CIRCLE : STALL_NOBODY;
}

static void name(struct stall_search *s)
{
    name_all(s, STALL_HALTED, halted);
    name_all(s, STALL_MISSING, gone);
    name_all(s, STALL_MISSING, behind_outside);
    name_all(s, STALL_DIFFERS, differs);
    if (!s->n) {
        name_all(s, STALL_MISSING, waits_for_nobody);
        if (s->n == s->scene.ranks)
            s->n = 0; /* all of them: nobody waits for anybody */
        keep_idle(s);
        keep_first(s);
    }
    name_all(s, STALL_BEHIND, behind_inside);
    if (!s->n) {
        name_all(s, STALL_MISSING, in_message);
        keep_first(s);
    }
    if (!s->n)
        name_circle(s);
}

/* ---- all together ---- */

static void search_open(struct stall_search *s, const struct view *v, double now_s,
                        const struct stall_scene *scene)
{
    uint32_t n = view_rank_limit(v);

    *s = (struct stall_search){ .v = v,
                                .now_s = now_s,
                                .scene = *scene,
                                .place = xcalloc(n + 1, sizeof(*s->place)),
                                .mark = xcalloc(n + 1, sizeof(*s->mark)),
                                .rank = xcalloc(n + 1, sizeof(*s->rank)) };
}

static void search_close(struct stall_search *s)
{
    free(s->place);
    free(s->mark);
    free(s->rank);
}

bool view_stall_find(const struct view *v, double now_s, struct view_stall *out)
{
    struct stall_scene scene;
    struct stall_search s;
    bool waits;

    look(v, now_s, &scene);
    *out = (struct view_stall){ .age_s = still_s(v, now_s, &scene) };
    if (out->age_s < 0)
        return false;
    search_open(&s, v, now_s, &scene);
    collect_places(&s);
    mark_ranks(&s, !scene.collectives && !scene.messages);
    name(&s);
    view_stall_words(&s, out->text, sizeof(out->text));
    waits = s.n || scene.collectives || scene.messages;
    out->open = v->finished && (scene.open_collective || scene.open_message);
    out->hang = (out->age_s > v->params.hang_timeout_s && waits) || out->open;
    out->n_culprits = s.n < VIEW_CULPRITS_MAX ? s.n : VIEW_CULPRITS_MAX;
    memcpy(out->culprit, s.rank, out->n_culprits * sizeof(out->culprit[0]));
    search_close(&s);
    return true;
}
