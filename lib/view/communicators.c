#include "view/communicators.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"
#include "ring/ring.h"

#define COMM_WINDOW_S 5.0

/* A program may make a communicator for each step.  From this instance on, those of the same members are a
 * series: calls on them are calls of the same kind. */
#define SERIES_FROM 16u

#define NUMBERED_MAX 4096u

struct member_sums { /* a rank's stay in a communicator's collectives; kept when it has left */
    double recent_s, run_s;
    uint64_t left, called; /* numbers of the newest collectives that it has, and 1; 0: not known */
    uint32_t rank;
    bool sampled, freed, placed; /* placed: rank has said that it is there */
};

#define UNSEEN_MIN 16u /* collectives that say what they never show */

struct comm_totals {
    double collectives, bytes, skew_s, transfer_s, over_s;
    uint64_t joined;
};

struct comm {
    uint64_t name, membership;
    uint32_t size, first, last, instance; /* see struct ring_comm */
    uint32_t number;     /* of those of its size and first rank: its instance, or a later one */
    bool series;         /* stands for all but the first ones of its members */
    bool bounded;        /* see enum ring_comm_flags ... */
    bool ranged;         /* ... but first and last are exact by now */
    bool disputed, made; /* made: again, under the same name */
    uint32_t placed;     /* members whose rank is known */
    uint32_t freed;      /* members that have freed it */
    bool over;           /* all have, for some time */
    char *label;         /* NULL: its size and first rank name it */
    struct join *join;
    struct comm_totals now, before; /* the running and the last full window */
    struct joined_sums recent, run;
    struct member_sums *member; /* by place */
    /* of all members in the run: of communicators_by_ring(), of other collectives */
    double summed_bytes, other_bytes;
    double bytes;
};

struct communicators {
    struct quota *quota;
    struct roster *roster;
    const struct sums *sums;
    communicators_on_joined *on_joined;
    void *arg;
    struct comm *comm; /* by name */
    size_t n, cap;
    struct map numbers; /* by size and first rank: the highest that was given, from SERIES_FROM on */
    bool series;        /* there is a communicator that stands for a series */
    bool told;          /* what members have called is said */
    double since_s;     /* when the running window began */
    uint32_t main_size;
    uint64_t joined, disputes;
    uint64_t seen, unseen;                    /* complete ones: of how many it was seen who waited */
    struct view_spent before[VIEW_SIZES_MAX]; /* of the run, in an earlier view */
};

struct communicators *communicators_new(struct quota *quota, struct roster *roster, const struct sums *sums,
                                        communicators_on_joined *on_joined, void *arg)
{
    struct communicators *s = xcalloc(1, sizeof(*s));

    s->quota = quota;
    s->roster = roster;
    s->sums = sums;
    s->on_joined = on_joined;
    s->arg = arg;
    return s;
}

static double bytes_of(const struct comm_item *c)
{
    return join_bytes(c) + sizeof(struct comm) + (double)c->size * sizeof(struct member_sums);
}

static void comm_free(struct comm *c)
{
    join_free(c->join);
    free(c->label);
    free(c->member);
}

void communicators_forget(struct communicators *s)
{
    for (size_t i = 0; i < s->n; i++)
        comm_free(&s->comm[i]);
    s->n = 0;
    map_clear(&s->numbers);
    s->series = s->told = false;
    s->main_size = 0;
    s->disputes = 0;
    s->quota->held[QUOTA_COMMS] = 0;
    memset(s->before, 0, sizeof(s->before));
}

void communicators_free(struct communicators *s)
{
    communicators_forget(s);
    map_free(&s->numbers);
    free(s->comm);
    free(s);
}

static bool is_in_use(const struct comm *c)
{
    return !c->series && !c->freed && !c->disputed;
}

bool communicators_by_ring(uint8_t op)
{
    return op == RING_OP_ALLREDUCE || op == RING_OP_REDUCE_SCATTER || op == RING_OP_REDUCE_SCATTER_BLOCK ||
           op == RING_OP_ALLGATHER || op == RING_OP_ALLGATHERV;
}

static struct comm *comm_find(const struct communicators *s, uint64_t name)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (s->comm[mid].name < name)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->n && s->comm[low].name == name ? &s->comm[low] : NULL;
}

/* NULL also if it is disputed. */
static struct comm *comm_known(const struct communicators *s, uint64_t name)
{
    struct comm *c = comm_find(s, name);

    return c && !c->disputed ? c : NULL;
}

static void comm_remove(struct communicators *s, struct comm *c)
{
    s->quota->held[QUOTA_COMMS] -= c->bytes;
    comm_free(c);
    s->n--;
    memmove(c, c + 1, (size_t)(s->comm + s->n - c) * sizeof(*c));
}

void communicators_forget_one(struct communicators *s, uint64_t name)
{
    struct comm *c = comm_find(s, name);

    if (c)
        comm_remove(s, c);
}

void communicators_call(struct communicators *s, uint64_t name, const char *label)
{
    struct comm *c = comm_find(s, name);

    if (!c)
        return;
    free(c->label);
    c->label = xstrdup(label);
}

/* False: none is over. */
static bool forget_over(struct communicators *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->comm[i].over) {
            comm_remove(s, &s->comm[i]);
            return true;
        }
    return false;
}

/* Of those of this size and first rank, which may have other members: rows and columns of a grid share
 * ranks. */
static uint32_t free_number(const struct communicators *s, const struct comm *of, uint32_t from)
{
    uint32_t next = from;
    bool taken = false;

    for (size_t i = 0; i < s->n; i++) {
        const struct comm *c = &s->comm[i];

        if (c == of || c->series || !c->ranged || c->size != of->size || c->first != of->first)
            continue;
        taken = taken || c->number == from;
        next = c->number >= next ? c->number + 1 : next;
    }
    return taken ? next : from;
}

/* Those of a series come and go for as long as the job runs, and a trace may have two of them of which the
 * former was forgotten: none gets a number that any had.  NUMBERED_MAX sizes and first ranks are remembered;
 * those of further ones may share a number with others that have other members. */
static uint32_t new_number(struct communicators *s, const struct comm *of, uint32_t from)
{
    uint64_t key = (uint64_t)of->size << 32 | of->first;
    uint32_t highest = map_get(&s->numbers, key);

    if (highest != MAP_NONE && from <= highest)
        from = highest + 1;
    if (highest != MAP_NONE || s->numbers.n < NUMBERED_MAX)
        map_put(&s->numbers, key, from);
    return from;
}

/* first and last are exact: it can be told from others. */
static void set_range(struct communicators *s, struct comm *k, uint32_t first, uint32_t last)
{
    k->first = first;
    k->last = last;
    k->ranged = true;
    k->number = k->series ? 0 : k->made ? k->number + 1 : k->instance;
    if (k->series)
        return;
    if (k->number < SERIES_FROM)
        k->number = free_number(s, k, k->number);
    if (k->number >= SERIES_FROM)
        k->number = new_number(s, k, k->number);
}

static struct comm *comm_add(struct communicators *s, const struct comm_item *c, bool series)
{
    struct join *join;
    size_t at;

    while ((s->n >= VIEW_COMMS_MAX || !quota_fits(s->quota, bytes_of(c))) && forget_over(s))
        ;
    if (s->n >= VIEW_COMMS_MAX)
        s->quota->rejected.memory++;
    if (s->n >= VIEW_COMMS_MAX || !join_fits(c) || !quota_allows(s->quota, bytes_of(c)) ||
        !(join = join_new(c)))
        return NULL;
    s->comm = xgrow(s->comm, &s->cap, s->n + 1, sizeof(*s->comm));
    for (at = s->n; at && s->comm[at - 1].name > c->name; at--)
        s->comm[at] = s->comm[at - 1];
    s->comm[at] = (struct comm){ .name = c->name,
                                 .membership = c->membership,
                                 .size = c->size,
                                 .first = c->first,
                                 .last = c->last,
                                 .instance = c->instance,
                                 .series = series,
                                 .bounded = c->flags & RING_COMM_BOUNDED,
                                 .join = join,
                                 .member = xcalloc(c->size, sizeof(struct member_sums)),
                                 .bytes = bytes_of(c) };
    s->quota->held[QUOTA_COMMS] += s->comm[at].bytes;
    s->n++;
    /* All ranks between the bounds are exact bounds. */
    if (!s->comm[at].bounded || c->last - c->first + 1 == c->size)
        set_range(s, &s->comm[at], c->first, c->last);
    return &s->comm[at];
}

/* The rank says that it is where another one is, or is itself in another place. */
static bool contradicts(const struct comm *k, const struct comm_item *c)
{
    uint32_t before = join_place(k->join, c->rank);
    const struct member_sums *m = &k->member[c->comm_rank];

    return (m->placed && m->rank != c->rank) || (before != UINT32_MAX && before != c->comm_rank);
}

/* All members that are known have freed it, and here is one: of the next of that name, and not one of this
 * that comes late? */
static bool is_next(const struct comm *k, const struct comm_item *c)
{
    return k->bounded && k->freed && k->freed >= join_announced(k->join) &&
           (k->placed == k->size || k->size != c->size || (c->comm_rank < k->size && contradicts(k, c)));
}

/* All its members have freed it, and here is one again.  NULL: of another size, or wider than there is memory
 * for, so that nothing of it is left. */
static struct comm *begin_again(struct communicators *s, struct comm *k, const struct comm_item *c)
{
    double more = bytes_of(c) - k->bytes;

    if (k->size != c->size || !join_fits(c) || (more > 0 && !quota_fits(s->quota, more))) {
        comm_remove(s, k);
        return NULL;
    }
    k->bytes += more;
    s->quota->held[QUOTA_COMMS] += more;
    join_free(k->join);
    k->join = join_new(c);
    for (uint32_t i = 0; i < k->size; i++)
        k->member[i] = (struct member_sums){ .rank = k->member[i].rank,
                                             .sampled = k->member[i].sampled,
                                             .recent_s = k->member[i].recent_s,
                                             .run_s = k->member[i].run_s };
    k->placed = k->freed = 0;
    k->over = k->disputed = false;
    k->made = true;
    k->ranged = c->last - c->first + 1 == c->size;
    if (k->ranged)
        set_range(s, k, c->first, c->last);
    return k;
}

/* Made again, it has other members: what the ones before spent is not theirs. */
static void forget_sums(struct comm *k)
{
    for (uint32_t i = 0; i < k->size; i++) {
        k->member[i].sampled = false;
        k->member[i].recent_s = k->member[i].run_s = 0;
    }
    k->recent = k->run = (struct joined_sums){ 0 };
}

/* Whether this member's description agrees with the others'. */
static bool place_member(struct communicators *s, struct comm *k, const struct comm_item *c)
{
    uint32_t first = UINT32_MAX, last = 0;
    struct member_sums *m = &k->member[c->comm_rank];

    if (contradicts(k, c)) {
        k->disputed = true;
        s->disputes++;
        return false;
    }
    if (m->sampled && m->rank != c->rank)
        forget_sums(k);
    k->placed += !m->placed;
    m->placed = true;
    m->rank = c->rank;
    if (m->freed) /* what it freed is not the one that it describes now */
        k->freed--;
    m->freed = false;
    if (k->ranged || k->placed < k->size)
        return true;
    for (uint32_t i = 0; i < k->size; i++) {
        first = k->member[i].rank < first ? k->member[i].rank : first;
        last = k->member[i].rank > last ? k->member[i].rank : last;
    }
    set_range(s, k, first, last);
    return true;
}

static void announce_member(struct communicators *s, const struct comm_item *c, bool series)
{
    struct comm *k = comm_find(s, c->name);

    if (!roster_find(s->roster, c->rank, c->app) || c->size < 2)
        return;
    if (c->size > VIEW_RANKS_MAX || c->last >= VIEW_RANKS_MAX) {
        s->quota->rejected.large++;
        s->quota->refused++;
        return;
    }
    if ((c->flags & RING_COMM_BOUNDED) && (c->comm_rank >= c->size || !join_fits(c))) {
        s->quota->refused++;
        return;
    }
    if (k && is_next(k, c))
        k = begin_again(s, k, c);
    if (!k)
        k = comm_add(s, c, series);
    if (!k || k->size != c->size) {
        s->quota->refused++;
        return;
    }
    k->series = series;
    if (k->bounded && (k->disputed || c->comm_rank >= c->size || !place_member(s, k, c)))
        return;
    join_member(k->join, c->rank, c->comm_rank);
}

void communicators_take(struct communicators *s, const struct comm_item *c)
{
    struct comm_item series = *c;

    announce_member(s, c, false);
    if (c->instance < SERIES_FROM)
        return;
    series.name = c->membership;
    series.instance = 0;
    s->series = true;
    announce_member(s, &series, true);
}

uint64_t communicators_series(const struct communicators *s, uint64_t name)
{
    const struct comm *c = s->series ? comm_find(s, name) : NULL;

    return c && c->instance >= SERIES_FROM ? c->membership : name;
}

void communicators_take_end(struct communicators *s, const struct comm_end_item *e)
{
    struct comm *c = comm_find(s, e->name);
    uint32_t place = c ? join_place(c->join, e->rank) : UINT32_MAX;

    if (!roster_find(s->roster, e->rank, e->app) || place == UINT32_MAX || c->member[place].freed)
        return;
    c->member[place].freed = true;
    c->freed++;
}

uint64_t communicators_joined(const struct communicators *s)
{
    return s->joined;
}

bool communicators_unseen(const struct communicators *s)
{
    return s->unseen >= UNSEEN_MIN && !s->seen;
}

uint32_t communicators_main_size(const struct communicators *s)
{
    return s->main_size;
}

struct joined_arg {
    struct communicators *communicators;
    struct comm *comm;
};

static void on_joined(const struct joined *j, void *arg)
{
    struct joined_arg *a = arg;
    struct communicators *s = a->communicators;
    struct comm *c = a->comm;
    struct joined_sums sums;

    s->joined++;
    c->now.collectives += j->n;
    c->now.bytes += (double)j->bytes * j->n;
    c->now.joined++;
    c->now.skew_s += j->stay_max_s - j->stay_min_s;
    c->now.transfer_s += j->stay_min_s;
    s->unseen += j->complete && (j->flags & RING_EVENT_UNWAITED);
    if (!j->complete || (j->flags & RING_EVENT_UNWAITED))
        return; /* it does not show who waited for whom */
    s->seen++;
    sums = s->on_joined(s->arg, j, c->size, c->size == s->main_size);
    joined_sums_add(&c->recent, &sums);
    joined_sums_add(&c->run, &sums);
}

void communicators_take_sample(struct communicators *s, const struct sample *i)
{
    struct joined_arg arg = { .communicators = s, .comm = comm_find(s, i->comm) };
    struct comm *c = arg.comm;
    uint32_t place = c ? join_place(c->join, i->rank) : UINT32_MAX;

    if (place != UINT32_MAX) {
        struct member_sums *m = &c->member[place];

        m->sampled = true;
        m->rank = i->rank;
        m->left = (uint64_t)i->seq + i->n > m->left ? (uint64_t)i->seq + i->n : m->left;
        m->recent_s += (double)i->stay_sum_ns * 1e-9;
        m->run_s += (double)i->stay_sum_ns * 1e-9;
        if (!(i->flags & SAMPLE_WHOLE))
            *(communicators_by_ring(i->op) ? &c->summed_bytes : &c->other_bytes) += (double)i->bytes * i->n;
    }
    if (!c || c->disputed || !ring_op_synchronises(i->op) ||
        (i->flags & (RING_EVENT_INTER | RING_EVENT_FAILED)))
        return;
    if (c->size > s->main_size)
        s->main_size = c->size;
    join_sample(c->join, i, on_joined, &arg);
}

void communicators_finish(struct communicators *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct joined_arg arg = { .communicators = s, .comm = &s->comm[i] };

        join_finish(s->comm[i].join, on_joined, &arg);
    }
}

void communicators_end_rank(struct communicators *s, uint32_t rank)
{
    for (size_t i = 0; i < s->n; i++) {
        struct comm *c = &s->comm[i];
        uint32_t place = join_place(c->join, rank);

        if (place != UINT32_MAX && c->member[place].freed) {
            c->member[place].freed = false;
            c->freed--;
        }
        join_leave(c->join, rank);
    }
}

void communicators_fade(struct communicators *s)
{
    for (size_t at = 0; at < s->n; at++) {
        struct comm *c = &s->comm[at];

        joined_sums_fade(&c->recent);
        for (uint32_t i = 0; i < c->size; i++)
            c->member[i].recent_s *= SUMS_FADE;
    }
}

static void comm_totals_add(struct comm_totals *a, const struct comm_totals *b)
{
    a->collectives += b->collectives;
    a->bytes += b->bytes;
    a->skew_s += b->skew_s;
    a->transfer_s += b->transfer_s;
    a->joined += b->joined;
    a->over_s = fmax(a->over_s, b->over_s);
}

static void hand_over_sums(const struct comm *from, struct comm *to)
{
    comm_totals_add(&to->now, &from->now);
    comm_totals_add(&to->before, &from->before);
    joined_sums_add(&to->recent, &from->recent);
    joined_sums_add(&to->run, &from->run);
    to->summed_bytes += from->summed_bytes;
    to->other_bytes += from->other_bytes;
    for (uint32_t i = 0; i < from->size; i++) {
        struct member_sums *m = &to->member[i];

        if (!from->member[i].sampled)
            continue;
        m->rank = from->member[i].rank;
        m->sampled = true;
        m->recent_s += from->member[i].recent_s;
        m->run_s += from->member[i].run_s;
    }
}

void communicators_roll(struct communicators *s, double now_s)
{
    if (now_s < s->since_s + COMM_WINDOW_S)
        return;
    for (size_t i = 0; i < s->n; i++) {
        s->comm[i].before = s->comm[i].now;
        s->comm[i].before.over_s = now_s - s->since_s;
        memset(&s->comm[i].now, 0, sizeof(s->comm[i].now));
    }
    s->since_s = now_s;
    /* One that all members have freed stays until what its ranks sent late has come; then its series goes on
     * with its sums. */
    for (size_t i = s->n; i-- > 0;) {
        struct comm *c = &s->comm[i], *series = c->over ? comm_find(s, c->membership) : NULL;

        c->over = c->freed && c->freed >= join_announced(c->join);
        if (series && series->series && series->size == c->size) {
            hand_over_sums(c, series);
            comm_remove(s, c);
        }
    }
}

char *communicators_label(const struct communicators *s, uint64_t name, char *buf, size_t size)
{
    const struct comm *c = comm_known(s, name);
    char dup[16] = "";

    if (c && c->number)
        snprintf(dup, sizeof(dup), ".%u", c->number);
    if (!c || (!c->label && !c->ranged))
        snprintf(buf, size, "%016llx", (unsigned long long)name);
    else if (c->label)
        snprintf(buf, size, "%s", c->label);
    else if (c->size >= roster_limit(s->roster)) /* more: some of its ranks are not recorded */
        snprintf(buf, size, "world%s", dup);
    else
        snprintf(buf, size, "%u@%u%s", c->size, c->first, dup);
    return buf;
}

uint32_t communicators_rank(const struct communicators *s, uint64_t name, uint32_t place)
{
    const struct comm *c = comm_known(s, name);
    bool known = c && c->ranged && place < c->size && c->member[place].placed;

    return known ? c->member[place].rank : UINT32_MAX;
}

bool communicators_disputed(const struct communicators *s, uint64_t name)
{
    const struct comm *c = comm_find(s, name);

    return c && c->disputed;
}

uint64_t communicators_disputes(const struct communicators *s)
{
    return s->disputes;
}

uint32_t communicators_size(const struct communicators *s, uint64_t name)
{
    const struct comm *c = comm_known(s, name);

    return c ? c->size : 0;
}

bool communicators_member(const struct communicators *s, uint64_t name, uint32_t rank)
{
    const struct comm *c = comm_known(s, name);

    return c && join_place(c->join, rank) != UINT32_MAX;
}

uint32_t communicators_member_at(const struct communicators *s, uint64_t name, uint32_t place)
{
    const struct comm *c = comm_find(s, name);

    return c ? join_rank(c->join, place) : UINT32_MAX;
}

struct communicators_progress communicators_progress(const struct communicators *s, uint64_t name,
                                                     uint32_t rank)
{
    const struct comm *c = comm_find(s, name);
    uint32_t place = c ? join_place(c->join, rank) : UINT32_MAX;
    const struct member_sums *m = place == UINT32_MAX ? NULL : &c->member[place];

    return (struct communicators_progress){ m && m->left ? (uint32_t)(m->left - 1) : UINT32_MAX,
                                            m && m->called ? (uint32_t)(m->called - 1) : UINT32_MAX };
}

void communicators_reached(struct communicators *s, uint64_t name, uint32_t rank, uint32_t left,
                           uint32_t called)
{
    const struct comm *c = comm_find(s, name);
    uint32_t place = c ? join_place(c->join, rank) : UINT32_MAX;
    struct member_sums *m = place == UINT32_MAX ? NULL : &c->member[place];

    s->told = true;
    if (m && left != UINT32_MAX && left >= m->left)
        m->left = (uint64_t)left + 1;
    if (m && called != UINT32_MAX && called >= m->called)
        m->called = (uint64_t)called + 1;
}

bool communicators_told(const struct communicators *s)
{
    return s->told;
}

struct exchange_comm communicators_shape(const struct communicators *s, uint64_t name)
{
    const struct comm *c = comm_known(s, name);
    struct exchange_comm shape = { .size = c ? c->size : 0, .first = c ? c->first : 0 };

    if (shape.size < 2 || c->last <= c->first || (c->last - c->first) % (c->size - 1))
        return shape;
    shape.stride = (c->last - c->first) / (c->size - 1);
    for (uint32_t i = 0; i < c->size && shape.stride; i++) {
        const struct member_sums *m = &c->member[i]; /* join.h forgets who has left */

        if (!m->sampled || m->rank < c->first || m->rank > c->last || (m->rank - c->first) % shape.stride)
            shape.stride = 0;
    }
    return shape;
}

size_t communicators_exchanged(const struct communicators *s, uint64_t name, struct exchange_comm out[2])
{
    const struct comm *c = comm_find(s, name);

    if (!c)
        return 0;
    out[0] = out[1] = communicators_shape(s, name);
    out[0].sums = true;
    out[0].bytes = c->summed_bytes;
    out[1].bytes = c->other_bytes;
    return 2;
}

uint32_t communicators_of_size(const struct communicators *s, uint32_t size)
{
    uint32_t n = 0, all = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->comm[i].size == size && !s->comm[i].disputed) {
            n += is_in_use(&s->comm[i]);
            all++;
        }
    return n ? n : all > 0;
}

uint32_t communicators_announced(const struct communicators *s, uint64_t name)
{
    const struct comm *c = comm_known(s, name);

    return c ? join_announced(c->join) : 0;
}

static int by_size(const void *a, const void *b)
{
    const struct view_comm *x = a, *y = b;

    return (x->size < y->size) - (x->size > y->size);
}

static bool is_shown(const struct comm *c)
{
    return !c->disputed && (c->now.joined || c->before.joined);
}

static bool has_row(const struct view_comm *row, size_t n, uint32_t size)
{
    for (size_t i = 0; i < n; i++)
        if (row[i].size == size)
            return true;
    return false;
}

/* Whether the last full window tells of communicators of this size; else the running one has to. */
static bool has_window(const struct communicators *s, uint32_t size)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->comm[i].size == size && s->comm[i].before.joined)
            return true;
    return false;
}

/* Rates of one of the communicators in use, which go on with what freed ones did; the mean skew of all. */
static void row_rates(const struct communicators *s, double now_s, uint64_t main, struct view_comm *row)
{
    bool window = has_window(s, row->size);
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct comm *c = &s->comm[i];
        const struct comm_totals *t = window ? &c->before : &c->now;
        double over_s = window ? t->over_s : now_s - s->since_s;

        if (c->size != row->size || !is_shown(c))
            continue;
        row->instances += is_in_use(c);
        row->main = row->main || c->name == main;
        if (over_s > 0) {
            row->collectives_per_s += t->collectives / over_s;
            row->bytes_per_s += t->bytes / over_s;
        }
        if (t->joined) {
            n++;
            row->skew_s += t->skew_s / (double)t->joined;
            row->transfer_s += t->transfer_s / (double)t->joined;
        }
    }
    row->instances += !row->instances;
    row->collectives_per_s /= row->instances;
    row->bytes_per_s /= row->instances;
    row->skew_s /= (double)(n ? n : 1);
    row->transfer_s /= (double)(n ? n : 1);
}

/* The place of a size in the list, or where it has to be put; VIEW_SIZES_MAX: there is no room. */
static size_t size_at(const struct view_spent *list, uint32_t size)
{
    size_t i = 0;

    while (i < VIEW_SIZES_MAX && list[i].size && list[i].size != size)
        i++;
    return i;
}

/* Communicators of one size together. */
static struct efficiency_sums spent(const struct communicators *s, uint32_t size, bool run)
{
    struct efficiency_sums sums = { 0 };
    size_t at = size_at(s->before, size);

    for (size_t k = 0; k < s->n; k++) {
        const struct comm *c = &s->comm[k];
        const struct joined_sums *joined = run ? &c->run : &c->recent;

        if (c->size != size)
            continue;
        for (uint32_t i = 0; i < size; i++) {
            const struct member_sums *m = &c->member[i];
            double stay_s = run ? m->run_s : m->recent_s, time_s = sums_rank(s->sums, m->rank, run)->time_s;

            if (m->sampled)
                efficiency_rank(&sums, time_s - stay_s, stay_s, time_s);
        }
        sums.wait_s += joined->wait_s;
        sums.transfer_s += joined->transfer_s;
        efficiency_group(&sums);
    }
    return run && at < VIEW_SIZES_MAX ? efficiency_joined(&s->before[at].sums, &sums) : sums;
}

void communicators_position(const struct communicators *s, struct view_spent of_size[VIEW_SIZES_MAX])
{
    memcpy(of_size, s->before, sizeof(s->before));
    for (size_t i = 0, at; i < s->n; i++)
        if ((at = size_at(of_size, s->comm[i].size)) < VIEW_SIZES_MAX)
            of_size[at].size = s->comm[i].size;
    for (size_t i = 0; i < VIEW_SIZES_MAX && of_size[i].size; i++)
        of_size[i].sums = spent(s, of_size[i].size, true);
}

void communicators_go_on(struct communicators *s, const struct view_spent of_size[VIEW_SIZES_MAX])
{
    memcpy(s->before, of_size, sizeof(s->before));
}

size_t communicators_rows(const struct communicators *s, double now_s, uint64_t main, struct view_comm *out,
                          size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n && n < max; i++) {
        const struct comm *c = &s->comm[i];

        if (is_shown(c) && !has_row(out, n, c->size))
            out[n++] = (struct view_comm){ .name = c->name, .size = c->size };
    }
    for (size_t i = 0; i < n; i++) {
        struct efficiency_sums recent = spent(s, out[i].size, false), run = spent(s, out[i].size, true);

        row_rates(s, now_s, main, &out[i]);
        out[i].recent = efficiency_of(&recent);
        out[i].run = efficiency_of(&run);
    }
    qsort(out, n, sizeof(*out), by_size);
    return n;
}
