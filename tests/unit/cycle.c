/* What a rank's calls repeat: tokens by hand. */
#include "calls/cycle.h"

#include "tests/tap.h"

/* Tokens of a cycle, '*' behind a marked one; how often it is repeated; the lengths wanted. */
static const struct {
    const char *what, *tokens;
    unsigned times;
    uint32_t length, inner;
} cases[] = {
    { "two different calls repeat after 2", "ab", 20, 2, 2 },
    { "a long cycle is found when it came twice", "abcabdabcabeabcf", 3, 16, 16 },
    { "a stretch of equal calls inside a cycle is not the cycle", "aaaaaaaabbbbc*", 6, 13, 13 },
    { "what all repeats but for the collectives is the inner cycle", "sstrsstrsstrsstrsstrc*", 4, 21, 4 },
    { "an inner cycle that comes three times is none", "sstrsstrsstrc*", 6, 13, 13 },
    { "calls that came but once are no cycle", "abcdefghijklmnopq", 1, 0, 0 },
};

static struct cycle push(const char *tokens, unsigned times)
{
    struct cycle c = { 0 };

    for (unsigned i = 0; i < times; i++)
        for (const char *t = tokens; *t; t++)
            if (*t != '*')
                cycle_push(&c, (uint32_t)*t, t[1] == '*');
    return c;
}

int main(void)
{
    struct cycle a, b;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cycle c = push(cases[i].tokens, cases[i].times);

        ok(c.length == cases[i].length && c.inner == cases[i].inner, "%s: length %u, inner %u", cases[i].what,
           c.length, c.inner);
        cycle_free(&c);
    }
    a = push("sstrsstrsstrsstrc*", 6);
    b = push("trsstrsstrsstrssc*", 6);
    ok(a.inner_name && a.inner_name == b.inner_name,
       "the same inner cycle has the same name wherever it begins");
    is_int(cycle_count(&a, 's'), 8, "a call's number in a cycle is counted");
    for (unsigned i = 0; i < 20; i++)
        cycle_push(&a, 'x', false);
    ok(cycle_count(&a, 'c') == 1 && !cycle_count(&a, 'x'), "also when other calls came since it was found");
    for (unsigned i = 0; i < 8 * CYCLE_MAX; i++)
        cycle_push(&a, 'x', false);
    ok(cycle_count(&a, 'c') == 1 && cycle_count(&a, 's') == 8 && !cycle_count(&a, 'x'),
       "also when so many came that older ones are forgotten");
    cycle_free(&a);
    for (unsigned i = 0; i < 3 * CYCLE_MAX; i++)
        cycle_push(&a, 1000 + i, false);
    for (unsigned i = 0; i < 12000; i++)
        cycle_push(&a, "abcdefghijkl"[i % 12], i % 12 == 11);
    ok(a.length == 12, "a cycle is found late");
    for (unsigned i = 0; i < CYCLE_MAX; i++)
        cycle_push(&a, 'x', false);
    ok(cycle_count(&a, 'c') == 1 && !cycle_count(&a, 'x'), "and stays where it is among the newer ones");
    cycle_free(&a);
    cycle_free(&b);
    return done_testing();
}
