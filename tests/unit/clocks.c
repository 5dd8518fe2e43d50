/* What pairs of clocks say of each node's, and what the doctor says of that. */
#include "doctor/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "wire/json.h"

#define N 5

static const char *const name[N] = { "node1", "node2", "node3", "node4", "node5" };

/* All pairs of clocks that are so far ahead of true time; each round trip's answer came at another part of
 * it. */
static struct clocks *measured(const double *true_s, double rtt_s)
{
    struct clocks *c = clocks_new(N);

    for (uint32_t a = 0; a < N; a++)
        for (uint32_t b = a + 1; b < N; b++)
            clocks_add(c, a, b, true_s[b] - true_s[a] + rtt_s * ((a + 2 * b) % 5 - 2.0) / 4, rtt_s);
    return c;
}

static const struct {
    const char *what;
    double true_s[N], rtt_s, limit_s;
    int faults;
    const char *node, *has; /* of the only fault; in its text, or that of the line that is ok */
} cases[] = {
    { "clocks that agree", { 0, 1e-3, 2e-3, 3e-3, 4e-3 }, 1e-4, 1, 0, NULL, "5 clocks are within 2.6 ms" },
    { "one that is 3 s ahead",
      { 0, 1e-3, 3, 0, 1e-3 },
      1e-4,
      1,
      1,
      "node3",
      "node3: its clock is 3.0 s ahead of the median" },
    { "one that is an hour behind",
      { 0, -3600, 0, 0, 0 },
      1e-4,
      1,
      1,
      "node2",
      "node2: its clock is 1h00m behind the median" },
    { "one that may be beyond the limit", { 0, 0, 1.2, 0, 0 }, 2, 1, 0, NULL, NULL },
    { "a limit of a millisecond", { 0, 0, 0, 0, -2e-3 }, 1e-4, 1e-3, 1, "node5", "2.0 ms behind" },
};

static void check_case(size_t i)
{
    struct clocks *c = measured(cases[i].true_s, cases[i].rtt_s);
    struct findings f = { 0 };
    json_t *answer, *one;
    double true_s[N];
    bool within = true, has = !cases[i].has;

    clocks_judge(c, name, cases[i].limit_s, &f);
    is_int((long long)findings_count(&f, FINDING_FAULT), cases[i].faults, "%s: faults", cases[i].what);
    ok(!cases[i].node || findings_has(&f, "clock", cases[i].node), "%s: the fault names %s", cases[i].what,
       cases[i].node ? cases[i].node : "nobody");
    for (size_t k = 0; k < f.n; k++)
        has |= cases[i].has && strstr(f.finding[k].text, cases[i].has);
    if (!ok(has, "%s: the text has '%s'", cases[i].what, cases[i].has ? cases[i].has : ""))
        findings_print(&f, stdout);
    for (uint32_t k = 0; k < N; k++) {
        struct clock_bound b = clocks_of(c, k);
        double other_s[N - 1];
        size_t n = 0;

        for (size_t o = 0; o < N; o++)
            if (o != k)
                other_s[n++] = cases[i].true_s[o];
        for (size_t x = 0; x < n; x++) /* the median of four */
            for (size_t y = x + 1; y < n; y++)
                if (other_s[y] < other_s[x]) {
                    double swap = other_s[x];

                    other_s[x] = other_s[y];
                    other_s[y] = swap;
                }
        true_s[k] = cases[i].true_s[k] - (other_s[1] + other_s[2]) / 2;
        within &= b.low_s <= true_s[k] && true_s[k] <= b.high_s && b.high_s - b.low_s < 1.01 * cases[i].rtt_s;
    }
    ok(within, "%s: each clock is within its bounds, which are no wider than a round trip", cases[i].what);
    answer = findings_json(&f);
    one = json_array_get(json_get_array(answer, "clocks"), 2);
    ok(!strcmp(json_get_word(one, "node"), "node3") &&
           fabs(json_get_number(one, "ahead_s") - true_s[2]) <= json_get_number(one, "doubt_s") + 1e-12,
       "%s: the answer has each node's figures", cases[i].what);
    json_decref(answer);
    findings_free(&f);
    clocks_free(c);
}

static void check_bounds(void)
{
    struct clocks *c = clocks_new(3);

    ok(isnan(clocks_of(c, 0).low_s), "nothing is known of a clock that was not compared");
    clocks_add(c, 0, 1, 5, 0.1);
    ok(isnan(clocks_of(c, 1).low_s), "of two clocks nobody knows which one is wrong");
    clocks_add(c, 2, 1, 5, 0.1);
    is_near(clocks_of(c, 1).low_s, 4.95, 1e-9, "the lower bound of two partners");
    clocks_add(c, 0, 1, 7, 0.2);
    clocks_add(c, 0, 1, NAN, 0.01);
    clocks_add(c, 0, 1, 7, NAN);
    is_near(clocks_of(c, 1).high_s, 5.05, 1e-9, "a wider bound, and one that is not known, change nothing");
    clocks_add(c, 0, 1, 5.01, 0.02);
    clocks_add(c, 1, 2, -5.01, 0.02);
    is_near(clocks_of(c, 1).high_s, 5.02, 1e-9, "a narrower bound counts, whoever called");
    clocks_free(c);
}

int main(void)
{
    check_bounds();
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        check_case(i);
    return done_testing();
}
