/* Who answers for the waiting in a collective: shares worked out by hand, and sums that agree. */
#include "detect/delay.h"

#include <stdlib.h>

#include "tests/tap.h"

#define MANY 5000u

static const struct {
    const char *what;
    size_t n;
    float late_s[4]; /* by rank */
    float cost_s[4];
} cases[] = {
    { "of three ranks that arrive together, none causes waiting", 3, { 0, 0, 0 }, { 0, 0, 0 } },
    { "one late rank causes all waiting", 4, { 0, 6, 0, 0 }, { 0, 18, 0, 0 } },
    { "two equally late ranks share the waiting", 4, { 5, 0, 5, 0 }, { 5, 0, 5, 0 } },
    /* 0 to 2: one waits, three absent; 2 to 6: two wait, two absent; 6 to 8: three wait for the last. */
    { "waiting in each stretch is shared by the ranks that are still absent",
      4,
      { 8, 2, 0, 6 },
      { 2.f / 3 + 4 + 6, 2.f / 3, 0, 2.f / 3 + 4 } },
    { "the later of two ranks causes all waiting", 2, { 0, 3 }, { 0, 3 } },
};

static void by_hand(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct delay d[4], scratch[4];
        bool right = true;

        for (uint32_t r = 0; r < cases[i].n; r++)
            d[r] = (struct delay){ .late_s = cases[i].late_s[r], .rank = r };
        delay_share(d, scratch, cases[i].n);
        for (size_t at = 0; at < cases[i].n; at++)
            right = right && near(d[at].cost_s, cases[i].cost_s[d[at].rank], 1e-6);
        ok(right, "%s", cases[i].what);
    }
}

/* As many as n ranks, some of them late by the same. */
static void sums(size_t n)
{
    static struct delay d[MANY], scratch[MANY];
    double last = 0, waited = 0, cost = 0, same = 0;
    bool ordered = true, just = true;
    size_t present = 0;

    srand(1);
    for (uint32_t r = 0; r < n; r++) {
        d[r] = (struct delay){ .late_s = (float)(rand() % 1000) * (r % 7 ? 1e-6f : 1e-3f), .rank = r };
        last = fmax(last, d[r].late_s);
    }
    delay_share(d, scratch, n);
    for (size_t i = 0; i < n; i++) {
        waited += last - d[i].late_s;
        cost += d[i].cost_s;
        present += d[i].rank;
        ordered = ordered && (!i || d[i - 1].late_s <= d[i].late_s);
        same = i && d[i - 1].late_s == d[i].late_s ? d[i - 1].cost_s : d[i].cost_s;
        just = just && d[i].cost_s == (float)same;
    }
    ok(ordered && present == n * (n - 1) / 2, "%zu ranks: every pair is ordered once", n);
    ok(near(cost, waited, 1e-5), "the costs of all ranks sum to the waiting\n%.6g and %.6g", cost, waited);
    ok(just, "ranks that are equally late have equal costs");
}

int main(void)
{
    by_hand();
    sums(8);
    sums(49);
    sums(MANY);
    delay_share(NULL, NULL, 0);
    return done_testing();
}
