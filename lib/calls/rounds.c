#include "calls/rounds.h"

#include <stdlib.h>

#include "calls/cycle.h"
#include "common/divisor.h"
#include "common/hash.h"
#include "common/xalloc.h"

#define RANKS_MAX 65536u /* that memory is taken for */
#define KINDS_MAX 64u    /* different messages of a rank */
#define ROUND_MAX 65536u /* cycles of a rank in a round, and messages */
#define CALLS_MAX 16384u /* of a rank, after which it is not looked for any more */
#define KEPT      2u     /* cycles for which it must go on as before */

struct kind { /* of a rank's messages */
    struct round what;
    uint32_t token;
    uint32_t first; /* message of the rank */
};

struct caller {               /* a rank */
    bool any, ended, various; /* various: there are too many kinds of messages */
    struct cycle cycle;
    uint32_t at;   /* place in its cycle of the next message */
    uint32_t kept; /* messages since it was found */
    uint32_t calls;
    struct kind *kind;
    size_t n_kinds, kinds_cap;
    uint64_t up, down; /* cycles of a round, over those of the first rank: a fraction; 0, 0: not known */
};

struct rounds {
    struct caller *rank;
    size_t cap;
    uint32_t n;
    bool found;
    uint32_t calls; /* since it was looked for last */
};

struct rounds *rounds_new(void)
{
    return xcalloc(1, sizeof(struct rounds));
}

void rounds_free(struct rounds *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->n; i++) {
        cycle_free(&r->rank[i].cycle);
        free(r->rank[i].kind);
    }
    free(r->rank);
    free(r);
}

size_t rounds_bytes(const struct rounds *r)
{
    size_t bytes = r->cap * sizeof(*r->rank);

    for (uint32_t i = 0; i < r->n; i++)
        bytes += r->rank[i].cycle.cap * sizeof(uint32_t) + r->rank[i].kinds_cap * sizeof(struct kind);
    return bytes;
}

/* ---- what a rank's messages repeat ---- */

static uint32_t token_of(const struct call *c)
{
    uint64_t words[] = { call_side(c->op), c->comm, c->peer, (uint64_t)(int64_t)c->tag };

    return (uint32_t)hash_bytes(HASH_START, words, sizeof(words)) & 0x7fffffff;
}

static void take_kind(struct caller *k, const struct call *c, uint32_t token)
{
    for (size_t i = 0; i < k->n_kinds; i++)
        if (k->kind[i].token == token)
            return;
    k->various = k->various || k->n_kinds == KINDS_MAX;
    if (k->various)
        return;
    k->kind = xgrow(k->kind, &k->kinds_cap, k->n_kinds + 1, sizeof(*k->kind));
    k->kind[k->n_kinds++] = (struct kind){
        .what = { .comm = c->comm, .peer = c->peer, .tag = c->tag, .side = (uint8_t)call_side(c->op) },
        .token = token,
        .first = k->calls
    };
}

/* It must go on as it repeated: a long run of one kind looks like a cycle of it. */
static void follow(struct caller *k, uint32_t token)
{
    struct cycle *c = &k->cycle;

    if (c->token[c->end - c->length + k->at] != token) {
        c->length = 0;
        k->kept = 0;
        return;
    }
    k->at = (k->at + 1) % c->length;
    k->kept++;
}

void rounds_call(struct rounds *r, const struct call *c)
{
    struct caller *k;
    uint32_t token;

    if (r->found || c->rank >= RANKS_MAX || c->peer >= RANKS_MAX)
        return;
    r->rank = xgrow(r->rank, &r->cap, (size_t)c->rank + 1, sizeof(*r->rank));
    r->n = c->rank >= r->n ? c->rank + 1 : r->n;
    k = &r->rank[c->rank];
    k->any = true;
    r->calls++;
    if (k->various || k->calls >= CALLS_MAX)
        return;
    token = token_of(c);
    take_kind(k, c, token);
    k->calls++;
    if (k->cycle.length) {
        follow(k, token);
        if (k->cycle.length) /* what was seen of it is enough */
            return;
    }
    cycle_push(&k->cycle, token, false);
    k->at = 0;
}

void rounds_end_rank(struct rounds *r, uint32_t rank)
{
    if (rank < r->n)
        r->rank[rank].ended = true;
}

/* ---- what they have in common ---- */

/* In a cycle of the rank, with that one. */
static uint32_t messages(const struct caller *k, uint32_t peer, enum call_side side)
{
    uint32_t n = 0;

    for (size_t i = 0; i < k->n_kinds; i++)
        if (k->kind[i].what.peer == peer && k->kind[i].what.side == side)
            n += cycle_count(&k->cycle, k->kind[i].token);
    return n;
}

static bool is_known(const struct caller *k)
{
    return k->any && !k->ended && !k->various && k->calls >= ROUNDS_CALLS && k->cycle.length &&
           k->kept >= KEPT * k->cycle.length;
}

/* As many cycles of the peer as take what the rank sends, and send what it takes. false: they do not fit. */
static bool fit(struct rounds *r, uint32_t rank, uint32_t peer, bool *news)
{
    const struct caller *k = &r->rank[rank];
    struct caller *p = peer < r->n ? &r->rank[peer] : NULL;
    uint64_t up, down, common;

    if (!p || !is_known(p))
        return false;
    for (int way = 0; way < 2; way++) {
        uint32_t own = messages(k, peer, way ? CALL_RECEIVES : CALL_SENDS),
                 others = messages(p, rank, way ? CALL_SENDS : CALL_RECEIVES);

        if (!own && !others)
            continue;
        if (!own || !others)
            return false;
        up = k->up * own;
        down = k->down * others;
        common = divisor_common(up, down);
        up /= common;
        down /= common;
        if (up > ROUND_MAX || down > ROUND_MAX || (p->down && (p->up != up || p->down != down)))
            return false;
        *news = *news || !p->down;
        p->up = up;
        p->down = down;
    }
    return true;
}

/* From the first rank to those that it exchanges with, and so on. */
static bool spread(struct rounds *r)
{
    bool news = true, first = true;

    for (uint32_t i = 0; i < r->n; i++) {
        r->rank[i].up = r->rank[i].down = 0;
        if (r->rank[i].any && !r->rank[i].ended && !is_known(&r->rank[i]))
            return false;
        if (first && is_known(&r->rank[i])) {
            r->rank[i].up = r->rank[i].down = 1;
            first = false;
        }
    }
    while (news) {
        news = false;
        for (uint32_t i = 0; i < r->n; i++)
            for (size_t j = 0; r->rank[i].down && j < r->rank[i].n_kinds; j++)
                if (cycle_count(&r->rank[i].cycle, r->rank[i].kind[j].token) &&
                    !fit(r, i, r->rank[i].kind[j].what.peer, &news))
                    return false;
    }
    return !first;
}

bool rounds_found(struct rounds *r)
{
    uint64_t all = 1;

    if (r->found || r->calls < ROUNDS_CALLS)
        return r->found;
    r->calls = 0;
    if (!spread(r))
        return false;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct caller *k = &r->rank[i];

        if (!k->any || k->ended)
            continue;
        if (!k->down)
            return false;
        all = all / divisor_common(all, k->down) * k->down;
        if (all > ROUND_MAX)
            return false;
    }
    for (uint32_t i = 0; i < r->n; i++)
        if (r->rank[i].down)
            r->rank[i].up = r->rank[i].up * (all / r->rank[i].down);
    r->found = true;
    return true;
}

bool rounds_of(const struct rounds *r, uint32_t rank, struct round *out)
{
    const struct caller *k = rank < r->n ? &r->rank[rank] : NULL;
    const struct kind *last = NULL;

    if (!r->found || !k || !k->down || k->ended)
        return false;
    /* What begins last in a round most likely ends it. */
    for (size_t i = 0; i < k->n_kinds; i++)
        if (cycle_count(&k->cycle, k->kind[i].token) && (!last || k->kind[i].first > last->first))
            last = &k->kind[i];
    if (!last)
        return false;
    *out = last->what;
    out->messages = (uint32_t)k->up * cycle_count(&k->cycle, last->token);
    return out->messages <= ROUND_MAX;
}
