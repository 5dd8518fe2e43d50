#include "analysis/period.h"

#include <string.h>

#include "ring/ring.h"

#define LAST_MASK (2 * PERIOD_MAX - 1)
_Static_assert((PERIOD_MAX & (PERIOD_MAX - 1)) == 0, "the ring of tokens is masked");

/* A cycle is believed when it stood three times in a row, and never on fewer than so many tokens. */
#define TOKENS_MIN 8u

/* A cycle that was repeated so often is replaced only by one that stands for more tokens than an evaluation
 * has. */
#define ESTABLISHED  8u
#define TOKENS_OTHER 64u

/* After a break other cycles are looked for, for so many tokens. */
#define DOUBT (8 * PERIOD_MAX)

void period_reset(struct period *p)
{
    memset(p, 0, sizeof(*p));
}

static uint32_t token_back(const struct period *p, uint32_t back)
{
    return p->last[(p->pushed - 1 - back) & LAST_MASK];
}

/* Where the least rotation of t[0..n) begins.  Two candidates walk the cycle (Shiloach's form of Booth's
 * algorithm): linear, no memory. */
static uint32_t least_rotation(const uint32_t *t, uint32_t n)
{
    uint32_t i = 0, j = 1, k = 0;

    while (i < n && j < n && k < n) {
        uint32_t a = t[(i + k) % n], b = t[(j + k) % n];

        if (a == b) {
            k++;
            continue;
        }
        if (a > b)
            i += k + 1;
        else
            j += k + 1;
        j += i == j;
        k = 0;
    }
    return i < j ? i : j;
}

/* The newest length tokens are a whole repetition: keep them from the step's beginning on. */
static void lock(struct period *p, uint32_t length)
{
    uint32_t recent[PERIOD_MAX], start;

    for (uint32_t i = 0; i < length; i++)
        recent[i] = token_back(p, length - 1 - i);
    start = least_rotation(recent, length);
    for (uint32_t i = 0; i < length; i++)
        p->cycle[i] = recent[(start + i) % length];
    if (p->length != length)
        p->seen = 0;
    p->length = length;
    p->locked = true;
    p->at = (length - start) % length; /* the next token continues recent[0] */
}

/* Over what distance do the newest tokens repeat, and is that a cycle to believe?  The longest run wins, so
 * that a stretch of equal tokens inside a cycle is not taken for the cycle.  A cycle that stood for long is
 * not given up for a shorter foreign stretch. */
static uint32_t best_cycle(const struct period *p)
{
    uint32_t need = p->seen >= ESTABLISHED ? TOKENS_OTHER : TOKENS_MIN, best = 0;

    for (uint32_t d = 1; d <= PERIOD_MAX; d++)
        if (p->run[d] >= 2 * d && p->run[d] + d >= need && (!best || p->run[d] > p->run[best]))
            best = d;
    return best;
}

static void count_runs(struct period *p, uint32_t token)
{
    uint32_t longest = p->pushed - 1 < PERIOD_MAX ? (uint32_t)(p->pushed - 1) : PERIOD_MAX;

    for (uint32_t d = 1; d <= longest; d++)
        p->run[d] = token_back(p, d) == token ? p->run[d] + 1 : 0;
}

/* Unlocked, but a cycle is known: is it there again? */
static void resume(struct period *p, uint32_t token)
{
    if (p->cycle[p->at] == token)
        p->at++;
    else
        p->at = p->cycle[0] == token;
    if (p->at < p->length)
        return;
    p->at = 0;
    p->locked = true;
}

/* The known cycle goes on: does a step begin here?  false in *goes_on: it does not. */
static bool follow(struct period *p, uint32_t token, bool *goes_on)
{
    bool begins = p->at == 0;

    *goes_on = p->cycle[p->at] == token;
    if (*goes_on) {
        p->at = p->at + 1 == p->length ? 0 : p->at + 1;
        p->seen += begins;
        return begins;
    }
    p->locked = false;
    p->at = p->cycle[0] == token;
    if (!p->doubt) /* the runs were not counted while all was well */
        memset(p->run, 0, sizeof(p->run));
    p->doubt = DOUBT;
    return false;
}

bool period_push(struct period *p, uint32_t token)
{
    bool begins = false, goes_on = false;
    uint32_t best;

    p->last[p->pushed++ & LAST_MASK] = token;
    if (p->doubt || !p->locked)
        count_runs(p, token);
    if (p->locked)
        begins = follow(p, token, &goes_on);
    if (goes_on && !p->doubt)
        return begins;
    p->doubt -= p->doubt > 0;
    best = best_cycle(p);
    if (best && best != p->length && (!goes_on || p->run[best] > p->run[p->length])) {
        lock(p, best);
        return false;
    }
    if (best && best == p->length && !p->locked)
        lock(p, best);
    else if (!p->locked && p->length)
        resume(p, token);
    return begins;
}

void period_gap(struct period *p)
{
    p->locked = false;
    p->at = 0;
    p->pushed = 0;
    p->doubt = DOUBT;
    memset(p->run, 0, sizeof(p->run));
}

uint32_t period_token(uint8_t op, uint64_t bytes, int32_t root)
{
    uint64_t h = ring_op_irregular(op) ? 0 : bytes;

    h = (h ^ (uint64_t)op << 56 ^ (uint64_t)(uint32_t)root << 24) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    return (uint32_t)(h * 0xd6e8feb86659fd93u >> 32);
}
