#include "sampling/period.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "ring/ring.h"

#define CAP_FIRST 32u /* longest cycle looked for at first */

/* A cycle is believed when it stood three times in a row, and never on fewer tokens than this: enough to
 * see four steps of four buckets that look alike. */
#define TOKENS_MIN 16u

/* A cycle that was repeated so often is replaced only by one that stands for more tokens than an evaluation
 * has. */
#define ESTABLISHED_PERIODS 8u
#define TOKENS_OTHER        64u

/* The longest work in a cycle, over any other of it: what names the beginning, and what makes one step of
 * several equal cycles. */
#define BEGINS_RATIO  1.3f
#define MERGES_RATIO  1.8f
#define MERGE_MAX     16u /* cycles */
#define REPEATS_MIN   4u
#define REPEATS_OTHER 12u /* of another cycle than an established one */
#define REPEATS_MAX   16u
#define REPEATS_SHARE 0.8  /* of the repetitions must show it */
#define GUESTS_SHARE  0.75 /* of a longer cycle, in repetitions of the known one */
#define LOOK_EVERY    8u   /* cycles between two looks at the work */

/* Number of tokens after a break in which other cycles are looked for. */
#define DOUBT(p) (8 * (p)->cap)

static uint32_t ring_size(const struct period *p)
{
    return 2 * p->cap; /* a power of two */
}

static uint32_t slot(const struct period *p, uint32_t back)
{
    return (uint32_t)(p->pushed - 1 - back) & (ring_size(p) - 1);
}

/* Look for cycles up to cap; the search starts over. */
static void set_cap(struct period *p, uint32_t cap)
{
    p->cap = cap;
    p->cycle = xrealloc(p->cycle, cap, sizeof(*p->cycle));
    p->run = xrealloc(p->run, cap + 1, sizeof(*p->run));
    p->last = xrealloc(p->last, 2 * cap, sizeof(*p->last));
    p->work = xrealloc(p->work, 2 * cap, sizeof(*p->work));
    memset(p->run, 0, (cap + 1) * sizeof(*p->run));
    p->pushed = p->whole = 0;
}

void period_free(struct period *p)
{
    free(p->cycle);
    free(p->run);
    free(p->last);
    free(p->work);
    memset(p, 0, sizeof(*p));
}

/* ---- by the tokens ---- */

/* Where the least rotation of t[0..n) begins.  Two candidates walk the cycle (Shiloach's form of Booth's
 * algorithm): linear, no memory. */
static uint32_t least_rotation(const uint16_t *t, uint32_t n)
{
    uint32_t i = 0, j = 1, k = 0;

    while (i < n && j < n && k < n) {
        uint16_t a = t[(i + k) % n], b = t[(j + k) % n];

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

/* The newest length tokens are a cycle; it begins with the one that is first_back before the newest. */
static void lock_from(struct period *p, uint32_t length, uint32_t first_back)
{
    for (uint32_t i = 0; i < length; i++)
        p->cycle[i] = p->last[slot(p, (first_back + length - i) % length)];
    if (p->length != length)
        p->seen = 0;
    p->length = length;
    p->locked = true;
    p->at = (first_back + 1) % length;
}

static void lock_by_tokens(struct period *p, uint32_t length)
{
    uint16_t recent[PERIOD_MAX];
    uint32_t start;

    for (uint32_t i = 0; i < length; i++)
        recent[i] = p->last[slot(p, length - 1 - i)];
    start = least_rotation(recent, length);
    lock_from(p, length, length - 1 - start);
}

/* Over what distance do the newest tokens repeat, and is that a cycle to believe?  The longest run wins, so
 * that a stretch of equal tokens inside a cycle is not taken for the cycle.  A cycle that stood for long is
 * not given up for a shorter foreign stretch. */
static uint32_t best_cycle(const struct period *p)
{
    uint32_t need = p->seen >= ESTABLISHED_PERIODS ? TOKENS_OTHER : TOKENS_MIN, best = 0;

    for (uint32_t d = 1; d <= p->cap; d++)
        if (p->run[d] >= 2 * d && p->run[d] + d >= need && (!best || p->run[d] > p->run[best]))
            best = d;
    return best;
}

static void count_runs(struct period *p, uint16_t token)
{
    uint32_t longest = p->pushed - 1 < p->cap ? (uint32_t)(p->pushed - 1) : p->cap;

    for (uint32_t d = 1; d <= longest; d++)
        p->run[d] = (uint16_t)(p->last[slot(p, d)] != token ? 0
                               : p->run[d] < UINT16_MAX     ? p->run[d] + 1
                                                            : UINT16_MAX);
}

/* ---- by the work ---- */

/* Median work over the repetitions of the cycle of n tokens, at the place that is back before the newest. */
static float usual_work(const struct period *p, uint32_t n, uint32_t repeats, uint32_t back)
{
    float w[REPEATS_MAX];
    uint32_t m = 0;

    for (uint32_t j = 0; j < repeats; j++) {
        float x = p->work[slot(p, back + j * n)];
        uint32_t at = m;

        if (isnan(x))
            continue;
        for (; at && w[at - 1] > x; at--)
            w[at] = w[at - 1];
        w[at] = x;
        m++;
    }
    return m ? w[m / 2] : NAN;
}

/* The longest of the n - 1 works after the one that is back before the newest. */
static float longest_after(const struct period *p, uint32_t n, uint32_t back)
{
    float longest = NAN;

    for (uint32_t i = 1; i < n; i++)
        longest = fmaxf(longest, p->work[slot(p, back - i)]);
    return longest;
}

/* Does one place of a cycle of n tokens have more work before it than any other, by ratio and nearly each
 * time? Its distance from the newest token in *back. */
static bool stands_out(const struct period *p, uint32_t n, float ratio, uint32_t *back)
{
    uint32_t repeats = p->whole / n, known = 0, agree = 0;
    float most = -1;

    repeats = repeats < REPEATS_MAX ? repeats : REPEATS_MAX;
    if (repeats < (p->seen < ESTABLISHED_PERIODS ? REPEATS_MIN : REPEATS_OTHER))
        return false;
    for (uint32_t b = 0; b < n; b++) {
        float w = usual_work(p, n, repeats, b);

        if (w > most) {
            most = w;
            *back = b;
        }
    }
    if (!(most > 0))
        return false;
    for (uint32_t j = 0; j < repeats; j++) {
        uint32_t b = *back + j * n;
        float w = p->work[slot(p, b)], others = b >= n - 1 ? longest_after(p, n, b) : NAN;

        if (isnan(w) || isnan(others))
            continue;
        known++;
        agree += w >= ratio * others;
    }
    return known >= REPEATS_MIN - 1 && agree >= REPEATS_SHARE * known;
}

/* The smallest period of the cycle's tokens alone. */
static uint32_t token_period(const struct period *p)
{
    for (uint32_t d = 1; d < p->length; d++) {
        uint32_t i = d;

        if (p->length % d)
            continue;
        while (i < p->length && p->cycle[i] == p->cycle[i - d])
            i++;
        if (i == p->length)
            return d;
    }
    return p->length;
}

/* The step's length and beginning as the work before the collectives shows them; nothing changes where it
 * does not. */
static void look_at_work(struct period *p)
{
    uint32_t base = token_period(p), back;

    p->look = LOOK_EVERY * p->length;
    for (uint32_t m = 1; m <= MERGE_MAX && m * base <= p->cap; m++) {
        if (m * base < 2 || !stands_out(p, m * base, m == 1 ? BEGINS_RATIO : MERGES_RATIO, &back))
            continue;
        if (m * base != p->length || (back + 1) % p->length != p->at)
            lock_from(p, m * base, back);
        p->look = LOOK_EVERY * p->length;
        return;
    }
}

/* ---- the sequence ---- */

static void remember_token(struct period *p, uint16_t token, float work)
{
    p->pushed++;
    p->last[slot(p, 0)] = token;
    p->work[slot(p, 0)] = work;
    p->whole += p->whole < ring_size(p);
}

/* The known cycle goes on, or is taken up where it begins. */
static bool follow_cycle(struct period *p, uint16_t token, uint32_t *place)
{
    if (p->locked && p->cycle[p->at] != token) {
        p->locked = false;
        if (!p->doubt) /* the runs were not counted while all was well */
            memset(p->run, 0, (p->cap + 1) * sizeof(*p->run));
        p->doubt = DOUBT(p);
    }
    if (!p->locked && p->length && p->cycle[0] == token) {
        p->locked = true;
        p->at = 0;
        p->whole = 1;
    }
    if (!p->locked)
        return false;
    *place = p->at;
    p->at = p->at + 1 == p->length ? 0 : p->at + 1;
    p->seen += *place == 0;
    return true;
}

/* Most of that cycle is the known one over and over, with something foreign now and then (an evaluation): a
 * step of its own only when the work gathers at one place of it, as before the first of many buckets. */
static bool is_known_with_guests(const struct period *p, uint32_t length)
{
    uint32_t in = 0, at = 0, back;

    if (!p->length || p->seen < ESTABLISHED_PERIODS || length <= 2 * p->length)
        return false;
    for (uint32_t b = length; b-- > 0;) {
        at = p->cycle[at] == p->last[slot(p, b)] ? at + 1 : p->cycle[0] == p->last[slot(p, b)];
        if (at == p->length) {
            in += p->length;
            at = 0;
        }
    }
    return in >= GUESTS_SHARE * length && !stands_out(p, length, MERGES_RATIO, &back);
}

/* Another cycle than the known one: believed when it repeats better. */
static void search_cycle(struct period *p, bool in_cycle)
{
    uint32_t best = best_cycle(p), whole = p->whole;

    p->doubt -= p->doubt > 0;
    if (!best || best == p->length || (p->length && p->length % best == 0 && in_cycle))
        return;
    if (in_cycle && p->run[best] <= p->run[p->length])
        return;
    p->whole = p->run[best] + best < ring_size(p) ? p->run[best] + best : ring_size(p);
    if (is_known_with_guests(p, best)) {
        p->whole = whole;
        return;
    }
    lock_by_tokens(p, best);
    p->look = 0;
}

bool period_push(struct period *p, uint16_t token, float work, uint32_t *place)
{
    bool in_cycle;

    if (!p->cap)
        set_cap(p, CAP_FIRST);
    if (!p->length && p->cap < PERIOD_MAX && p->pushed >= 4 * p->cap)
        set_cap(p, 2 * p->cap);
    remember_token(p, token, work);
    if (p->doubt || !p->locked)
        count_runs(p, token);
    in_cycle = follow_cycle(p, token, place);
    if (!in_cycle || p->doubt) {
        uint32_t length = p->length;

        search_cycle(p, in_cycle);
        /* Where a cycle was only just found, only the next step is reported as part of it. */
        in_cycle = in_cycle && p->length == length;
    }
    if (p->locked && p->look-- == 0) {
        uint32_t length = p->length, at = p->at;

        look_at_work(p);
        in_cycle = in_cycle && p->length == length && p->at == at;
    }
    return in_cycle;
}

bool period_gap(struct period *p, uint32_t lost)
{
    if (p->locked && lost <= 2 * p->length && lost <= p->cap) {
        for (uint32_t i = 0; i < lost; i++) {
            remember_token(p, p->cycle[p->at], NAN);
            p->at = p->at + 1 == p->length ? 0 : p->at + 1;
        }
        return true;
    }
    p->locked = false;
    p->at = 0;
    p->pushed = p->whole = 0;
    if (p->cap) {
        p->doubt = DOUBT(p);
        memset(p->run, 0, (p->cap + 1) * sizeof(*p->run));
    }
    return false;
}

uint16_t period_token(uint8_t op, uint64_t bytes, int32_t root)
{
    uint64_t h = ring_op_irregular(op) ? 0 : bytes;

    h = (h ^ (uint64_t)op << 56 ^ (uint64_t)(uint32_t)root << 24) * 0x9e3779b97f4a7c15u;
    h ^= h >> 32;
    return (uint16_t)(h * 0xd6e8feb86659fd93u >> 48);
}
