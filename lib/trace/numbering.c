#include "trace/numbering.h"

#include <stdlib.h>

#include "common/hash.h"
#include "common/map.h"
#include "common/xalloc.h"

#define SEEN 64u /* duplicates are recognised among this many numbers before the newest */
/* a posted message may be completed after so many records that ended since a later one was */
#define BEHIND 64u

struct rank {
    uint64_t records, lost;
    /* messages that may yet come: among those that ended by then, and among so many records */
    uint32_t missing;
    uint64_t missing_until_ns, missing_until_record;
};

struct table {
    struct map at; /* numbers of the entries */
    struct numbers *entry;
    size_t n, cap;
};

struct numbering {
    uint32_t ranks;
    struct rank *rank;
    struct table pairs, streams; /* of ranks and communicators, of messages */
};

struct numbering *numbering_new(uint32_t ranks)
{
    struct numbering *n = xcalloc(1, sizeof(*n));

    n->ranks = ranks;
    n->rank = xcalloc((size_t)ranks + 1, sizeof(*n->rank));
    return n;
}

static void table_free(struct table *t)
{
    map_free(&t->at);
    free(t->entry);
}

void numbering_free(struct numbering *n)
{
    if (!n)
        return;
    table_free(&n->pairs);
    table_free(&n->streams);
    free(n->rank);
    free(n);
}

/* The entry of that key; a new one begins with this number.  NULL: there are too many. */
static struct numbers *numbers_get(struct table *t, uint64_t key, uint32_t first)
{
    uint32_t at = map_get(&t->at, key);

    if (at != MAP_NONE)
        return &t->entry[at];
    if (t->n >= NUMBERING_MAX)
        return NULL;
    t->entry = xgrow(t->entry, &t->cap, t->n + 1, sizeof(*t->entry));
    map_put(&t->at, key, (uint32_t)t->n);
    t->entry[t->n] = (struct numbers){ .next = first };
    return &t->entry[t->n++];
}

static void numbers_raise(struct numbers *k, uint32_t number)
{
    uint32_t by = number - k->next + 1;

    k->seen = by < SEEN ? k->seen << by | 1 : 1;
    k->next = number + 1;
}

bool numbers_add(struct numbers *k, uint32_t number)
{
    uint32_t behind = k->next - 1 - number;

    if (number >= k->next)
        numbers_raise(k, number);
    else if (behind >= SEEN || k->seen >> behind & 1)
        return false;
    else
        k->seen |= (uint64_t)1 << behind;
    return true;
}

/* Are messages that were missing lost by now? */
static bool settle_missing(struct rank *k, const struct call *c)
{
    if (!k->missing || c->enter_ns < k->missing_until_ns || k->records < k->missing_until_record)
        return false;
    k->missing = 0;
    return true;
}

static void raise_to(struct rank *rank, struct numbers *k, const struct call *c, struct numbered *found)
{
    bool message = call_is_message(c);

    found->skipped = c->seq - k->next;
    numbers_raise(k, c->seq);
    rank->lost += found->skipped;
    if (found->skipped && message) {
        rank->missing += found->skipped;
        rank->missing_until_ns = c->leave_ns;
        rank->missing_until_record = rank->records + (call_is_nonblocking(c) ? BEHIND : 0);
    }
    found->lost_calls = found->skipped && !message;
}

static void look_back(struct rank *rank, struct numbers *k, const struct call *c, struct numbered *found)
{
    bool message = call_is_message(c);
    uint32_t behind = k->next - 1 - c->seq;

    if (behind < SEEN && (k->seen >> behind & 1)) {
        found->is = NUMBERING_TWICE;
        return;
    }
    found->is = NUMBERING_LATE;
    if (behind >= SEEN || (!rank->lost && !message))
        return;
    k->seen |= (uint64_t)1 << behind;
    found->found = rank->lost > 0;
    rank->lost -= found->found;
    if (!message)
        return;
    rank->missing -= rank->missing > 0;
    found->is = NUMBERING_GOOD;
}

struct numbered numbering_take(struct numbering *n, const struct trace_record *r, uint64_t comm)
{
    const struct call *c = &r->call;
    bool message = call_is_message(c);
    struct rank *rank = &n->rank[c->rank];
    uint64_t pair[] = { comm, c->rank };
    uint64_t stream[] = { comm, c->rank, c->peer, call_side(c->op), (uint64_t)c->tag };
    struct numbered found = { .is = NUMBERING_GOOD, .lost_messages = settle_missing(rank, c) };
    struct numbers *k = message
                            ? numbers_get(&n->streams, hash_bytes(HASH_START, stream, sizeof(stream)), c->seq)
                            : numbers_get(&n->pairs, hash_bytes(HASH_START, pair, sizeof(pair)), c->seq);

    if (!k) {
        found.is = NUMBERING_BEYOND;
        return found;
    }
    found.first = !message && !k->seen;
    if (c->seq >= k->next)
        raise_to(rank, k, c, &found);
    else
        look_back(rank, k, c, &found);
    rank->records += found.is == NUMBERING_GOOD && !r->backward;
    return found;
}

uint64_t numbering_lost(const struct numbering *n, uint32_t rank)
{
    return rank < n->ranks ? n->rank[rank].lost : 0;
}
