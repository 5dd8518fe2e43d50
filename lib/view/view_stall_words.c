/* view_stall_words.c - who holds up a job that stands still, as a sentence. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/text.h"
#include "ring/ring.h"
#include "view/view_stall_private.h"

struct words {
    char *text;
    size_t size, at;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (w->at >= w->size)
        return;
    va_start(ap, fmt);
    n = vsnprintf(w->text + w->at, w->size - w->at, fmt, ap);
    va_end(ap);
    w->at += n > 0 ? (size_t)n : 0;
}

struct short_text {
    char s[64];
};

static struct short_text label(const struct view *v, uint64_t comm)
{
    struct short_text t;

    communicators_label(v->communicators, comm, t.s, sizeof(t.s));
    return t;
}

/* A nonblocking collective that is waited for has lost its name. */
static const char *collective_name(uint8_t op)
{
    return op == RING_OP_WAIT || op == RING_OP_NONE ? "collective" : ring_op_name(op);
}

/* "allreduce 12 of world", "send 12 to rank 3 on world" */
static void say_left(struct words *w, const struct view *v, const struct left_item *l)
{
    uint32_t peer = l->peer;

    if (!ring_op_is_message(l->op)) {
        say(w, "%s %u of %s", ring_op_name(l->op), l->seq, label(v, l->comm).s);
        return;
    }
    if (l->flags & RING_EVENT_MEMBER)
        peer = communicators_rank(v->communicators, l->comm, l->peer);
    say(w, "%s %u", ring_op_name(l->op), l->seq);
    if (peer != UINT32_MAX)
        say(w, " %s rank %u", l->op == RING_OP_SEND ? "to" : "from", peer);
    say(w, " on %s", label(v, l->comm).s);
}

/* "a receive from rank 3 (tag 7)"; a record that says how far ranks have come has no tags. */
static void say_message(struct words *w, const struct stall_search *s, const struct view_rank *k)
{
    const struct partner_item *p = roster_partner(k);
    bool sends = p && p->op == RING_OP_SEND;

    if (!p)
        say(w, "%s",
            k->live_op == RING_OP_WAIT ? "a wait for messages" : "a send, receive, probe or one-sided call");
    else
        say(w, "%s%s rank %u", k->live_op == RING_OP_WAIT ? "a wait for " : "a ",
            k->live_op != RING_OP_WAIT ? sends ? "send to" : "receive from"
            : sends                    ? "its message to"
                                       : "a message from",
            p->peer);
    if (p && !s->told)
        say(w, " (tag %d)", p->tag);
}

/* " in allreduce 12 of world", of a rank that waits. */
static void say_call(struct words *w, const struct stall_search *s, const struct view_rank *k)
{
    switch (view_stall_doing(s->v, k, s->now_s)) {
    case STALL_COLLECTIVE:
        say(w, " in %s %u of %s", collective_name(k->inside_op), k->inside_seq,
            label(s->v, k->inside_comm).s);
        break;
    case STALL_MESSAGE:
        say(w, " in ");
        say_message(w, s, k);
        break;
    case STALL_OUTSIDE:
        say(w, " between calls");
        if (roster_last(k)) {
            say(w, ", after ");
            say_left(w, s->v, roster_last(k));
            say(w, ",");
        } else if (communicators_size(s->v->communicators, k->inside_comm)) {
            say(w, ", after collective %u of %s,", k->inside_seq, label(s->v, k->inside_comm).s);
        }
        break;
    case STALL_ELSEWHERE:
        break;
    }
}

/* " for 41 s"; nothing where no time is known to have passed, as in a record that has no other times. */
static void say_for(struct words *w, double duration_s)
{
    if (duration_s > 0)
        say(w, " for %s", text_s(duration_s).s);
}

/* "its process is gone", "between calls for 41 s, ..." */
static void say_state(struct words *w, const struct stall_search *s, uint32_t rank)
{
    const struct view_rank *k = roster_at(s->v->roster, rank);
    double cpu = view_health_cpu_ratio(s->v, rank);

    if (k->vanished) {
        say(w, "its process is gone");
    } else if (k->ended) {
        say(w, "it has finalized MPI");
    } else if (!view_stall_is_seen(k, s->now_s)) { /* a trace does not report what a rank is doing */
        struct communicators_progress p = communicators_progress(s->v->communicators, s->front.comm, rank);

        if (k->left_op == RING_OP_NONE && s->told && p.left != UINT32_MAX)
            say(w, "it is in no call, and left number %u there last", p.left);
        else if (k->left_op == RING_OP_NONE)
            say(w, s->told ? "it is in no call" : "it never reported a collective");
        else
            say(w, "its last record is leaving %s %u of %s", ring_op_name(k->left_op), k->left_seq,
                label(s->v, k->left_comm).s);
    } else if (k->live_op == RING_OP_NONE) {
        say(w, "between calls for %s", text_s(s->now_s - k->inside_since_s).s);
        if (cpu < STALL_IDLE_RATIO)
            say(w, " without computing");
        if (roster_last(k)) {
            say(w, ", its last call was ");
            say_left(w, s->v, roster_last(k));
            say(w, " %s ago", text_s(s->now_s - k->last_at_s + (double)roster_last(k)->age_ns * 1e-9).s);
        } else if (communicators_size(s->v->communicators, k->inside_comm)) {
            say(w, ", its last collective was %u", k->inside_seq);
        }
    } else {
        say(w, "in ");
        say_message(w, s, k);
        say(w, " for %s", text_s(s->now_s - k->inside_since_s).s);
    }
}

/* "rank 3 (pid 4711) on node1" */
static void say_rank(struct words *w, const struct stall_search *s, uint32_t rank)
{
    const struct view_rank *k = roster_at(s->v->roster, rank);
    const char *node = roster_place_name(s->v->roster, k->node);

    say(w, "rank %u", rank);
    if (k->pid > 0)
        say(w, " (pid %lld)", (long long)k->pid);
    say(w, "%s%s", *node ? " on " : "", node);
}

static void say_behind(struct words *w, uint32_t n)
{
    if (n == 1)
        say(w, "one collective behind");
    else
        say(w, "%u collectives behind", n);
}

/* How far a rank is behind the front; 0: it is not, or on another communicator. */
static uint32_t lag(const struct stall_search *s, const struct view_rank *k)
{
    bool same = s->front.waiting && k->inside_comm == s->front.comm && view_stall_is_seen(k, s->now_s);

    return same && k->inside_seq < s->front.seq ? s->front.seq - k->inside_seq : 0;
}

/* "7 others wait in allreduce 1235" */
static void say_others(struct words *w, const struct stall_search *s)
{
    uint32_t others = s->scene.collectives + s->scene.messages;

    for (uint32_t i = 0; i < s->n; i++)
        others -= view_stall_doing(s->v, roster_at(s->v->roster, s->rank[i]), s->now_s) >= STALL_COLLECTIVE;
    if (!others)
        say(w, "no step for %s", text_s(s->now_s - view_stall_idle_since_s(s->v)).s);
    else if (s->front.waiting)
        say(w, "%u other%s in %s %u of %s", others, others == 1 ? " waits" : "s wait",
            collective_name(s->front.op), s->front.seq, label(s->v, s->front.comm).s);
    else
        say(w, "%u other%s %s", others, others == 1 ? " waits" : "s wait",
            !s->scene.collectives ? "for messages"
            : s->scene.messages   ? "in calls"
                                  : "in collectives of which it is not known who takes part");
}

static void describe_halted(struct words *w, const struct stall_search *s)
{
    static const char *const states[PROCESS_STATES] = {
        [PROCESS_STOPPED] = "stopped (SIGSTOP)",
        [PROCESS_TRACED] = "stopped by a debugger",
        [PROCESS_BLOCKED] = "blocked in the kernel (uninterruptible, most often by storage)",
    };
    const struct view_rank *k = roster_at(s->v->roster, s->rank[0]);
    const char *state = states[roster_process(k, s->now_s)];
    struct text age = text_s(s->now_s - k->process_since_s);
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

/* "node4 is lost (no report for 8.1 s; Slurm says NODE_FAIL); 3 others wait in allreduce 12 of world" */
static void describe_lost(struct words *w, const struct stall_search *s)
{
    const struct view_silence *silence = &s->scene.silence;
    const char *node = roster_place_name(s->v->roster, silence->first);

    if (silence->nodes > 1)
        say(w, "%u nodes are lost, the first of them: %s (", silence->nodes, node);
    else
        say(w, "%s is lost (", node);
    say(w, "no report for %s", text_s(s->now_s - presence_silent_since_s(s->v->presence, silence->first)).s);
    if (presence_slurm(s->v->presence) == VIEW_SLURM_ENDS)
        say(w, "; Slurm says %s", presence_slurm_state(s->v->presence));
    say(w, ")");
    if (s->scene.heard) {
        say(w, "; ");
        say_others(w, s);
    } else {
        say(w, "; the ranks of the other nodes were ended");
    }
}

static void describe_behind(struct words *w, const struct stall_search *s)
{
    const struct view_rank *k = roster_at(s->v->roster, s->rank[0]);

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
    say(w, " for %s, ", text_s(s->now_s - k->inside_since_s).s);
    say_others(w, s);
}

static void describe_different(struct words *w, const struct stall_search *s)
{
    const struct view_rank *k = roster_at(s->v->roster, s->rank[0]);

    if (s->n > 1)
        say(w, "%u ranks call another collective than the others, the first of them: ", s->n);
    say_rank(w, s, s->rank[0]);
    say(w, " is");
    say_call(w, s, k);
    say_for(w, s->now_s - k->inside_since_s);
    say(w, ", ");
    say_others(w, s);
    say(w, ": the program calls different collectives");
}

/* "rank 1 is in allreduce 12 of world with 64 B, 3 others wait in allreduce 12 of world with 128 B: ..." */
static void describe_sizes(struct words *w, const struct stall_search *s)
{
    const struct view_rank *k = roster_at(s->v->roster, s->rank[0]), *other = NULL;

    for (uint32_t r = 0; r < roster_limit(s->v->roster) && !other; r++) {
        const struct view_rank *o = roster_at(s->v->roster, r);

        if (view_stall_doing(s->v, o, s->now_s) == STALL_COLLECTIVE && o->inside_comm == k->inside_comm &&
            o->inside_seq == k->inside_seq && o->inside_bytes != k->inside_bytes)
            other = o;
    }
    if (s->n > 1)
        say(w, "%u ranks call a collective with another size than the others, the first of them: ", s->n);
    say_rank(w, s, s->rank[0]);
    say(w, " is");
    say_call(w, s, k);
    say(w, " with %s", text_bytes((double)k->inside_bytes).s);
    say_for(w, s->now_s - k->inside_since_s);
    if (other)
        say(w, ", rank %u with %s", (unsigned)(other - roster_at(s->v->roster, 0)),
            text_bytes((double)other->inside_bytes).s);
    say(w, ": the program calls it with different sizes");
}

#define ROOT_WORDS     4u  /* ranks, and groups of ranks, that a sentence names */
#define ROOTS_COMPARED 64u /* among so many of the first ones */

/* Do the same words fit both? */
static bool same_root(const struct stall_search *s, uint32_t a, uint32_t b)
{
    const struct view_rank *x = roster_at(s->v->roster, a), *y = roster_at(s->v->roster, b);
    const struct stall_front *f = &s->missed[a], *g = &s->missed[b];
    bool same = s->end[a] == s->end[b] && f->comm == g->comm && f->seq == g->seq && f->waiting && g->waiting;

    return same && (s->end[a] != STALL_END_BEHIND ||
                    (x->inside_comm == y->inside_comm && x->inside_seq == y->inside_seq));
}

/* "rank 9", "ranks 9 and 14": those of the named ones, from place first on, for whom the same words fit.
 * Returns how many. */
static uint32_t say_alike(struct words *w, const struct stall_search *s, uint32_t first)
{
    uint32_t n = 0, said = 0;

    for (uint32_t i = first; i < s->n; i++)
        n += i == first || same_root(s, s->rank[first], s->rank[i]);
    if (n == 1) {
        say_rank(w, s, s->rank[first]);
        return n;
    }
    say(w, "ranks");
    for (uint32_t i = first; i < s->n && said < ROOT_WORDS; i++)
        if (i == first || same_root(s, s->rank[first], s->rank[i])) {
            said++;
            say(w, "%s %u", said == 1 ? "" : said == n ? " and" : ",", s->rank[i]);
        }
    if (n > said)
        say(w, " and %u more", n - said);
    return n;
}

/* "has not come to alltoall 7 of ep (8 ranks), in which 6 wait" */
static void say_missed(struct words *w, const struct stall_search *s, uint32_t rank, bool several)
{
    const struct stall_front *f = &s->missed[rank];

    if (f->waiting)
        say(w, " %s not come to %s %u of %s (%u ranks), in which %u wait%s", several ? "have" : "has",
            collective_name(f->op), f->seq, label(s->v, f->comm).s,
            communicators_size(s->v->communicators, f->comm), f->waiting, f->waiting == 1 ? "s" : "");
    else if (s->waiter[rank] != UINT32_MAX) {
        say(w, " does not answer rank %u, which waits in ", s->waiter[rank]);
        say_message(w, s, roster_at(s->v->roster, s->waiter[rank]));
    }
}

/* Where the ranks for whom the same words fit have all come equally far. */
static void say_progress(struct words *w, const struct stall_search *s, uint32_t rank)
{
    const struct stall_front *f = &s->missed[rank];
    struct communicators_progress p = communicators_progress(s->v->communicators, f->comm, rank);
    bool equal = f->waiting && p.left != UINT32_MAX;

    for (uint32_t i = 0; i < s->n && equal; i++)
        equal = !same_root(s, rank, s->rank[i]) ||
                communicators_progress(s->v->communicators, f->comm, s->rank[i]).left == p.left;
    if (equal)
        say(w, ", and left number %u there last", p.left);
}

/* "rank 12 is still in allgather 42806 of tp, which others have left; 2 wait for it in ..., which it has
 * called" */
static void say_root_behind(struct words *w, const struct stall_search *s, uint32_t rank, bool several)
{
    const struct view_rank *k = roster_at(s->v->roster, rank);
    const struct stall_front *f = &s->missed[rank];
    struct communicators_progress p = communicators_progress(s->v->communicators, f->comm, rank);

    say(w, " %s still", several ? "are" : "is");
    say_call(w, s, k);
    say_for(w, s->now_s - k->inside_since_s);
    say(w, ", which others have left");
    if (!f->waiting)
        return;
    say(w, ", and %s missed in %s %u of %s (%u ranks), in which %u wait%s", several ? "are" : "is",
        collective_name(f->op), f->seq, label(s->v, f->comm).s,
        communicators_size(s->v->communicators, f->comm), f->waiting, f->waiting == 1 ? "s" : "");
    if (p.called != UINT32_MAX && !several)
        say(w, " and which it has %s", p.called < f->seq ? "not called" : "called behind the other one");
}

/* Of several ranks at which chains end, and of one that is not missed where most wait. */
static void describe_roots(struct words *w, const struct stall_search *s)
{
    uint32_t said = 0, groups = 0;

    for (uint32_t i = 0; i < s->n && i < ROOTS_COMPARED && groups < ROOT_WORDS; i++) {
        uint32_t rank = s->rank[i], alike, before = 0;
        bool several;

        while (before < i && !same_root(s, s->rank[before], rank))
            before++;
        if (before < i)
            continue;
        say(w, "%s", groups++ ? "; " : "");
        alike = say_alike(w, s, i);
        said += alike;
        several = alike > 1;
        switch ((enum stall_end)s->end[rank]) {
        case STALL_END_BEHIND:
            say_root_behind(w, s, rank, several);
            break;
        case STALL_END_UNRECORDED:
            say_missed(w, s, rank, several);
            say(w, ": nothing of %s is recorded, so %s missing", several ? "them" : "it",
                several ? "their processes have ended or their files are"
                        : "its process has ended or its file is");
            break;
        default:
            say_missed(w, s, rank, several);
            if (s->told) {
                say(w, ": %s in no call", several ? "they are" : "it is");
                say_progress(w, s, rank);
            } else if (!several) {
                say(w, " (");
                say_state(w, s, rank);
                say(w, ")");
            }
            break;
        }
    }
    if (said < s->n)
        say(w, "; and %u more hold others up", s->n - said);
}

static void describe_unrecorded(struct words *w, const struct stall_search *s)
{
    uint32_t n = 0, first = 0;

    for (uint32_t r = roster_limit(s->v->roster); r-- > 0;)
        if (s->end[r] == STALL_END_UNRECORDED) {
            first = r;
            n++;
        }
    say_others(w, s);
    say(w, " for %u rank%s of which nothing is recorded (rank %u%s): give the files of all ranks", n,
        text_plural(n), first, n == 1 ? "" : ", ...");
}

/* "allreduce 12 of world (4 ranks) has been open for 12.0 s: " */
static void say_open(struct words *w, const struct stall_search *s)
{
    const struct stall_front *f = &s->front;

    say(w, "%s %u of %s (%u ranks) %s open", collective_name(f->op), f->seq, label(s->v, f->comm).s,
        communicators_size(s->v->communicators, f->comm), s->now_s > f->since_s ? "has been" : "is");
    say_for(w, s->now_s - f->since_s);
    say(w, ": ");
}

/* "rank 0 on n0 is alone in barrier 12 of world (16 ranks) for 12.0 s: ..." */
static void describe_alone(struct words *w, const struct stall_search *s)
{
    const struct stall_front *f = &s->front;
    uint32_t others = communicators_size(s->v->communicators, f->comm) - f->waiting;

    if (s->n > 1)
        say(w, "%u ranks, the first of them ", s->n);
    say_rank(w, s, s->rank[0]);
    say(w,
        "%s %s alone in %s %u of %s (%u ranks) for %s: the %u others have not called it, and are in no call",
        s->n > 1 ? "," : "", s->n > 1 ? "are" : "is", collective_name(f->op), f->seq, label(s->v, f->comm).s,
        others + f->waiting, text_s(s->now_s - f->since_s).s, others);
}

#define CIRCLE_WORDS 4u /* more ranks are too many for a sentence */

static void describe_circle(struct words *w, const struct stall_search *s)
{
    say(w, "a deadlock of %u ranks:", s->n);
    for (uint32_t i = 0; i < s->n && i < CIRCLE_WORDS; i++) {
        const struct view_rank *k = roster_at(s->v->roster, s->rank[i]);

        say(w, "%s rank %u waits", i ? "," : "", s->rank[i]);
        say_call(w, s, k);
        if (!roster_partner(k))
            say(w, " for rank %u", s->rank[(i + 1) % s->n]);
    }
    if (s->circle_order)
        say(w, "; they made these calls in different orders");
}

/* Ranks that the others wait for, and that wait for nobody themselves, or for a message. */
static void describe_missing(struct words *w, const struct stall_search *s)
{
    uint32_t waiting = s->front.waiting;

    if (waiting) {
        say_open(w, s);
        say(w, "%u inside, %s ", waiting,
            view_stall_belongs(s->v, s->front.comm, s->rank[0]) ? "waiting for" : "held up by");
    } else if (s->scene.messages) {
        say(w, "no message for %s: %u rank%s for one; ", text_s(s->now_s - s->scene.message_s).s,
            s->scene.messages, s->scene.messages == 1 ? " waits" : "s wait");
    } else {
        say(w, "no step for %s: ", text_s(s->now_s - view_stall_idle_since_s(s->v)).s);
    }
    if (s->n > 1)
        say(w, "%u %s, the first of them ", s->n, waiting ? "others" : "ranks");
    say_rank(w, s, s->rank[0]);
    if (!waiting)
        say(w, "%s %s %s", s->n > 1 ? "," : "", s->n == 1 ? "is" : "are",
            s->awaited[s->rank[0]] ? "the one that they wait for"
            : s->scene.messages    ? "in no call"
                                   : "behind the others");
    say(w, " (");
    say_state(w, s, s->rank[0]);
    say(w, ")");
}

static void describe_nobody(struct words *w, const struct stall_search *s)
{
    uint32_t waiting = s->front.waiting, first,
             missing = presence_missing(s->v->presence, s->v->now_s, &first);

    if (waiting)
        say_open(w, s);
    if (s->told && s->unsure) {
        say(w,
            "ranks wait for each other, and for calls that are queued: what stands still first is not known");
        return;
    }
    if (waiting && waiting == s->scene.ranks && missing)
        say(w, "%u inside, and what the other%s do%s is not recorded (rank %u%s)", waiting,
            missing > 1 ? "s" : "", missing > 1 ? "" : "es", first, missing > 1 ? ", ..." : "");
    else if (waiting && waiting == s->scene.ranks)
        say(w, "every rank has entered and none leaves, so the transfer itself has stopped");
    else if (waiting && !s->told && s->scene.collectives + s->scene.messages < s->scene.ranks)
        say(w, "%u inside, and for whom or what %s is not known", waiting,
            waiting == 1 ? "it waits" : "they wait");
    else if (waiting)
        say(w,
            "%u inside; the other ranks wait in other calls, and which of them holds the others up is not known",
            waiting);
    else if (s->scene.messages) {
        say(w, "no message");
        say_for(w, s->now_s - s->scene.message_s);
        say(w, ": %u of %u ranks wait for one, no process is stopped, and who should send is not known",
            s->scene.messages, s->scene.ranks);
    } else if (s->scene.collectives)
        say(w, "%u rank%s in collectives of which it is not known who takes part, the first for %s",
            s->scene.collectives, s->scene.collectives == 1 ? " waits" : "s wait",
            text_s(s->now_s - s->scene.collective_s).s);
    else
        say(w, "no step for %s: no rank waits in a call, so all compute, poll or write",
            text_s(s->now_s - view_stall_idle_since_s(s->v)).s);
}

char *view_stall_words(const struct stall_search *s, char *buf, size_t size)
{
    static void (*const describe[])(struct words * w, const struct stall_search *s) = {
        [STALL_NOBODY] = describe_nobody,
        [STALL_HALTED] = describe_halted,
        [STALL_LOST] = describe_lost,
        [STALL_BEHIND] = describe_behind,
        [STALL_DIFFERS] = describe_different,
        [STALL_CIRCLE] = describe_circle,
        [STALL_ALONE] = describe_alone,
        [STALL_MISSING] = describe_missing,
        [STALL_SIZES] = describe_sizes,
        [STALL_ROOTS] = describe_roots,
        [STALL_UNRECORDED] = describe_unrecorded,
    };
    struct words w = { buf, size, 0 };

    if (size)
        *buf = '\0';
    describe[s->why](&w, s);
    return buf;
}
