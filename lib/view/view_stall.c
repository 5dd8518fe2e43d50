/* view_stall.c - does a job stand still, since when, and who holds it up.
 *
 * Evidence, the strongest first: a process that cannot run; a node that has gone silent; a rank that is in
 * none of the calls in which the others wait, or that is in an older collective of the same communicator, or
 * in another one than they, or in the same with another size; ranks at the end of the chains of those that
 * wait for one another (view_stall_waits.c), or that wait for each other in a circle of calls; a rank in a
 * message while the others wait in a collective.  With whom a rank exchanges several messages at once is not
 * known. Where a record says how far each rank has come in its communicators, the chains tell more than the
 * rest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "ring/ring.h"
#include "view/view_stall_private.h"

/* a collective open for this many steps, and at least OPEN_S, is a stall */
#define OPEN_STEPS 5.0
#define OPEN_S     3.0
/* so is no step for this many, and at least SILENT_S, whatever the calls are */
#define SILENT_STEPS 20.0
#define SILENT_S     30.0
/* agents report at least this often: without any item nothing is known */
#define REPORTS_S   10.0
#define ALONE_RATIO 4u   /* ranks that do nothing, to one that waits for them */
#define SAME_TIME   0.1  /* of a step: as long ago as the other */
#define SUSPENDED_S 15.0 /* by then it is known whether Slurm has stopped all ranks */

/* ---- what each rank does ---- */

static void look_at_ranks(const struct view *v, double now_s, struct stall_scene *s)
{
    *s = (struct stall_scene){ .collective_s = INFINITY, .message_s = INFINITY, .halted_s = INFINITY };
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct view_rank *k = roster_at(v->roster, r);
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
        if (roster_process(k, now_s) != PROCESS_RUNS) {
            s->halted++;
            s->halted_s = fmin(s->halted_s, k->process_since_s);
        }
    }
    s->silence = presence_silence(v->presence);
    s->heard = s->ranks - s->silence.ranks;
}

static bool somebody_computes(const struct view *v, double now_s)
{
    for (uint32_t r = 0; r < roster_limit(v->roster); r++) {
        const struct view_rank *k = roster_at(v->roster, r);

        if (k->known && !k->ended && view_stall_doing(v, k, now_s) <= STALL_OUTSIDE &&
            !(view_health_cpu_ratio(v, r) < STALL_IDLE_RATIO))
            return true;
    }
    return false;
}

/* ---- does it stand still ---- */

double view_stall_limit_s(const struct view *v, double now_s)
{
    double step_s = steps_mean_s(v->steps, now_s);

    return isnan(step_s) ? 2 * OPEN_S : fmax(OPEN_S, OPEN_STEPS * step_s);
}

/* Ranks of silent nodes, after which nobody runs of whom the view hears: those of the other nodes were ended
 * with them. */
static bool is_cut_off(const struct view *v, const struct stall_scene *s)
{
    if (s->heard)
        return false;
    for (uint32_t r = 0; r < roster_limit(v->roster); r++)
        if (roster_at(v->roster, r)->known && roster_at(v->roster, r)->ended)
            return true;
    return false;
}

/* How long it has stood still; negative: it does not. */
static double still_s(const struct view *v, double now_s, const struct stall_scene *s)
{
    double limit_s = view_stall_limit_s(v, now_s), open_s = now_s - s->collective_s,
           idle_s = now_s - view_stall_idle_since_s(v), age_s = -1, step_s;

    if (s->silence.ranks && is_cut_off(v, s))
        return now_s - presence_silent_since_s(v->presence, s->silence.first);
    if (open_s > limit_s || (presence_finished(v->presence) && s->open_collective))
        age_s = open_s;
    if (s->open_message && (now_s - s->message_s > limit_s || presence_finished(v->presence)))
        age_s = fmax(age_s, now_s - s->message_s);
    if (presence_finished(v->presence) || !s->ranks || s->ended || now_s > v->item_s + REPORTS_S)
        return age_s;
    if (s->halted && fmin(idle_s, now_s - s->halted_s) > limit_s)
        age_s = fmax(age_s, fmin(idle_s, now_s - s->halted_s));
    step_s = steps_mean_s(v->steps, now_s);
    if (idle_s <= (isnan(step_s) ? SILENT_S : fmax(SILENT_S, SILENT_STEPS * step_s)))
        return age_s;
    /* Without steps: some wait for a message for as long, and nobody works on it. */
    if (steps_count(v->steps)->period ||
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

enum mark { UNMARKED, PASSED, BEHIND_OUTSIDE, BEHIND_INSIDE, DIFFERS, OTHER_SIZE };

static int by_comm(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->comm != y->comm ? (x->comm > y->comm) - (x->comm < y->comm)
                              : (x->seq > y->seq) - (x->seq < y->seq);
}

static void collect_places(struct stall_search *s)
{
    for (uint32_t r = 0; r < roster_limit(s->v->roster); r++) {
        const struct view_rank *k = roster_at(s->v->roster, r);
        enum stall_doing doing = view_stall_doing(s->v, k, s->now_s);
        struct place p = { k->inside_comm, k->inside_seq, r, doing == STALL_COLLECTIVE };

        if (!k->known || k->ended || doing == STALL_MESSAGE)
            continue;
        if (doing == STALL_ELSEWHERE) {
            p.comm = k->left_op == RING_OP_NONE ? 0 : k->left_comm;
            p.seq = k->left_seq;
        }
        if (communicators_size(s->v->communicators, p.comm))
            s->place[s->n_places++] = p;
    }
    if (s->n_places)
        qsort(s->place, s->n_places, sizeof(*s->place), by_comm);
}

static struct stall_front front_of(const struct stall_search *s, size_t from, size_t to)
{
    struct stall_front f = { .comm = s->place[from].comm, .since_s = INFINITY };

    for (size_t i = to; i-- > from;) {
        const struct view_rank *k = roster_at(s->v->roster, s->place[i].rank);

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
    uint32_t x = communicators_size(v->communicators, a->comm),
             y = communicators_size(v->communicators, b->comm);

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

/* The operation of most of the ranks inside of the front.  Where a nonblocking one is waited for it is not
 * known. */
static uint8_t common_op(const struct stall_search *s, size_t from, size_t to, const struct stall_front *f)
{
    uint32_t n[RING_OP_MAX] = { 0 };
    uint8_t best = f->op;

    for (size_t i = from; i < to; i++)
        if (s->place[i].inside && s->place[i].seq == f->seq)
            n[roster_at(s->v->roster, s->place[i].rank)->inside_op]++;
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
        uint8_t op = roster_at(s->v->roster, p->rank)->inside_op;

        if (p->inside && p->seq == f->seq && op != f->op && op != RING_OP_WAIT && f->op != RING_OP_WAIT)
            s->mark[p->rank] = DIFFERS;
    }
}

/* All pass the same number of bytes in it. */
static bool has_one_size(uint8_t op)
{
    return op == RING_OP_ALLREDUCE || op == RING_OP_REDUCE || op == RING_OP_BCAST;
}

/* Bytes that this place passes in the front; 0: it is not in it, or they are not known. */
static uint64_t bytes_in(const struct stall_search *s, const struct place *p, const struct stall_front *f)
{
    const struct view_rank *k = roster_at(s->v->roster, p->rank);

    return p->inside && p->seq == f->seq && k->inside_op == f->op ? k->inside_bytes : 0;
}

/* Ranks that call the same collective with another size than most do. */
static void mark_sizes(struct stall_search *s, size_t from, size_t to, const struct stall_front *f)
{
    uint64_t most = 0; /* by majority vote (R. Boyer, J. Moore, MJRTY, 1981) */
    size_t votes = 0;

    for (size_t i = from; i < to && has_one_size(f->op); i++) {
        uint64_t bytes = bytes_in(s, &s->place[i], f);

        if (!bytes)
            continue;
        if (!votes)
            most = bytes;
        votes += bytes == most ? 1 : (size_t)-1;
    }
    for (size_t i = from; i < to && has_one_size(f->op); i++)
        if (bytes_in(s, &s->place[i], f) && bytes_in(s, &s->place[i], f) != most)
            s->mark[s->place[i].rank] = OTHER_SIZE;
}

/* The front of the communicator whose ranks are [from, *to). */
static struct stall_front next_front(const struct stall_search *s, size_t from, size_t *to)
{
    struct stall_front f;

    for (*to = from + 1; *to < s->n_places && s->place[*to].comm == s->place[from].comm;)
        ++*to;
    f = front_of(s, from, *to);
    f.op = common_op(s, from, *to, &f);
    return f;
}

static void mark_ranks(struct stall_search *s, bool polled)
{
    for (size_t from = 0, to; from < s->n_places; from = to) {
        struct stall_front f = next_front(s, from, &to);

        if (weightier(s->v, &f, &s->front))
            s->front = f;
        if (f.waiting) {
            mark_group(s, from, to, f.seq);
            mark_different(s, from, to, &f);
            mark_sizes(s, from, to, &f);
        } else if (polled) {
            mark_group(s, from, to, s->place[to - 1].seq);
        }
    }
}

static bool halted(const struct stall_search *s, const struct view_rank *k)
{
    return roster_process(k, s->now_s) != PROCESS_RUNS;
}

static bool lost(const struct stall_search *s, const struct view_rank *k)
{
    return k->known && !k->ended && !isinf(presence_silent_since_s(s->v->presence, k->node));
}

/* Unless Slurm ended it. */
static bool gone(const struct stall_search *s, const struct view_rank *k)
{
    return k->known && k->vanished && presence_slurm(s->v->presence) != VIEW_SLURM_ENDS;
}

static bool behind_outside(const struct stall_search *s, const struct view_rank *k)
{
    return s->mark[k - roster_at(s->v->roster, 0)] == BEHIND_OUTSIDE;
}

static bool behind_inside(const struct stall_search *s, const struct view_rank *k)
{
    return s->mark[k - roster_at(s->v->roster, 0)] == BEHIND_INSIDE;
}

static bool differs(const struct stall_search *s, const struct view_rank *k)
{
    return s->mark[k - roster_at(s->v->roster, 0)] == DIFFERS;
}

static bool has_other_size(const struct stall_search *s, const struct view_rank *k)
{
    return s->mark[k - roster_at(s->v->roster, 0)] == OTHER_SIZE;
}

static bool waits_for_nobody(const struct stall_search *s, const struct view_rank *k)
{
    return k->known && !k->ended && !view_stall_is_counted(k) &&
           view_stall_doing(s->v, k, s->now_s) <= STALL_OUTSIDE &&
           s->mark[k - roster_at(s->v->roster, 0)] != PASSED;
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
    for (uint32_t r = 0; r < roster_limit(s->v->roster); r++)
        if (is(s, roster_at(s->v->roster, r)))
            s->rank[s->n++] = r;
}

/* Since when a rank has been in no collective. */
static double out_since_s(const struct stall_search *s, uint32_t rank)
{
    const struct view_rank *k = roster_at(s->v->roster, rank);

    return view_stall_doing(s->v, k, s->now_s) == STALL_ELSEWHERE ? k->left_at_s
                                                                  : fmin(k->inside_since_s, s->now_s);
}

/* Of those that were named, the ones that have been out of any collective for longest: another one may just
 * have left an inner group's (or the record that it is inside is lost). */
static void keep_first(struct stall_search *s)
{
    double step_s = steps_mean_s(s->v->steps, s->now_s), since_s = INFINITY;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        since_s = fmin(since_s, out_since_s(s, s->rank[i]));
    since_s += isnan(step_s) ? 0 : SAME_TIME * step_s;
    for (uint32_t i = 0; i < s->n; i++)
        if (out_since_s(s, s->rank[i]) <= since_s)
            s->rank[n++] = s->rank[i];
    s->n = n;
}

static bool is_idle(const struct stall_search *s, uint32_t rank)
{
    return view_health_cpu_ratio(s->v, rank) < STALL_IDLE_RATIO;
}

static bool is_awaited(const struct stall_search *s, uint32_t rank)
{
    return s->awaited[rank];
}

/* Of those that were named, the ones that are so, if any is. */
static void keep_those(struct stall_search *s, bool is(const struct stall_search *s, uint32_t rank))
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        n += is(s, s->rank[i]);
    if (!n)
        return;
    n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (is(s, s->rank[i]))
            s->rank[n++] = s->rank[i];
    s->n = n;
}

static bool ends_chains(const struct stall_search *s, const struct view_rank *k)
{
    uint8_t end = s->end[k - roster_at(s->v->roster, 0)];

    return end == STALL_END_FREE || end == STALL_END_BEHIND;
}

static bool ends_chains_unrecorded(const struct stall_search *s, const struct view_rank *k)
{
    return ends_chains(s, k) || s->end[k - roster_at(s->v->roster, 0)] == STALL_END_UNRECORDED;
}

static bool ends_chains_unknown(const struct stall_search *s, const struct view_rank *k)
{
    return s->end[k - roster_at(s->v->roster, 0)] == STALL_END_UNKNOWN;
}

/* Others wait for it while it waits itself: for whom is not known. */
static bool is_awaited_in_call(const struct stall_search *s, uint32_t rank)
{
    return s->awaited[rank] &&
           view_stall_doing(s->v, roster_at(s->v->roster, rank), s->now_s) >= STALL_COLLECTIVE;
}

/* Whoever the chains of ranks that wait for one another end at.  That others' records are missing says little
 * of them where they are many: then not all files were given. */
static void name_roots(struct stall_search *s)
{
    uint32_t limit = roster_limit(s->v->roster), recorded = 0, unrecorded = 0;

    if (s->n)
        return;
    for (uint32_t r = 0; r < limit; r++) {
        recorded += roster_at(s->v->roster, r)->known && !roster_at(s->v->roster, r)->unrecorded;
        unrecorded += s->end[r] == STALL_END_UNRECORDED;
    }
    name_all(s, STALL_ROOTS, unrecorded < recorded ? ends_chains_unrecorded : ends_chains);
    if (s->n == 1 && s->end[s->rank[0]] == STALL_END_FREE && s->front.waiting &&
        s->missed[s->rank[0]].comm == s->front.comm && s->missed[s->rank[0]].seq == s->front.seq)
        s->why = STALL_MISSING; /* it is missing where most wait */
    if (!s->n && unrecorded) {
        s->why = STALL_UNRECORDED;
    } else if (!s->n && s->n_circle) {
        s->why = STALL_CIRCLE;
        memcpy(s->rank, s->circle, s->n_circle * sizeof(*s->rank));
        s->n = s->n_circle;
    } else if (!s->n && !s->told) {
        name_all(s, STALL_MISSING, ends_chains_unknown);
        s->n = s->n == 1 && is_awaited_in_call(s, s->rank[0]);
    }
}

static bool is_in_front(const struct stall_search *s, const struct view_rank *k)
{
    return k->known && !k->ended && view_stall_doing(s->v, k, s->now_s) == STALL_COLLECTIVE &&
           k->inside_comm == s->front.comm && k->inside_seq == s->front.seq;
}

/* One of the few ranks that wait has called a collective too many, where the many others do nothing any more:
 * that all of these stand still at once, for another reason, is less likely. */
static void name_alone(struct stall_search *s)
{
    uint32_t size = communicators_size(s->v->communicators, s->front.comm);

    if (!s->n || s->n < ALONE_RATIO * s->front.waiting || s->n + s->front.waiting < size)
        return;
    for (uint32_t i = 0; i < s->n && !presence_finished(s->v->presence); i++)
        if (!is_idle(s, s->rank[i]))
            return;
    s->n = 0;
    name_all(s, STALL_ALONE, is_in_front);
}

/* By what a record says, which has all that there was to know. */
static void name_recorded(struct stall_search *s)
{
    s->why = STALL_NOBODY;
    name_all(s, STALL_DIFFERS, differs);
    name_all(s, STALL_SIZES, has_other_size);
    name_roots(s);
    if (!s->n && s->why != STALL_UNRECORDED)
        s->why = STALL_NOBODY;
}

static void name_culprits(struct stall_search *s)
{
    name_all(s, STALL_HALTED, halted);
    name_all(s, STALL_LOST, lost);
    name_all(s, STALL_MISSING, gone);
    if (s->told && !s->n) {
        name_recorded(s);
        return;
    }
    if (!s->n) {
        name_all(s, STALL_MISSING, behind_outside);
        name_alone(s);
    }
    name_all(s, STALL_DIFFERS, differs);
    name_all(s, STALL_SIZES, has_other_size);
    if (!s->n) {
        name_all(s, STALL_MISSING, waits_for_nobody);
        if (s->n == s->scene.ranks)
            s->n = 0; /* all of them: nobody waits for anybody */
        keep_those(s, is_awaited);
        keep_those(s, is_idle);
        keep_first(s);
    }
    name_all(s, STALL_BEHIND, behind_inside);
    name_roots(s);
    if (!s->n) {
        name_all(s, STALL_MISSING, in_message);
        keep_first(s);
    }
    if (!s->n)
        s->why = STALL_NOBODY;
}

/* Who is named may not be a member where most wait, but of another communicator in which some do: these wait
 * for it. */
static void choose_front(struct stall_search *s)
{
    struct stall_front best = { 0 };

    if (!s->n || !s->front.waiting || view_stall_belongs(s->v, s->front.comm, s->rank[0]))
        return;
    for (size_t from = 0, to; from < s->n_places; from = to) {
        struct stall_front f = next_front(s, from, &to);

        if (f.waiting && view_stall_belongs(s->v, f.comm, s->rank[0]) && weightier(s->v, &f, &best))
            best = f;
    }
    if (best.waiting)
        s->front = best;
}

/* What a rank is named by. */
static uint32_t culprit_of(const struct view_stall *s, const struct view *v, uint32_t rank)
{
    return s->lost ? roster_at(v->roster, rank)->node : rank;
}

bool view_stall_names(const struct view_stall *s, const struct view *v, uint32_t rank)
{
    for (uint32_t i = 0; i < s->n_culprits; i++)
        if (s->culprit[i] == culprit_of(s, v, rank))
            return true;
    return false;
}

bool view_stall_find(const struct view *v, double now_s, struct view_stall *out)
{
    uint32_t limit = roster_limit(v->roster);
    struct stall_search s = { .v = v, .now_s = now_s };
    const struct stall_scene *scene = &s.scene;
    double limit_s = v->params.hang_timeout_s;

    look_at_ranks(v, now_s, &s.scene);
    *out = (struct view_stall){ .age_s = still_s(v, now_s, scene) };
    if (out->age_s < 0)
        return false;
    s.place = xcalloc(limit + 1, sizeof(*s.place));
    s.mark = xcalloc(limit + 1, sizeof(*s.mark));
    s.told = communicators_told(v->communicators);
    s.awaited = xcalloc(limit + 1, sizeof(*s.awaited));
    s.end = xcalloc(limit + 1, sizeof(*s.end));
    s.waiter = xcalloc(limit + 1, sizeof(*s.waiter));
    memset(s.waiter, 0xff, (limit + 1) * sizeof(*s.waiter));
    s.missed = xcalloc(limit + 1, sizeof(*s.missed));
    s.circle = xcalloc(limit + 1, sizeof(*s.circle));
    s.rank = xcalloc(limit + 1, sizeof(*s.rank));
    collect_places(&s);
    mark_ranks(&s, !scene->collectives && !scene->messages);
    stall_waits_find(&s);
    name_culprits(&s);
    choose_front(&s);
    view_stall_words(&s, out->text, sizeof(out->text));
    /* All of a sudden stopped: that may be Slurm, which answers in a moment. */
    if (scene->halted && scene->halted == scene->ranks)
        limit_s = fmax(limit_s, SUSPENDED_S);
    out->open = presence_finished(v->presence) && (scene->open_collective || scene->open_message);
    out->lost = s.why == STALL_LOST;
    out->hang =
        (out->age_s > limit_s && (s.n || scene->collectives || scene->messages)) || out->open || out->lost;
    for (uint32_t i = 0; i < s.n && out->n_culprits < VIEW_CULPRITS_MAX; i++)
        if (!view_stall_names(out, v, s.rank[i]))
            out->culprit[out->n_culprits++] = culprit_of(out, v, s.rank[i]);
    free(s.place);
    free(s.mark);
    free(s.awaited);
    free(s.end);
    free(s.waiter);
    free(s.missed);
    free(s.circle);
    free(s.rank);
    return true;
}
