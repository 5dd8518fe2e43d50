/* The period of a sequence of collectives, and where its step begins. */
#include "analysis/period.h"

#include "tests/tap.h"

static struct period p;

/* Feed a string, a letter a token; returns how many steps began, *first is where the first one did (-1:
 * none). */
static int feed(const char *s, int *first)
{
    int begun = 0;

    *first = -1;
    for (int i = 0; s[i]; i++)
        if (period_push(&p, (uint32_t)s[i])) {
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
    { "three buckets and a loss", "zxyazxyazxyazxyazxya", 4, 2, 15 },
    { "the same, seen from its middle, begins at the same collective", "yazxyazxyazxyazxyazxya", 4, 3, 13 },
    { "one collective a step", "aaaaaaaaaaaa", 1, 4, 8 },
    { "two equal buckets and another", "aabaabaabaabaab", 3, 2, 9 },
    { "warm-up first", "qwertyuabcabcabcabcabc", 3, 2, 16 },
    { "no period", "abcdefghijklmnopqrstuvwxyz", 0, 0, -1 },
    { "twice is chance, not a period", "abcdabcdefgh", 0, 0, -1 },
    { "evaluation between steps: known again after one step", "abcabcabcabcEEEEabcabcabc", 3, 3, 9 },
    { "another program phase replaces the cycle", "ababababababxyzxyzxyzxyzxyz", 3, 4, 8 },
    { "nine of a kind and a barrier: not a step of one",
      "aaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaabaaaaaaaaab",
      10, -1, -1 },
    { "a long evaluation does not replace a cycle that stood for long",
      "abcabcabcabcabcabcabcabcabcabcabcabcabcEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEabcabcabc", 3, -1, -1 },
};

int main(void)
{
    static uint32_t noise = 1;
    int first;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        period_reset(&p);
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

        period_reset(&p);
        for (int i = start; i < 70; i++)
            if (period_push(&p, (uint32_t)cycle[i % 7]) && at < 0)
                at = i % 7;
        agree += at == 4;
    }
    is_int(agree, 7, "every reader names the same collective as the step's first");

    period_reset(&p);
    for (int i = 0; i < 20000; i++) {
        noise = noise * 1664525u + 1013904223u;
        period_push(&p, noise >> 16);
    }
    is_int(p.length, 0, "random tokens have no period");

    period_reset(&p);
    for (uint32_t i = 0; i < 4 * PERIOD_MAX; i++)
        period_push(&p, i % PERIOD_MAX);
    is_int(p.length, PERIOD_MAX, "the longest period is found");

    period_reset(&p);
    feed("abcabcabcabc", &first);
    period_gap(&p);
    ok(!p.locked && p.length == 3, "a hole unlocks and keeps the cycle");
    is_int(feed("bcabcabc", &first), 1, "and it is known again after one step");
    return done_testing();
}
