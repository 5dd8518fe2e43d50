#include "calls/boundary.h"

#include <stdlib.h>
#include <string.h>

#include "calls/cycle.h"
#include "calls/rounds.h"
#include "common/hash.h"
#include "common/xalloc.h"

/* newest calls among which it is counted how many ended since one was begun */
#define BEGUN_MAX 64u
/* Calls of a rank after which they need not repeat. Chosen: half of CYCLE_MAX, the longest cycle looked for.
 */
#define PATIENCE   8192u
#define TOKENS_MAX 1024u /* different calls of a rank */
/* Cycles without a communicator that is no part of them, though it is the largest. Chosen: evaluation and
 * checkpoints, which use it now and then, come after more. */
#define ABSENT 16u
/* As many times the longest gap that it has had before: layers of experts exchange in their group many times
 * before all ranks meet. */
#define GAPS 2u
/* Ends of steps after which a rank's steps count as known.  Chosen: a call that is new after 64 of them
 * belongs to a rare part of the program and is no reason to look for the steps again. */
#define ESTABLISHED_ENDS 64u
/* shortest ones, after which a rank's kinds of calls are known; as often must a short cycle repeat */
#define KNOWN_CYCLES 3u
#define PLACES_MAX   64u /* collectives of a cycle that the step may end with */

/* What a rank's calls of one kind are. */
struct call_kind {
    uint32_t token;
    uint8_t side;  /* enum call_side */
    uint64_t comm; /* its series ... */
    bool series;   /* ... and no communicator: its collectives have no numbers in common */
    uint32_t peer;
    int32_t tag;
    uint32_t newest; /* calls of the rank up to the newest one */
    uint32_t gap;    /* most of them from one to the next, or until the first */
};

/* The calls that end a step: those of one kind whose number is the phase, modulo `every`. */
struct anchor {
    bool known;
    struct call_kind k;
    uint32_t every;    /* 0: as the other ranks that count on its communicator */
    uint32_t messages; /* of a message: the last of so many ends a step; 0: each does */
};

struct caller { /* a rank */
    bool known;
    struct cycle cycle;
    struct call_kind *kind;
    size_t n_kinds, kinds_cap;
    struct anchor anchor;
    uint64_t left_ns;
    /* BEGUN_MAX, when it left the newest calls, as left_at() has it; NULL: no rank has begun a call that it
     * completed later */
    uint32_t *left;
    uint32_t calls, ends;
};

/* Where in a cycle of several equal collectives does the step end?  Where nothing is begun that goes on, and
 * before the longest work. */
struct cycle_place {
    double work_s;
    bool inside; /* of a nonblocking call */
};

struct boundary {
    uint32_t (*members)(uint64_t comm, void *arg);
    void *arg;
    struct caller *rank;
    size_t cap;
    uint32_t n;
    bool marked;           /* some rank had a collective */
    bool nonblocking;      /* ... began a call that it completed later */
    uint64_t calls, look;  /* taken while it is looked for; how many before all ranks are looked at again */
    bool found;            /* enough is known */
    bool anchored, phased; /* ... of what ends a step, and of which of its numbers */
    uint32_t lookout;      /* the rank that the phase is looked for on */
    struct rounds *rounds; /* NULL: they were found, or no message came */
    uint32_t phase, seen;
    struct cycle_place place[PLACES_MAX];
    uint64_t ended_ns[PLACES_MAX]; /* the lookout's newest anchors */
};

struct boundary *boundary_new(uint32_t (*members)(uint64_t comm, void *arg), void *arg)
{
    struct boundary *b = xcalloc(1, sizeof(*b));

    b->members = members;
    b->arg = arg;
    return b;
}

void boundary_free(struct boundary *b)
{
    if (!b)
        return;
    for (uint32_t r = 0; r < b->n; r++) {
        cycle_free(&b->rank[r].cycle);
        free(b->rank[r].kind);
        free(b->rank[r].left);
    }
    rounds_free(b->rounds);
    free(b->rank);
    free(b);
}

size_t boundary_bytes(const struct boundary *b)
{
    size_t bytes = b->cap * sizeof(*b->rank) + (b->rounds ? rounds_bytes(b->rounds) : 0);

    for (uint32_t r = 0; r < b->n; r++)
        bytes += b->rank[r].kinds_cap * sizeof(*b->rank[r].kind) + b->rank[r].cycle.cap * sizeof(uint32_t) +
                 (b->rank[r].left ? BEGUN_MAX * sizeof(*b->rank[r].left) : 0);
    return bytes;
}

void boundary_rank(struct boundary *b, uint32_t rank)
{
    b->rank = xgrow(b->rank, &b->cap, rank + 1, sizeof(*b->rank));
    b->n = rank >= b->n ? rank + 1 : b->n;
    b->found = b->found && b->rank[rank].known; /* an agent that connects again announces its ranks again */
    b->rank[rank].known = true;
}

void boundary_rank_end(struct boundary *b, uint32_t rank)
{
    if (rank < b->n)
        b->rank[rank].known = false;
    if (b->rounds)
        rounds_end_rank(b->rounds, rank);
}

uint32_t boundary_period(const struct boundary *b)
{
    return b->anchored ? b->rank[b->lookout].anchor.every : 0;
}

bool boundary_on_messages(const struct boundary *b)
{
    return b->anchored && b->rank[b->lookout].anchor.k.side != CALL_COLLECTIVE;
}

/* ---- what a rank calls ---- */

/* In 64 ns, which comes round every four minutes: what differs by more is long. */
static uint32_t left_at(uint64_t ns)
{
    return (uint32_t)(ns >> 6);
}

/* How many calls the rank has left since it began this one: buckets that are awaited one after another differ
 * in nothing else. */
static uint32_t left_since(const struct caller *k, uint64_t begin_ns)
{
    uint32_t n = 0;

    while (k->left && n < k->calls && n < BEGUN_MAX &&
           (int32_t)(k->left[(k->calls - 1 - n) % BEGUN_MAX] - left_at(begin_ns)) > 0)
        n++;
    return n;
}

/* Not of the other rank, and not of sizes that may vary: what is done alike shall look alike. */
static uint32_t token_of(const struct caller *k, const struct call *c, uint64_t series)
{
    bool collective = !call_is_message(c);
    uint64_t words[] = { call_side(c->op),
                         collective ? c->op : (uint64_t)(int64_t)c->tag,
                         collective && !ring_op_irregular(c->op) ? c->bytes : 0,
                         collective ? series : 0,
                         call_is_nonblocking(c),
                         call_is_nonblocking(c) ? left_since(k, c->begin_ns) : 0 };

    return (uint32_t)hash_bytes(HASH_START, words, sizeof(words)) & 0x7fffffff;
}

static void take_kind(struct caller *k, const struct call *c, uint64_t series, uint32_t token)
{
    for (size_t i = 0; i < k->n_kinds; i++)
        if (k->kind[i].token == token) {
            if (k->calls - k->kind[i].newest > k->kind[i].gap)
                k->kind[i].gap = k->calls - k->kind[i].newest;
            k->kind[i].newest = k->calls;
            return;
        }
    if (k->n_kinds == TOKENS_MAX)
        return;
    if (k->n_kinds == k->kinds_cap) {
        k->kinds_cap += k->kinds_cap / 4 + 2;
        k->kind = xrealloc(k->kind, k->kinds_cap, sizeof(*k->kind));
    }
    k->kind[k->n_kinds++] = (struct call_kind){ .token = token,
                                                .side = (uint8_t)call_side(c->op),
                                                .comm = series,
                                                .peer = c->peer,
                                                .tag = c->tag,
                                                .newest = k->calls,
                                                .gap = k->calls,
                                                .series = series != c->comm };
}

static bool calls_on(const struct caller *k, uint64_t comm)
{
    for (size_t i = 0; i < k->n_kinds; i++)
        if (k->kind[i].side == CALL_COLLECTIVE && k->kind[i].comm == comm)
            return true;
    return false;
}

/* Has it called on a communicator as large as this one?  None is larger than one of all ranks, which may have
 * several. */
static bool calls_on_as_large(const struct boundary *b, const struct caller *k, uint64_t comm)
{
    uint32_t size = b->members(comm, b->arg);

    for (size_t i = 0; i < k->n_kinds; i++)
        if (k->kind[i].side == CALL_COLLECTIVE && b->members(k->kind[i].comm, b->arg) >= size)
            return true;
    return false;
}

/* Is the rank's largest communicator part of its cycle, or was it last used long ago?  What a group repeats
 * by itself is less than a step. */
static bool reaches_all(const struct boundary *b, const struct caller *k)
{
    uint32_t max = 0, newest = 0, gap = 0, absent;
    bool part = true;

    for (size_t i = 0; i < k->n_kinds; i++) {
        const struct call_kind *c = &k->kind[i];
        uint32_t size = c->side == CALL_COLLECTIVE ? b->members(c->comm, b->arg) : 0;

        if (size < max || !size)
            continue;
        if (size > max) {
            part = false;
            gap = 0;
        }
        gap = c->gap > gap ? c->gap : gap;
        newest = size > max || c->newest > newest ? c->newest : newest;
        max = size;
        part = part || cycle_count(&k->cycle, c->token);
    }
    absent = ABSENT * k->cycle.length > GAPS * gap ? ABSENT * k->cycle.length : GAPS * gap;
    return part || k->calls - newest > absent;
}

/* What repeats before a rank's first collective is less than a step where other ranks had one. */
static bool has_cycle(const struct boundary *b, const struct caller *k)
{
    return k->cycle.length && (k->cycle.marked || !b->marked);
}

/* The rank whose cycle is as long as that of most ranks; NULL: there is none. */
static const struct caller *typical_caller(const struct boundary *b)
{
    const struct caller *typical = NULL;
    uint32_t votes = 0, as_long = 0, all = 0;

    for (uint32_t r = 0; r < b->n; r++) { /* the majority, if there is one (Boyer & Moore 1981) */
        const struct caller *k = &b->rank[r];

        if (!k->known || !has_cycle(b, k))
            continue;
        if (!votes)
            typical = k;
        votes = k->cycle.length == typical->cycle.length ? votes + 1 : votes - 1;
    }
    for (uint32_t r = 0; r < b->n; r++)
        if (b->rank[r].known && has_cycle(b, &b->rank[r])) {
            all++;
            as_long += b->rank[r].cycle.length == typical->cycle.length;
        }
    return 2 * as_long > all ? typical : NULL;
}

/* Does a rank repeat later than most do, and no other calls?  So it looks where some of its are missing. */
static bool has_gaps(const struct caller *k, const struct caller *typical)
{
    if (!typical || k->cycle.length <= typical->cycle.length)
        return false;
    for (size_t i = 0; i < k->n_kinds; i++)
        if (cycle_count(&k->cycle, k->kind[i].token) && !cycle_count(&typical->cycle, k->kind[i].token))
            return false;
    return true;
}

/* Do all ranks do the same inner cycle?  Then that is the step. */
enum inner { OTHERS, SAME, SAME_SO_FAR };

static enum inner compare_inner(const struct boundary *b)
{
    const struct caller *typical = typical_caller(b);
    uint64_t name = 0;
    bool all = true;

    for (uint32_t r = 0; r < b->n; r++) {
        const struct caller *k = &b->rank[r];

        if (!k->known || k->calls >= PATIENCE)
            continue;
        if (!has_cycle(b, k)) {
            all = false;
            continue;
        }
        if (has_gaps(k, typical))
            continue;
        if (!k->cycle.inner_name || (name && k->cycle.inner_name != name))
            return OTHERS;
        name = k->cycle.inner_name;
    }
    return !name ? OTHERS : all ? SAME : SAME_SO_FAR;
}

/* Of a rank whose calls are not known to repeat, any. */
static bool in_cycle(const struct boundary *b, const struct caller *k, const struct call_kind *c)
{
    return !has_cycle(b, k) || cycle_count(&k->cycle, c->token);
}

/* ---- what ends a step ---- */

/* The message that is least in the order of tokens, which is the same on all ranks. */
static struct anchor anchor_on_message(const struct boundary *b, const struct caller *k)
{
    const struct call_kind *best = NULL;

    for (size_t i = 0; i < k->n_kinds; i++) {
        const struct call_kind *c = &k->kind[i];

        if (c->side == CALL_COLLECTIVE || !in_cycle(b, k, c))
            continue;
        if (!best || c->token < best->token)
            best = c;
    }
    return best ? (struct anchor){ true, *best, 1, 0 } : (struct anchor){ 0 };
}

/* The largest communicator's collectives: a step has `every` of them. */
static struct anchor anchor_on_comm(const struct boundary *b, const struct caller *k)
{
    uint64_t comm = 0;
    uint32_t size = 0, every = 0;

    for (size_t i = 0; i < k->n_kinds; i++) {
        const struct call_kind *c = &k->kind[i];

        if (c->side != CALL_COLLECTIVE || c->series || b->members(c->comm, b->arg) <= size ||
            !in_cycle(b, k, c))
            continue;
        comm = c->comm;
        size = b->members(comm, b->arg);
    }
    if (!size)
        return anchor_on_message(b, k);
    for (size_t i = 0; i < k->n_kinds && has_cycle(b, k); i++)
        if (k->kind[i].side == CALL_COLLECTIVE && k->kind[i].comm == comm)
            every += cycle_count(&k->cycle, k->kind[i].token);
    if (!every && k->calls >= PATIENCE)
        every = 1;
    return (struct anchor){ true, { .side = CALL_COLLECTIVE, .comm = comm }, every, 0 };
}

static int by_comm(const void *a, const void *b)
{
    const struct anchor *x = *(struct anchor *const *)a, *y = *(struct anchor *const *)b;

    if (x->k.comm != y->k.comm)
        return x->k.comm < y->k.comm ? -1 : 1;
    return (x->every - 1 > y->every - 1) - (x->every - 1 < y->every - 1); /* 0 is the last */
}

/* How many collectives of one communicator a step has, by what each of its ranks sees repeat, the shortest
 * first and 0 last: what most of them see, of as many the shortest.  Where calls are missing, several steps
 * look like one; or, between two, as if each had fewer. */
static uint32_t most_seen(struct anchor *const *list, size_t n)
{
    uint32_t every = 0;
    size_t most = 0, same = 0;

    for (size_t i = 0; i < n && list[i]->every; i++) {
        same = i && list[i]->every == list[i - 1]->every ? same + 1 : 1;
        if (same <= most)
            continue;
        most = same;
        every = list[i]->every;
    }
    return every;
}

/* False where none of the ranks that count on some communicator knows. */
static bool agree_on_anchors(struct boundary *b)
{
    struct anchor **list = xcalloc(b->n, sizeof(*list));
    size_t n = 0, same = 0;
    bool all = true;

    for (uint32_t r = 0; r < b->n; r++)
        if (b->rank[r].anchor.known && b->rank[r].anchor.k.side == CALL_COLLECTIVE)
            list[n++] = &b->rank[r].anchor;
    qsort(list, n, sizeof(*list), by_comm);
    for (size_t i = 0; i < n; i += same) {
        uint32_t every;

        for (same = 1; i + same < n && list[i + same]->k.comm == list[i]->k.comm; same++)
            ;
        every = most_seen(&list[i], same);
        for (size_t k = i; k < i + same; k++)
            list[k]->every = every;
        all = all && every;
    }
    free(list);
    return all;
}

/* Have enough ranks been seen to repeat?  Those that have not, because calls are missing, must have made the
 * calls of some cycles. Before the first collective all must, and the same: stages of a pipeline repeat other
 * calls than their neighbours from microbatch to microbatch, and that is no step. */
static bool enough_known(const struct boundary *b)
{
    uint32_t ranks = 0, known = 0, patient = 0, shortest = UINT32_MAX;
    uint64_t name = 0;
    bool same = true;

    for (uint32_t r = 0; r < b->n; r++) {
        const struct caller *k = &b->rank[r];

        if (!k->known)
            continue;
        ranks++;
        patient += k->calls >= PATIENCE;
        if (!has_cycle(b, k))
            continue;
        known++;
        shortest = k->cycle.length < shortest ? k->cycle.length : shortest;
        same = same && (!name || name == k->cycle.name);
        name = k->cycle.name;
    }
    if (patient == ranks || (!b->marked && known == ranks && same))
        return true;
    if (!b->marked || known * 2 < ranks)
        return false;
    for (uint32_t r = 0; r < b->n; r++) {
        const struct caller *k = &b->rank[r];

        if (k->known && !has_cycle(b, k) && k->calls < PATIENCE &&
            (!k->cycle.marked || k->calls / KNOWN_CYCLES < shortest))
            return false;
    }
    return true;
}

static bool same_anchor(const struct anchor *a, const struct anchor *b)
{
    return a->known == b->known && a->k.side == b->k.side && a->k.comm == b->k.comm && a->every == b->every &&
           a->messages == b->messages &&
           (a->k.side == CALL_COLLECTIVE || (a->k.peer == b->k.peer && a->k.tag == b->k.tag));
}

/* True when steps end elsewhere than before. */
static bool look_for_anchors(struct boundary *b)
{
    bool again = b->anchored, moved = false;
    struct anchor *before;
    enum inner inner;

    if (!enough_known(b))
        return false;
    inner = compare_inner(b);
    if (inner == SAME_SO_FAR)
        return false;
    if (again && inner == SAME) { /* they were steps before the first collective came */
        b->found = true;
        return false;
    }
    before = xcalloc(b->n, sizeof(*before));
    for (uint32_t r = b->n; r-- > 0;) {
        struct caller *k = &b->rank[r];

        before[r] = k->anchor;
        if (!k->known)
            continue;
        k->anchor = inner == SAME ? anchor_on_message(b, k) : anchor_on_comm(b, k);
        b->lookout = r;
    }
    b->found = agree_on_anchors(b);
    b->anchored = b->anchored || b->found;
    for (uint32_t r = 0; r < b->n; r++)
        if (!b->found) /* what was known holds */
            b->rank[r].anchor = before[r];
        else
            moved = moved || !same_anchor(&before[r], &b->rank[r].anchor);
    free(before);
    if (!moved)
        return false;
    b->phase = b->seen = 0;
    b->phased = boundary_period(b) <= 1 || boundary_period(b) > PLACES_MAX;
    memset(b->place, 0, sizeof(b->place));
    memset(b->ended_ns, 0, sizeof(b->ended_ns));
    return again;
}

/* Of ranks that do different things, and exchange messages alone.  True when steps end elsewhere than before.
 */
static bool count_rounds(struct boundary *b)
{
    bool again = b->anchored, moved = false;
    struct round round;

    for (uint32_t r = b->n; r-- > 0;) {
        struct caller *k = &b->rank[r];
        struct anchor before = k->anchor;

        if (!k->known)
            continue;
        k->anchor = (struct anchor){ 0 };
        if (rounds_of(b->rounds, r, &round)) {
            struct call_kind kind = {
                .side = round.side, .comm = round.comm, .peer = round.peer, .tag = round.tag
            };

            k->anchor = (struct anchor){ true, kind, 1, round.messages };
            b->lookout = r;
        }
        moved = moved || !same_anchor(&before, &k->anchor);
    }
    rounds_free(b->rounds);
    b->rounds = NULL;
    b->found = b->anchored = b->phased = true;
    b->phase = b->seen = 0;
    return again && moved;
}

/* Until enough is known; and again when a rank's first collective comes, or its first one on another
 * communicator: what repeated before it may have been less than a step.  What was found long ago was not,
 * unless the communicator is larger than all before. */
static bool find_period(struct boundary *b, struct caller *k, const struct call *c, uint64_t series)
{
    bool collective = !call_is_message(c);
    bool first = collective && k->n_kinds < TOKENS_MAX && !calls_on(k, series), knew;
    uint32_t token;

    if (first && b->found && k->ends >= ESTABLISHED_ENDS && calls_on_as_large(b, k, c->comm)) {
        take_kind(k, c, series, token_of(k, c, series));
        first = false;
    }
    if (b->found && !first && (!collective || k->cycle.marked))
        return false;
    if (first)
        k->cycle.length = 0;
    b->found = false;
    b->marked = b->marked || collective;
    if (b->marked) {
        rounds_free(b->rounds);
        b->rounds = NULL;
    }
    token = token_of(k, c, series);
    take_kind(k, c, series, token);
    knew = k->cycle.length;
    cycle_push(&k->cycle, token, collective);
    if (!knew && k->cycle.length && !reaches_all(b, k))
        k->cycle.length = 0;
    if (!b->marked) {
        if (!b->rounds)
            b->rounds = rounds_new();
        rounds_call(b->rounds, c);
        if (rounds_found(b->rounds))
            return count_rounds(b);
    }
    if (++b->calls < b->look || !(k->cycle.length || k->calls >= PATIENCE))
        return false;
    b->look = b->calls + b->calls / 64;
    return look_for_anchors(b);
}

static bool is_anchor(const struct caller *k, const struct call *c)
{
    const struct call_kind *a = &k->anchor.k;

    if (!k->anchor.known || call_side(c->op) != a->side || c->comm != a->comm)
        return false;
    return a->side == CALL_COLLECTIVE || (c->peer == a->peer && c->tag == a->tag);
}

/* On the lookout: the work that follows an anchor, and what was begun before it and goes on. */
static void look_for_phase(struct boundary *b, const struct caller *k, const struct call *c)
{
    uint32_t every = k->anchor.every, best = 0;
    uint64_t begin_ns = call_begin_ns(c);

    for (uint32_t i = 0; i < every; i++)
        b->place[i].inside = b->place[i].inside || (b->ended_ns[i] && begin_ns < b->ended_ns[i]);
    for (uint32_t i = 0; i < every; i++)
        if (b->ended_ns[i] == k->left_ns && c->enter_ns > k->left_ns)
            b->place[i].work_s += (double)(c->enter_ns - k->left_ns) * 1e-9;
    if (!is_anchor(k, c))
        return;
    b->ended_ns[c->seq % every] = c->leave_ns;
    if (++b->seen < 2 * every + 1)
        return;
    for (uint32_t i = 1; i < every; i++)
        if (b->place[i].inside != b->place[best].inside ? b->place[best].inside
                                                        : b->place[i].work_s > b->place[best].work_s)
            best = i;
    b->phase = best;
    b->phased = true;
}

/* The anchor's message or collective of that number. */
static struct boundary_at ends_at(const struct boundary *b, const struct anchor *a, uint32_t seq, bool moved)
{
    if (a->messages)
        return (struct boundary_at){ moved, seq % a->messages == a->messages - 1, seq / a->messages };
    return (struct boundary_at){ moved, seq % a->every == b->phase % a->every,
                                 (seq + a->every - 1 - b->phase) / a->every };
}

struct boundary_at boundary_call(struct boundary *b, const struct call *c, uint64_t series)
{
    struct caller *k = &b->rank[c->rank];
    struct boundary_at at = { .moved = find_period(b, k, c, series) };

    if (b->anchored && !b->phased && c->rank == b->lookout) {
        look_for_phase(b, k, c);
    } else if (b->anchored && b->phased && is_anchor(k, c)) {
        at = ends_at(b, &k->anchor, c->seq, at.moved);
        k->ends += at.ends;
    }
    b->nonblocking = b->nonblocking || call_is_nonblocking(c);
    if (b->nonblocking && !k->left)
        k->left = xcalloc(BEGUN_MAX, sizeof(*k->left));
    if (k->left)
        k->left[k->calls % BEGUN_MAX] = left_at(c->leave_ns);
    k->calls++;
    k->left_ns = c->leave_ns > k->left_ns ? c->leave_ns : k->left_ns;
    return at;
}
