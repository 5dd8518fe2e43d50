#include <stdlib.h>
#include <string.h>

#include "calls/updates_private.h"
#include "common/xalloc.h"

#define RANKS_MAX (1u << 20) /* that memory is taken for */

/* Iterations of each worker at each server before anything is said.  Chosen: a start, where some come later
 * than others, is over. */
#define ROUNDS_MIN 8u
/* reads and writes of them in a row, of as many bytes as the one before */
#define ALIKE_MIN 8u
/* Bytes read over bytes written, or the reverse.  Chosen: numbers of half the length one way are two times,
 * with two moments of an optimiser beside the gradient three times. */
#define BYTES_RATIO 4u
#define OLDEST_MAX  8u /* peers that an answer is compared with */
/* Stretches of a worker's intervals that do not repeat.  Chosen: an order that changes once, as when shares
 * are dealt anew, is in one of them. */
#define STRETCHES_MIN 2u

struct updates *updates_new(void)
{
    return xcalloc(1, sizeof(struct updates));
}

/* All but the figures that were asked for last. */
static void forget(struct updates *u)
{
    for (uint32_t r = 0; r < u->n; r++) {
        free(u->member[r].history);
        accesses_free(u->member[r].accesses);
        free(u->member[r].serving);
    }
    map_free(&u->pairs);
    free(u->member);
    free(u->pair);
    u->member = NULL;
    u->pair = NULL;
    u->n = u->n_pairs = 0;
    u->members_cap = u->pairs_cap = 0;
}

void updates_free(struct updates *u)
{
    if (!u)
        return;
    forget(u);
    free(u->rank);
    free(u->kept);
    free(u);
}

size_t updates_bytes(const struct updates *u)
{
    size_t bytes = 0;

    for (uint32_t r = 0; r < u->n; r++)
        bytes += accesses_bytes(u->member[r].accesses);
    return bytes + u->members_cap * (sizeof(*u->member) + (u->any ? sizeof(struct history) : 0)) +
           u->pairs_cap * sizeof(*u->pair) + u->pairs.size * (sizeof(uint64_t) + sizeof(uint32_t));
}

static struct member *member_of(struct updates *u, uint32_t rank)
{
    if (rank >= u->n)
        u->member = xgrow(u->member, &u->members_cap, (size_t)rank + 1, sizeof(*u->member));
    for (; u->n <= rank; u->n++)
        u->member[u->n] = (struct member){ .first = NONE, .oldest = NONE, .newest = NONE, .anchor = NONE };
    return &u->member[rank];
}

/* ---- exchanges of two ranks ---- */

static void unlink_pair(struct updates *u, struct member *m, struct pair *p)
{
    if (!p->newest)
        return;
    *(p->older == NONE ? &m->oldest : &u->pair[p->older].newer) = p->newer;
    *(p->newer == NONE ? &m->newest : &u->pair[p->newer].older) = p->older;
    p->newest = 0;
}

static void link_newest(struct updates *u, struct member *m, struct pair *p)
{
    uint32_t at = (uint32_t)(p - u->pair);

    unlink_pair(u, m, p);
    p->newest = m->takes;
    p->older = m->newest;
    p->newer = NONE;
    *(m->newest == NONE ? &m->oldest : &u->pair[m->newest].newer) = at;
    m->newest = at;
}

/* Nothing is known of it yet, or of what was seen nothing counts any more. */
static void begin_anew(const struct member *m, struct pair *p, uint32_t rank, uint32_t peer, uint32_t next)
{
    *p = (struct pair){ .rank = rank,
                        .peer = peer,
                        .epoch = m->epoch,
                        .gap = m->gap,
                        .partial = true,
                        .next = next,
                        .older = NONE,
                        .newer = NONE };
}

/* NULL: there are too many. */
static struct pair *pair_of(struct updates *u, struct member *m, uint32_t rank, uint32_t peer)
{
    uint64_t key = (uint64_t)rank << 32 | peer;
    uint32_t at = map_get(&u->pairs, key);
    struct pair *p;

    if (at == MAP_NONE) {
        if (u->n_pairs == UPDATES_PAIRS_MAX)
            return NULL;
        at = u->n_pairs++;
        u->pair = xgrow(u->pair, &u->pairs_cap, u->n_pairs, sizeof(*u->pair));
        map_put(&u->pairs, key, at);
        p = &u->pair[at];
        begin_anew(m, p, rank, peer, m->first);
        m->first = at;
        return p;
    }
    p = &u->pair[at];
    if (p->epoch != m->epoch)
        begin_anew(m, p, rank, peer, p->next);
    if (p->gap != m->gap) { /* what it did meanwhile is not known */
        p->gap = m->gap;
        p->phase = QUIET;
        p->partial = true;
        p->read_known = p->follows = false;
        p->answered = p->answered_before = p->gone_by_ns = 0;
        p->took_bytes = p->gave_bytes = 0;
        p->gave_ns = 0;
    }
    return p;
}

/* A run is over: did it have as many bytes as the one before? */
static void end_run(struct pair *p, uint64_t *bytes, uint64_t *usual)
{
    if (!p->partial) {
        p->alike = *bytes == *usual ? p->alike + 1 : 0;
        *usual = *bytes;
    }
    p->partial = false;
    *bytes = 0;
}

/* ---- servers ---- */

static struct history *history_of(struct member *m)
{
    if (!m->history)
        m->history = xcalloc(1, sizeof(*m->history));
    return m->history;
}

static void restart_times(struct member *m)
{
    m->begun_ns = 0;
    m->served_s = 0;
    if (m->history)
        m->history->n = 0;
}

static void note_went(struct updates *u, struct member *m, struct pair *p, struct pair *by)
{
    p->went = by->went = u->any = true;
    p->went_at = p->takes;
    if (!m->serves) /* its times are those of updates from now on */
        restart_times(m);
    m->serves = true;
}

/* The rank answers, until ns: what it received from the peer since its answer before has gone by all from
 * whom it has received nothing since it received what it answered then. */
static void go_by(struct updates *u, struct member *m, struct pair *p, uint64_t ns)
{
    uint32_t at = m->oldest;

    if (!p->answered_before)
        return;
    for (uint32_t i = 0; i < OLDEST_MAX && at != NONE; i++, at = u->pair[at].newer) {
        struct pair *j = &u->pair[at];

        if (j->newest >= p->answered_before)
            break;
        if (!m->accesses) {
            note_went(u, m, j, p);
        } else if (!j->gone_by_ns && j->wrote_ns < p->answered_before_ns) {
            j->gone_by_ns = ns;
            j->gone_by = (uint32_t)(p - u->pair);
        }
    }
}

/* The peer writes again: had the other one waited for it, this write would have begun before. */
static void was_gone_by(struct updates *u, struct member *m, struct pair *p, uint64_t enter_ns)
{
    if (p->gone_by_ns && enter_ns > p->gone_by_ns)
        note_went(u, m, p, &u->pair[p->gone_by]);
    p->gone_by_ns = 0;
}

/* Are they what they were so many before, all of them? */
static bool repeats(const uint8_t *others, uint32_t period)
{
    return !memcmp(others, others + period, ORDER - period);
}

/* The rank answers the peer: if that one's update is its newest, what lay between is what it took. */
static void serve(const struct updates *u, struct member *m, const struct pair *p, const struct call *c)
{
    uint64_t end_ns = call_is_nonblocking(c) ? c->begin_ns : c->leave_ns;

    if (m->begun_ns && m->newest == (uint32_t)(p - u->pair) && end_ns > m->begun_ns)
        m->served_s = (double)(end_ns - m->begun_ns) * 1e-9 - m->wait_s;
}

/* Its newest update is over when the next one comes. */
static void end_serving(const struct updates *u, struct member *m, uint64_t now_ns)
{
    if (!(m->served_s > 0) || m->newest == NONE)
        return;
    if (!m->serving)
        m->serving = xcalloc(1, sizeof(*m->serving));
    serving_take(m->serving, u->pair[m->newest].usual_take, now_ns, m->served_s);
}

/* The rank receives from the peer: how many runs of others were between, and do these numbers repeat?  In an
 * order that is fixed they do, for each peer after as many of its runs as the order has.  The first runs do
 * not count: at a start not all have come yet. */
static void order_follows(const struct member *m, struct pair *p)
{
    bool regular = false;

    if (!p->follows || p->takes < ROUNDS_MIN) {
        p->follows = true;
        p->n_others = 0;
        return;
    }
    if (p->irregular >= STRETCHES_MIN)
        return;
    p->others[p->n_others++] = (uint8_t)(m->takes - p->newest);
    if (p->n_others < ORDER)
        return;
    for (uint32_t period = 1; period <= ORDER / 2; period++)
        regular = regular || repeats(p->others, period);
    p->irregular += !regular;
    p->regular += regular && p->regular < STRETCHES_MIN;
    p->n_others = 0;
}

/* Others' updates that a server had received at that time; false: that is too long ago to be known. */
static bool others_at(const struct member *m, const struct pair *p, uint64_t ns, uint64_t *others)
{
    uint64_t n = m->takes;
    uint32_t own = 0;

    for (uint32_t i = 0; n && m->history->took_ns[(n - 1) % RECENT] > ns; i++, n--) {
        own += m->history->from[(n - 1) % RECENT] == p->peer;
        if (i + 1 == RECENT)
            return false;
    }
    *others = n - (p->takes - own);
    return true;
}

static void keep_stale(struct updates *u, const struct pair *p, uint64_t stale)
{
    struct history *h = history_of(member_of(u, p->peer));
    uint32_t value = stale < UINT32_MAX ? (uint32_t)stale : UINT32_MAX;

    h->stale[h->n_stale++ % UPDATES_STALE] = value;
    h->stale_max = value > h->stale_max ? value : h->stale_max;
}

/* ---- iterations ---- */

static void end_turn(struct member *m, uint64_t now_ns)
{
    struct history *h;

    if (m->begun_ns && now_ns > m->begun_ns) {
        h = history_of(m);
        h->turn_s[h->n % UPDATES_TURNS] = (float)((double)(now_ns - m->begun_ns) * 1e-9);
        h->work_s[h->n % UPDATES_TURNS] = (float)(m->serves && !m->accesses ? m->served_s : m->work_s);
        h->wait_s[h->n % UPDATES_TURNS] = (float)m->wait_s;
        h->n++;
    }
    m->begun_ns = now_ns;
    m->work_s = m->wait_s = m->served_s = 0;
}

/* Its own work before the call, and the call itself. */
static void pass_time(struct member *m, const struct call *c)
{
    uint64_t enter_ns = c->flags & RING_EVENT_UNWAITED ? c->leave_ns : c->enter_ns;

    if (m->left_ns && enter_ns > m->left_ns)
        m->work_s += (double)(enter_ns - m->left_ns) * 1e-9;
    if (m->left_ns > enter_ns)
        enter_ns = m->left_ns;
    if ((c->op == RING_OP_RECV || call_is_access(c)) && c->leave_ns > enter_ns)
        m->wait_s += (double)(c->leave_ns - enter_ns) * 1e-9;
    m->left_ns = c->leave_ns > m->left_ns ? c->leave_ns : m->left_ns;
}

/* ---- messages ---- */

static void take(struct updates *u, struct member *m, struct pair *p, const struct call *c)
{
    if (p->phase != TAKES) {
        if (p->phase == GIVES)
            end_run(p, &p->gave_bytes, &p->usual_give);
        p->phase = TAKES;
        if (p->gave_ns && c->leave_ns > p->gave_ns) {
            float s = (float)((double)(c->leave_ns - p->gave_ns) * 1e-9);

            p->answer_s += p->answer_s > 0 ? (s - p->answer_s) / 16 : s;
        }
        if (p->read_known)
            keep_stale(u, p, m->takes - p->takes - p->at_read);
        p->read_known = false;
        was_gone_by(u, m, p, c->enter_ns);
        p->begun_ns = c->enter_ns;
        p->took_ns = m->took_ns = c->leave_ns;
        order_follows(m, p);
        if (m->serves && !m->accesses)
            end_serving(u, m, c->leave_ns);
        p->takes++;
        m->takes++;
        link_newest(u, m, p);
        if (u->any || m->accesses) {
            struct history *h = history_of(m);

            h->took_ns[(m->takes - 1) % RECENT] = c->leave_ns;
            h->from[(m->takes - 1) % RECENT] = p->peer;
            if (m->serves)
                end_turn(m, c->leave_ns);
        }
    }
    p->wrote_ns = c->leave_ns;
    p->took_bytes += c->bytes;
}

static void give(struct updates *u, struct member *m, struct pair *p, const struct call *c)
{
    if (p->phase != GIVES) {
        if (p->phase == TAKES) {
            end_run(p, &p->took_bytes, &p->usual_take);
            p->answered_before = p->answered;
            p->answered_before_ns = p->answered_ns;
            p->answered = p->newest;
            p->answered_ns = p->begun_ns;
            go_by(u, m, p, c->leave_ns);
        }
        p->phase = GIVES;
        p->gives++;
        p->gave_ns = call_begin_ns(c);
        if (m->serves && m->history)
            p->read_known = others_at(m, p, p->gave_ns, &p->at_read);
        if (m->anchor == NONE)
            m->anchor = (uint32_t)(p - u->pair);
        if (u->any && !m->serves && m->anchor == (uint32_t)(p - u->pair))
            end_turn(m, p->gave_ns);
    }
    if (m->serves && !m->accesses)
        serve(u, m, p, c);
    p->gave_bytes += c->bytes;
}

/* ---- accesses ---- */

/* Of updates that overlap nobody knows which took effect first: their order is no evidence. */
static void skip_order(struct updates *u, const struct member *m, struct pair *p, const struct call *c)
{
    const struct history *h = m->history;

    for (uint64_t i = 0; h && i < RECENT && i < m->takes; i++) {
        uint64_t at = (m->takes - 1 - i) % RECENT;
        uint32_t other = map_get(&u->pairs, (uint64_t)p->rank << 32 | h->from[at]);

        if (h->took_ns[at] <= c->enter_ns)
            break;
        p->follows = false;
        if (other != MAP_NONE)
            u->pair[other].follows = false;
    }
}

/* What was read was there first. */
static void pass(struct updates *u, struct member *m, struct pair *p, const struct call *c, bool served)
{
    struct call read = *c, written = *c;

    read.begin_ns = written.begin_ns = c->enter_ns;
    read.bytes = c->read_bytes;
    if (read.bytes >= UPDATES_BYTES)
        (served ? give : take)(u, m, p, &read);
    if (written.bytes < UPDATES_BYTES)
        return;
    if (served)
        skip_order(u, m, p, &written);
    (served ? take : give)(u, m, p, &written);
}

/* In the order of their ends, as the rank would have them whose memory it is, had they been messages.  Where
 * nobody has an access it would wait.  False: there are too many pairs. */
static bool serve_accesses(struct updates *u, const struct call *newest)
{
    struct member *m = &u->member[newest->peer];
    struct call c;

    if (!m->accesses)
        m->accesses = accesses_new();
    if (!accesses_add(m->accesses, newest, u->member[newest->rank].clock))
        m->gap++;
    while (accesses_next(m->accesses, &c)) {
        struct pair *p = pair_of(u, m, c.peer, c.rank);

        if (!p)
            return false;
        if (m->accessed_ns && c.enter_ns > m->accessed_ns)
            m->wait_s += (double)(c.enter_ns - m->accessed_ns) * 1e-9;
        m->accessed_ns = c.leave_ns;
        pass(u, m, p, &c, true);
    }
    return true;
}

static bool pass_access(struct updates *u, const struct call *c)
{
    struct pair *p = pair_of(u, &u->member[c->rank], c->rank, c->peer);

    if (!p)
        return false;
    pass(u, &u->member[c->rank], p, c, false);
    return serve_accesses(u, c);
}

static bool pass_message(struct updates *u, const struct call *c)
{
    struct member *m = &u->member[c->rank];
    struct pair *p = pair_of(u, m, c->rank, c->peer);

    if (!p)
        return false;
    (c->op == RING_OP_RECV ? take : give)(u, m, p, c);
    return true;
}

/* It waits for others: what was seen of it does not hold on. */
static void meet(struct updates *u, struct member *m)
{
    struct updates_figures last;

    if (u->found)
        updates_get(u, &last); /* which keeps them */
    u->found = u->undecided = false;
    u->calls = 0;
    m->oldest = m->newest = m->anchor = NONE;
    m->epoch++;
    m->takes = 0;
    m->serves = m->slow = false;
    restart_times(m);
    free(m->serving);
    m->serving = NULL;
    if (m->history)
        m->history->n_stale = m->history->stale_max = 0;
}

/* ---- who they are ---- */

static bool is_like(uint64_t a, uint64_t b)
{
    return a && b && a <= BYTES_RATIO * b && b <= BYTES_RATIO * a;
}

/* As the server has it, and the worker. */
static bool is_served(const struct updates *u, const struct pair *p, uint64_t bytes)
{
    const struct pair *back = valid_pair(u, p->peer, p->rank);

    return p->went && p->takes >= ROUNDS_MIN && p->gives >= ROUNDS_MIN && p->alike >= ALIKE_MIN &&
           p->usual_take == bytes && is_like(p->usual_take, p->usual_give) && back && !back->went &&
           back->takes >= ROUNDS_MIN && back->gives >= ROUNDS_MIN;
}

/* Each rank that exchanges large messages is a server or a worker, and no other one calls anything. */
static void look_at_all(struct updates *u)
{
    uint32_t servers = 0, workers = 0;
    bool fixed = false, undecided = false;

    u->found = u->undecided = false;
    for (uint32_t r = 0; r < u->n; r++) {
        const struct member *m = &u->member[r];
        bool any = false;
        uint64_t bytes = 0;
        uint32_t n = 0;

        for (uint32_t i = m->first; i != NONE; i = u->pair[i].next) {
            const struct pair *p = &u->pair[i];

            if (p->epoch != m->epoch)
                continue;
            any = true;
            n++;
            bytes = bytes ? bytes : p->usual_take;
            if (m->serves ? !is_served(u, p, bytes) : !u->member[p->peer].serves)
                return;
            if (m->serves && p->irregular < STRETCHES_MIN) {
                undecided = true;
                fixed = fixed || p->regular >= STRETCHES_MIN;
            }
        }
        if ((!any && m->called) || (m->serves && n < 2))
            return;
        servers += m->serves;
        workers += any && !m->serves;
    }
    u->found = !undecided && servers && workers > 1;
    u->undecided = undecided && !fixed && servers && workers > 1;
}

void updates_clock(struct updates *u, uint32_t rank, uint32_t clock)
{
    if (!u->beyond && rank < RANKS_MAX)
        member_of(u, rank)->clock = clock;
}

static uint64_t most_bytes(const struct call *c)
{
    return call_is_access(c) && c->read_bytes > c->bytes ? c->read_bytes : c->bytes;
}

void updates_call(struct updates *u, const struct call *c)
{
    struct member *m;

    if (u->beyond)
        return;
    u->computed = false;
    m = member_of(u, c->rank);
    if (!call_is_pairwise(c)) {
        meet(u, m);
        m->left_ns = c->leave_ns;
        m->called = m->called || u->any;
        return;
    }
    pass_time(m, c);
    m->called = m->called || u->any;
    if (most_bytes(c) < UPDATES_BYTES || c->peer == c->rank || c->peer >= RANKS_MAX)
        return;
    member_of(u, c->peer); /* the other way round it is looked up, too */
    if (!(call_is_access(c) ? pass_access(u, c) : pass_message(u, c))) {
        u->beyond = true;
        u->found = u->undecided = false;
        forget(u);
        return;
    }
    if (u->any && ++u->calls > u->n_pairs + u->n) {
        struct updates_figures last;
        bool found = u->found;

        u->calls = 0;
        look_at_all(u);
        if (found && !u->found) { /* which keeps them */
            u->found = true;
            updates_get(u, &last);
            u->found = false;
        }
    }
}

void updates_gap(struct updates *u, uint32_t rank)
{
    struct member *m;

    if (rank >= u->n)
        return;
    m = &u->member[rank];
    m->gap++;
    u->computed = false;
    m->left_ns = m->begun_ns = 0;
    m->served_s = 0;
}

void updates_end_rank(struct updates *u, uint32_t rank)
{
    u->computed = false;
    if (rank < u->n)
        u->member[rank].ended = true;
}

bool updates_found(const struct updates *u)
{
    return u && u->found;
}

bool updates_undecided(const struct updates *u)
{
    return u && u->undecided;
}
