/* The period of a sequence of collectives, and where its step begins. */
#include "sampling/period.h"

#include "tests/tap.h"

static struct period p;

static bool push(uint16_t token)
{
    uint32_t place;

    return period_push(&p, token, NAN, &place) && place == 0;
}

static void reset(void)
{
    period_free(&p);
}

/* Feed a string, a letter a token; returns how many steps began, *first is where the first one did (-1:
 * none). */
static int feed(const char *s, int *first)
{
    int begun = 0;

    *first = -1;
    for (int i = 0; s[i]; i++)
        if (push((uint16_t)s[i])) {
            if (!begun++)
                *first = i;
        }
    return begun;
}

static const struct {
    const char *name, *sequence;
    unsigned length;
    int begun, first; /* steps begun, and where the first; -1: not looked at */
} cases[] = {
    { "three buckets and a loss", "zxyazxyazxyazxyazxyazxya", 4, 2, 19 },
    { "the same, seen from its middle, begins at the same collective", "yazxyazxyazxyazxyazxyazxya", 4, 3,
      17 },
    { "one collective a step", "aaaaaaaaaaaaaaaaaaaa", 1, 4, 16 },
    { "two equal buckets and another", "aabaabaabaabaabaabaab", 3, 1, 18 },
    { "warm-up first", "qwertyuabcabcabcabcabcabcabc", 3, 1, 25 },
    { "no period", "abcdefghijklmnopqrstuvwxyz", 0, 0, -1 },
    { "twice is chance, not a period", "abcdabcdefghijkl", 0, 0, -1 },
    { "evaluation between steps: known again where it begins", "abcabcabcabcabcabcEEEEabcabc", 3, 2, 22 },
    { "another program phase replaces the cycle", "abababababababababxyzxyzxyzxyzxyzxyz", 3, -1, -1 },
    { "nine of a kind and a barrier: not a step of one",
      "aaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaab",
      10, -1, -1 },
    { "a long evaluation does not replace a cycle that stood for long",
      "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEabcabcabc", 3, -1,
      -1 },
};

/* Steps of `buckets` equal collectives: nothing but the work before the first one tells where a step begins.
 */
static void equal_buckets(uint32_t buckets, double first_share, double noise, uint32_t evaluate_every)
{
    static uint64_t random = 1;
    uint32_t right = 0, begun = 0, skip = buckets * 5 / 3;

    reset();
    for (uint32_t i = 0, in_step = skip % buckets, step = 0; i < 1200; i++) {
        double share = in_step ? (1 - first_share) / (buckets - 1) : first_share;
        uint32_t place = 0;

        random = random * 6364136223846793005u + 1442695040888963407u;
        share *= 1 + noise * ((double)(random >> 11) / (double)(1ull << 53) - 0.5);
        if (period_push(&p, 'a', (float)share, &place) && place == 0) {
            begun++;
            right += in_step == 0;
        }
        in_step = (in_step + 1) % buckets;
        step += in_step == 0;
        if (evaluate_every && in_step == 0 && step % evaluate_every == 0)
            push('E');
    }
    is_int(p.length, buckets, "equal buckets: the work before the first of them makes the step");
    ok(right >= begun - 2 && begun > 1000 / buckets, "  and names its beginning\n%u of %u", right, begun);
}

int main(void)
{
    static uint32_t noise = 1;
    int first;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        reset();
        int begun = feed(cases[i].sequence, &first);

        ok(p.length == cases[i].length &&
               (cases[i].begun < 0 || (begun == cases[i].begun && first == cases[i].first)),
           "%s: period %u, %d begun, first at %d", cases[i].name, p.length, begun, first);
    }

    /* A restarted reader agrees with one that saw everything, wherever it starts. */
    int agree = 0;
    for (int start = 0; start < 7; start++) {
        static const char cycle[] = "pqrsaab";
        int at = -1;

        reset();
        for (int i = start; i < 70; i++)
            if (push((uint16_t)cycle[i % 7]) && at < 0)
                at = i % 7;
        agree += at == 4;
    }
    is_int(agree, 7, "every reader names the same collective as the step's first");

    reset();
    for (int i = 0; i < 20000; i++) {
        noise = noise * 1664525u + 1013904223u;
        push((uint16_t)(noise >> 16));
    }
    is_int(p.length, 0, "random tokens have no period");

    reset();
    for (uint32_t i = 0; i < 8 * PERIOD_MAX; i++)
        push((uint16_t)(i % PERIOD_MAX));
    is_int(p.length, PERIOD_MAX, "the longest period is found");

    reset();
    feed("abcabcabcabcabcabcabc", &first);
    period_gap(&p, UINT32_MAX);
    ok(!p.locked && p.length == 3, "a hole unlocks and keeps the cycle");
    is_int(feed("bcabcabc", &first), 2, "after a hole the first collective of the cycle is known again");
    ok(period_gap(&p, 2), "two lost records are counted over");
    ok(feed("c", &first) == 0 && p.locked && feed("abc", &first) == 1,
       "after lost records the cycle continues");

    equal_buckets(2, 0.7, 0.1, 0);
    equal_buckets(4, 0.55, 0.3, 0);
    equal_buckets(4, 0.55, 0.3, 17);

    /* One collective a step; every third step is a little slower, now and then some of another kind. */
    reset();
    for (uint32_t i = 0; i < 2000; i++) {
        uint32_t place;

        period_push(&p, i % 37 < 35 ? 'a' : 'E', i % 3 ? 1.0f : 1.4f, &place);
    }
    is_int(p.length, 1, "steps that differ a little, and evaluations, make no longer step");
    return done_testing();
}
