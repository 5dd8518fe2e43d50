/* view_stall.c - does a job stand still, since when, and who holds it up.
 *
 * Evidence, the strongest first: a process that cannot run; a rank that is in none of the calls in which the others wait,
 * or that is in an older collective of the same communicator, or in another one than they; a rank in a message while the
 * others wait in a collective; ranks that wait for each other in a circle of communicators.  Partners of the messages that
 * are waited for are not known: a rank is named only if it waits for nobody. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/view_private.h"
#include "common/units.h"
#include "common/xalloc.h"
#include "ring/ring.h"

#define OPEN_STEPS    5.0  /* a collective open for this many steps, and at least OPEN_S, is a stall */
#define OPEN_S        3.0
#define SILENT_STEPS  20.0 /* so is no step for this many, and at least SILENT_S, whatever the calls are */
#define SILENT_S      30.0
#define REPORTS_S     10.0 /* agents report at least this often: without any item nothing is known */
#define SAME_TIME     0.1  /* of a step: as long ago as the other */
#define CIRCLE_MAX    64u  /* ranks that wait for each other: communicators are few */
#define IDLE_RATIO    0.05 /* of a CPU: a process that uses less does not compute */

/* ---- what each rank does ---- */

enum doing {
    ELSEWHERE, /* in short calls and between them, or nothing is known */
    OUTSIDE,   /* in no call for long */
    COLLECTIVE,
    MESSAGE
};

static bool waits_for_messages(const struct view *v, const struct view_rank *k)
{
    return k->inside_op == RING_OP_POINT_TO_POINT ||
           (k->inside_op == RING_OP_WAIT && !view_comms_size(v, k->inside_comm));
}

static enum doing doing_of(const struct view *v, const struct view_rank *k, double now_s)
{
    if (!k->known || k->ended || k->live_at_s + LIVE_VALID_S <= now_s)
        return ELSEWHERE;
    if (k->inside_op != RING_OP_NONE)
        return waits_for_messages(v, k) ? MESSAGE : COLLECTIVE;
    return k->live_op == RING_OP_NONE ? OUTSIDE : ELSEWHERE;
}

struct scene {
    uint32_t ranks, collectives, messages; /* that run; of them, that wait in ... */
    uint32_t halted;                       /* whose process cannot run */
    uint32_t ended;                        /* that do not run any more */
    double collective_s, message_s, halted_s; /* since when the first of them has; infinite: none */
    bool open_collective, open_message;       /* in a trace: the record ends inside of one */
};

static void look(const struct view *v, double now_s, struct scene *s)
{
    *s = (struct scene){ .collective_s = INFINITY, .message_s = INFINITY, .halted_s = INFINITY };
    for (uint32_t r = 0; r < view_rank_limit(v); r++) {
        const struct view_rank *k = view_ranks_at(v, r);
        enum doing doing = doing_of(v, k, now_s);

        s->ranks += k->known && !k->ended;
        s->ended += k->known && k->ended && !k->vanished;
        if (doing == COLLECTIVE) {
            s->collectives++;
            s->collective_s = fmin(s->collective_s, k->inside_since_s);
            s->open_collective |= k->never_left;
        } else if (doing == MESSAGE) {
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

        if (k->known && !k->ended && doing_of(v, k, now_s) <= OUTSIDE && !(view_health_cpu_ratio(v, r) < IDLE_RATIO))
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

/* Since when no rank has come further: a step, or a collective of the communicator that steps are counted on; without
 * steps, any call.  Infinite: not known. */
static double idle_since_s(const struct view *v)
{
    const struct step_count *steps = view_steps_count(v);

    return steps->period ? fmax(steps->seen_s, v->moved_s) : v->active_s;
}

/* How long it has stood still; negative: it does not. */
static double still_s(const struct view *v, double now_s, const struct scene *s)
{
    double limit_s = view_stall_limit_s(v, now_s), open_s = now_s - s->collective_s, idle_s = now_s - idle_since_s(v),
           age_s = -1;

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

/* A communicator in whose newest collective ranks wait. */
struct front {
    uint64_t comm;
    uint32_t seq, waiting;
    uint8_t op;
    double since_s;
};

enum mark { UNMARKED, PASSED, BEHIND_OUTSIDE, BEHIND_INSIDE, DIFFERS };

struct search {
    const struct view *v;
    double now_s;
    struct scene scene;
    struct place *place;
    size_t n_places;
    uint8_t *mark; /* by rank */
    struct front front; /* in which most wait; waiting 0: none */
    uint32_t *rank, n; /* that hold it up */
    bool circle;       /* they wait for each other */
};

static int by_comm(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return x->comm != y->comm ? (x->comm > y->comm) - (x->comm < y->comm) : (x->seq > y->seq) - (x->seq < y->seq);
}

static void collect_places(struct search *s)
{
    for (uint32_t r = 0; r < view_rank_limit(s->v); r++) {
        const struct view_rank *k = view_ranks_at(s->v, r);
        enum doing doing = doing_of(s->v, k, s->now_s);
        struct place p = { k->inside_comm, k->inside_seq, r, doing == COLLECTIVE };

        if (!k->known || k->ended || doing == MESSAGE)
            continue;
        if (doing == ELSEWHERE) {
            p.comm = k->left_op == RING_OP_NONE ? 0 : k->left_comm;
            p.seq = k->left_seq;
        }
        if (view_comms_size(s->v, p.comm))
            s->place[s->n_places++] = p;
    }
    if (s->n_places)
        qsort(s->place, s->n_places, sizeof(*s->place), by_comm);
}

static struct front front_of(const struct search *s, size_t from, size_t to)
{
    struct front f = { .comm = s->place[from].comm, .since_s = INFINITY };

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
static bool weightier(const struct view *v, const struct front *a, const struct front *b)
{
    uint32_t x = view_comms_size(v, a->comm), y = view_comms_size(v, b->comm);

    if (a->waiting != b->waiting || !a->waiting)
        return a->waiting > b->waiting;
    return x != y ? x > y : a->since_s < b->since_s;
}

/* Who of a communicator's ranks [from, to) is behind the newest collective that any of them is in. */
static void mark_group(struct search *s, size_t from, size_t to, uint32_t newest)
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
static uint8_t common_op(const struct search *s, size_t from, size_t to, const struct front *f)
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
static void mark_different(struct search *s, size_t from, size_t to, const struct front *f)
{
    for (size_t i = from; i < to; i++) {
        const struct place *p = &s->place[i];
        uint8_t op = view_ranks_at(s->v, p->rank)->inside_op;

        if (p->inside && p->seq == f->seq && op != f->op && op != RING_OP_WAIT && f->op != RING_OP_WAIT)
            s->mark[p->rank] = DIFFERS;
    }
}

static void mark_ranks(struct search *s, bool polled)
{
    for (size_t from = 0, to; from < s->n_places; from = to) {
        struct front f;

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

static bool halted(const struct search *s, const struct view_rank *k)
{
    return view_rank_process(k, s->now_s) != PROCESS_RUNS;
}

static bool gone(const struct search *s, const struct view_rank *k)
{
    (void)s;
    return k->known && k->vanished;
}

static bool behind_outside(const struct search *s, const struct view_rank *k)
{
    return s->mark[k - view_ranks_at(s->v, 0)] == BEHIND_OUTSIDE;
}

static bool behind_inside(const struct search *s, const struct view_rank *k)
{
    return s->mark[k - view_ranks_at(s->v, 0)] == BEHIND_INSIDE;
}

static bool differs(const struct search *s, const struct view_rank *k)
{
    return s->mark[k - view_ranks_at(s->v, 0)] == DIFFERS;
}

static bool waits_for_nobody(const struct search *s, const struct view_rank *k)
{
    return k->known && !k->ended && doing_of(s->v, k, s->now_s) <= OUTSIDE &&
           s->mark[k - view_ranks_at(s->v, 0)] != PASSED;
}

static bool in_message(const struct search *s, const struct view_rank *k)
{
    return s->scene.collectives && doing_of(s->v, k, s->now_s) == MESSAGE;
}

static void name_all(struct search *s, bool is(const struct search *s, const struct view_rank *k))
{
    for (uint32_t r = 0; r < view_rank_limit(s->v); r++)
        if (is(s, view_ranks_at(s->v, r)))
            s->rank[s->n++] = r;
}

/* Since when a rank has been in no collective. */
static double out_since_s(const struct search *s, uint32_t rank)
{
    const struct view_rank *k = view_ranks_at(s->v, rank);

    return doing_of(s->v, k, s->now_s) == ELSEWHERE ? k->left_at_s : fmin(k->inside_since_s, s->now_s);
}

/* Of those that were named, the ones that have been out of any collective for longest: another one may just have left an
 * inner group's (or the record that it is inside is lost). */
static void keep_first(struct search *s)
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
static void keep_idle(struct search *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++)
        n += view_health_cpu_ratio(s->v, s->rank[i]) < IDLE_RATIO;
    if (!n || n == s->n)
        return;
    n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (view_health_cpu_ratio(s->v, s->rank[i]) < IDLE_RATIO)
            s->rank[n++] = s->rank[i];
    s->n = n;
}

/* A member of the collective in which a rank waits that has not come to it, and waits in another one; the rank itself: none. */
static uint32_t waited_for(const struct search *s, uint32_t rank)
{
    const struct view_rank *k = view_ranks_at(s->v, rank);

    for (uint32_t r = 0; r < view_rank_limit(s->v); r++) {
        const struct view_rank *other = view_ranks_at(s->v, r);

        if (r != rank && doing_of(s->v, other, s->now_s) == COLLECTIVE && view_comms_member(s->v, k->inside_comm, r) &&
            other->inside_comm != k->inside_comm)
            return r;
    }
    return rank;
}

/* Follow who waits for whom until a rank comes again. */
static void name_circle(struct search *s)
{
    uint32_t limit = view_rank_limit(s->v), rank = 0, first, n = 0;

    if (s->scene.collectives != s->scene.ranks || !limit)
        return;
    while (rank < limit && doing_of(s->v, view_ranks_at(s->v, rank), s->now_s) != COLLECTIVE)
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
    s->circle = n > 1 && rank == first;
    s->n = s->circle ? n : 0;
}

static void name(struct search *s)
{
    name_all(s, halted);
    if (!s->n)
        name_all(s, gone);
    if (!s->n)
        name_all(s, behind_outside);
    if (!s->n)
        name_all(s, differs);
    if (!s->n) {
        name_all(s, waits_for_nobody);
        if (s->n == s->scene.ranks)
            s->n = 0; /* all of them: nobody waits for anybody */
        keep_idle(s);
        keep_first(s);
    }
    if (!s->n)
        name_all(s, behind_inside);
    if (!s->n) {
        name_all(s, in_message);
        keep_first(s);
    }
    if (!s->n)
        name_circle(s);
}

/* ---- words ---- */

struct words {
    char text[512];
    size_t at;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (w->at >= sizeof(w->text))
        return;
    va_start(ap, fmt);
    n = vsnprintf(w->text + w->at, sizeof(w->text) - w->at, fmt, ap);
    va_end(ap);
    w->at += n > 0 ? (size_t)n : 0;
}

struct short_text {
    char s[64];
};

static struct short_text seconds(double s)
{
    struct short_text t;

    units_format_s(t.s, 32, s);
    return t;
}

static struct short_text label(const struct view *v, uint64_t comm)
{
    struct short_text t;

    view_comm_label(v, comm, t.s, sizeof(t.s));
    return t;
}

/* A nonblocking collective that is waited for has lost its name. */
static const char *collective_name(uint8_t op)
{
    return op == RING_OP_WAIT || op == RING_OP_NONE ? "collective" : ring_op_name(op);
}

static const char *message_name(uint8_t op)
{
    return op == RING_OP_WAIT ? "a wait for messages" : "a send, receive or probe";
}

/* " in allreduce 12 of world", of a rank that waits. */
static void say_call(struct words *w, const struct search *s, const struct view_rank *k)
{
    switch (doing_of(s->v, k, s->now_s)) {
    case COLLECTIVE:
        say(w, " in %s %u of %s", collective_name(k->inside_op), k->inside_seq, label(s->v, k->inside_comm).s);
        break;
    case MESSAGE:
        say(w, " in %s", message_name(k->inside_op));
        break;
    case OUTSIDE:
        say(w, " outside of MPI");
        if (view_comms_size(s->v, k->inside_comm))
            say(w, ", after collective %u of %s,", k->inside_seq, label(s->v, k->inside_comm).s);
        break;
    case ELSEWHERE:
        break;
    }
}

/* "its process is gone", "outside of MPI for 41 s, ..." */
static void say_state(struct words *w, const struct search *s, uint32_t rank)
{
    const struct view_rank *k = view_ranks_at(s->v, rank);
    double cpu = view_health_cpu_ratio(s->v, rank);

    if (k->vanished) {
        say(w, "its process is gone");
    } else if (k->ended) {
        say(w, "it has finalized MPI");
    } else if (k->live_at_s + LIVE_VALID_S <= s->now_s) { /* a trace does not report what a rank is doing */
        if (k->left_op == RING_OP_NONE)
            say(w, "it never reported a collective");
        else
            say(w, "its last record is leaving %s %u of %s", ring_op_name(k->left_op), k->left_seq,
                label(s->v, k->left_comm).s);
    } else if (k->live_op == RING_OP_NONE) {
        say(w, "outside of MPI for %s", seconds(s->now_s - k->inside_since_s).s);
        if (cpu < IDLE_RATIO)
            say(w, " without computing");
        if (view_comms_size(s->v, k->inside_comm))
            say(w, ", its last collective was %u", k->inside_seq);
    } else {
        say(w, "in %s for %s", message_name(k->live_op), seconds(s->now_s - k->inside_since_s).s);
    }
}

static void say_rank(struct words *w, const struct search *s, uint32_t rank)
{
    say(w, "rank %u on %s", rank, view_place_name(s->v, view_ranks_at(s->v, rank)->node));
}

static void say_behind(struct words *w, uint32_t n)
{
    if (n == 1)
        say(w, "one collective behind");
    else
        say(w, "%u collectives behind", n);
}

/* How far a rank is behind the front; 0: it is not, or on another communicator. */
static uint32_t lag(const struct search *s, const struct view_rank *k)
{
    bool same = s->front.waiting && k->inside_comm == s->front.comm && k->live_at_s + LIVE_VALID_S > s->now_s;

    return same && k->inside_seq < s->front.seq ? s->front.seq - k->inside_seq : 0;
}

/* "7 others wait in allreduce 1235" */
static void say_others(struct words *w, const struct search *s)
{
    uint32_t others = s->scene.collectives + s->scene.messages;

    for (uint32_t i = 0; i < s->n; i++)
        others -= doing_of(s->v, view_ranks_at(s->v, s->rank[i]), s->now_s) >= COLLECTIVE;
    if (!others)
        say(w, "no step for %s", seconds(s->now_s - idle_since_s(s->v)).s);
    else if (s->front.waiting)
        say(w, "%u other%s in %s %u of %s", others, others == 1 ? " waits" : "s wait", collective_name(s->front.op),
            s->front.seq, label(s->v, s->front.comm).s);
    else
        say(w, "%u other%s for messages", others, others == 1 ? " waits" : "s wait");
}

static void describe_halted(struct words *w, const struct search *s)
{
    static const char *const states[PROCESS_STATES] = {
        [PROCESS_STOPPED] = "stopped (SIGSTOP)",
        [PROCESS_TRACED] = "stopped by a debugger",
        [PROCESS_BLOCKED] = "blocked in the kernel (uninterruptible, most often by storage)",
    };
    const struct view_rank *k = view_ranks_at(s->v, s->rank[0]);
    const char *state = states[view_rank_process(k, s->now_s)];
    struct short_text age = seconds(s->now_s - k->process_since_s);
    uint32_t behind = lag(s, k);

    if (s->n == s->scene.ranks && s->n > 1) {
        say(w, "all %u ranks are %s, the first for %s", s->n, state, age.s);
        return;
    }
    if (s->n > 1)
        say(w, "%u ranks cannot run, the first of them: ", s->n);
    say_rank(w, s, s->rank[0]);
    say(w, " is %s", state);
    say_call(w, s, k);
    say(w, " for %s", age.s);
    if (behind) {
        say(w, ", ");
        say_behind(w, behind);
    }
    say(w, "; ");
    say_others(w, s);
}

static void describe_behind(struct words *w, const struct search *s)
{
    const struct view_rank *k = view_ranks_at(s->v, s->rank[0]);

    if (s->n > 1)
        say(w, "%u ranks are behind, the first of them: ", s->n);
    say_rank(w, s, s->rank[0]);
    say(w, " is ");
    if (lag(s, k))
        say_behind(w, lag(s, k));
    else
        say(w, "behind");
    say(w, ":");
    say_call(w, s, k);
    say(w, " for %s, ", seconds(s->now_s - k->inside_since_s).s);
    say_others(w, s);
}

static void describe_different(struct words *w, const struct search *s)
{
    const struct view_rank *k = view_ranks_at(s->v, s->rank[0]);

    if (s->n > 1)
        say(w, "%u ranks call another collective than the others, the first of them: ", s->n);
    say_rank(w, s, s->rank[0]);
    say(w, " is");
    say_call(w, s, k);
    say(w, " for %s, ", seconds(s->now_s - k->inside_since_s).s);
    say_others(w, s);
    say(w, ": the program calls different collectives");
}

#define CIRCLE_WORDS 4u /* more ranks are too many for a sentence */

static void describe_circle(struct words *w, const struct search *s)
{
    say(w, "a deadlock of %u ranks:", s->n);
    for (uint32_t i = 0; i < s->n && i < CIRCLE_WORDS; i++) {
        const struct view_rank *k = view_ranks_at(s->v, s->rank[i]);

        say(w, "%s rank %u waits", i ? "," : "", s->rank[i]);
        say_call(w, s, k);
        say(w, " for rank %u", s->rank[(i + 1) % s->n]);
    }
}

/* Ranks that the others wait for, and that wait for nobody themselves, or for a message. */
static void describe_missing(struct words *w, const struct search *s)
{
    const struct front *f = &s->front;
    uint32_t size = view_comms_size(s->v, f->comm);
    const char *verb = s->n == 1 ? "is" : "are";

    if (f->waiting)
        say(w, "%s %u of %s (%u ranks) has been open for %s: %u inside, waiting for ", collective_name(f->op), f->seq,
            label(s->v, f->comm).s, size ? size : f->waiting, seconds(s->now_s - f->since_s).s, f->waiting);
    else if (s->scene.messages)
        say(w, "no message for %s: %u rank%s for one; ", seconds(s->now_s - s->scene.message_s).s, s->scene.messages,
            s->scene.messages == 1 ? " waits" : "s wait");
    else
        say(w, "no step for %s: ", seconds(s->now_s - idle_since_s(s->v)).s);
    if (s->n > 1)
        say(w, "%u %s, the first of them ", s->n, f->waiting ? "others" : "ranks");
    say_rank(w, s, s->rank[0]);
    if (!f->waiting)
        say(w, "%s %s %s", s->n > 1 ? "," : "", verb, s->scene.messages ? "in no call" : "behind the others");
    say(w, " (");
    say_state(w, s, s->rank[0]);
    say(w, ")");
}

static void describe_nobody(struct words *w, const struct search *s)
{
    const struct front *f = &s->front;
    uint32_t size = view_comms_size(s->v, f->comm);

    if (f->waiting && f->waiting == s->scene.ranks)
        say(w, "%s %u of %s (%u ranks) has been open for %s: every rank has entered and none leaves, so the transfer itself has stopped",
            collective_name(f->op), f->seq, label(s->v, f->comm).s, size ? size : f->waiting,
            seconds(s->now_s - f->since_s).s);
    else if (f->waiting)
        say(w, "%s %u of %s (%u ranks) has been open for %s: %u inside; the other ranks wait in other calls, and which of them holds the "
               "others up is not known",
            collective_name(f->op), f->seq, label(s->v, f->comm).s, size ? size : f->waiting,
            seconds(s->now_s - f->since_s).s, f->waiting);
    else if (s->scene.messages)
        say(w, "no message for %s: %u of %u ranks wait for one, no process is stopped, and who should send is not known",
            seconds(s->now_s - s->scene.message_s).s, s->scene.messages, s->scene.ranks);
    else
        say(w, "no step for %s: no rank waits in a call, so all compute, poll or write", seconds(s->now_s - idle_since_s(s->v)).s);
}

static void describe(struct words *w, const struct search *s)
{
    const struct view_rank *k = s->n ? view_ranks_at(s->v, s->rank[0]) : NULL;

    if (!k)
        describe_nobody(w, s);
    else if (halted(s, k))
        describe_halted(w, s);
    else if (s->circle)
        describe_circle(w, s);
    else if (differs(s, k))
        describe_different(w, s);
    else if (behind_inside(s, k))
        describe_behind(w, s);
    else
        describe_missing(w, s);
}

/* ---- all together ---- */

static void search_open(struct search *s, const struct view *v, double now_s, const struct scene *scene)
{
    uint32_t n = view_rank_limit(v);

    *s = (struct search){ .v = v,
                          .now_s = now_s,
                          .scene = *scene,
                          .place = xcalloc(n + 1, sizeof(*s->place)),
                          .mark = xcalloc(n + 1, sizeof(*s->mark)),
                          .rank = xcalloc(n + 1, sizeof(*s->rank)) };
}

static void search_close(struct search *s)
{
    free(s->place);
    free(s->mark);
    free(s->rank);
}

bool view_stall_find(const struct view *v, double now_s, struct view_stall *out)
{
    struct words w = { "", 0 };
    struct scene scene;
    struct search s;
    bool waits;

    look(v, now_s, &scene);
    *out = (struct view_stall){ .age_s = still_s(v, now_s, &scene) };
    if (out->age_s < 0)
        return false;
    search_open(&s, v, now_s, &scene);
    collect_places(&s);
    mark_ranks(&s, !scene.collectives && !scene.messages);
    name(&s);
    describe(&w, &s);
    waits = s.n || scene.collectives || scene.messages;
    out->open = v->finished && (scene.open_collective || scene.open_message);
    out->hang = (out->age_s > v->params.hang_timeout_s && waits) || out->open;
    out->n_culprits = s.n < VIEW_CULPRITS_MAX ? s.n : VIEW_CULPRITS_MAX;
    memcpy(out->culprit, s.rank, out->n_culprits * sizeof(out->culprit[0]));
    memcpy(out->text, w.text, sizeof(out->text));
    search_close(&s);
    return true;
}
