/* Which communicators are slow from the start: made of times by hand. */
#include "view/baseline.h"

#include "ring/ring.h"
#include "tests/random.h"
#include "tests/tap.h"

static struct baseline *r;
static struct baseline_shortfall found[4];

/* So many collectives, varying by a tenth; the first eight, which set up connections, take ten times as long.
 */
static void take(uint64_t comm, double bytes, uint32_t ranks, uint32_t nodes, int n, double time_s)
{
    for (int i = 0; i < n; i++) {
        struct baseline_kind *k = baseline_kind_get(r, comm, RING_OP_ALLREDUCE, bytes);

        if (!k)
            return;
        if (baseline_is_new(k))
            baseline_shape(k, ranks, nodes, 1);
        baseline_take(r, k, bytes, time_s * (i < 8 ? 10 : 1) * (1 + 0.1 * gauss()));
    }
}

static void start(void)
{
    baseline_free(r);
    r = baseline_new();
    random_state = 5;
}

int main(void)
{
    start();
    take(1, 1e6, 8, 4, 31, 0.1);
    is_int((long long)baseline_find(r, 1e9, found, 4), 0, "with 31 collectives nothing is known yet");
    take(1, 1e6, 8, 4, 1, 0.1);
    is_int((long long)baseline_find(r, 0, found, 4), 0,
           "without a rate and without others nothing is expected");
    is_int((long long)baseline_find(r, 1e9, found, 4), 1, "0.1 s for a megabyte are short of 1 GB/s");
    ok(found[0].source == BASELINE_BY_ADAPTER && near(found[0].expected_s, 1.5e-3, 1e-2) &&
           near(found[0].time_s, 0.1, 0.1),
       "four nodes send 1.5 MB each: expected are 1.5 ms: %g", found[0].expected_s);
    is_int((long long)baseline_find(r, 1e8, found, 4), 0, "they are not short by enough of 100 MB/s");

    start();
    for (uint64_t comm = 1; comm <= 6; comm++)
        take(comm, 1e6, 8, 4, 40, comm == 3 ? 8e-3 : 2e-3);
    is_int((long long)baseline_find(r, 0, found, 4), 1, "one of six alike is slow");
    ok(found[0].comm == 3 && found[0].source == BASELINE_BY_PEERS && found[0].peers == 5 &&
           near(found[0].expected_s, 2e-3, 0.1),
       "it is the third, and 2 ms are expected: %g", found[0].expected_s);
    start();
    for (uint64_t comm = 1; comm <= 6; comm++)
        take(comm, 1e6, 8, comm == 3 ? 8 : 1, 40, comm == 3 ? 8e-3 : 2e-3);
    is_int((long long)baseline_find(r, 0, found, 4), 0, "one on other nodes than the others is not compared");
    start();
    for (uint64_t comm = 1; comm <= 6; comm++)
        take(comm, 1e6, 8, 4, 40, comm == 3 ? 5e-3 : 2e-3);
    is_int((long long)baseline_find(r, 0, found, 4), 0, "2.5 times as slow as the others is no clear margin");

    start();
    for (uint64_t comm = 1; comm <= 8; comm++)
        take(comm, 1e6, 8, 4, 40, 1e-3 * (double)(comm * comm));
    is_int((long long)baseline_find(r, 0, found, 4), 0,
           "where times are spread evenly, the slowest is not apart from the others");

    start();
    take(1, 1e5, 8, 4, 40, 1e-3);
    take(1, 1e6, 8, 4, 40, 9e-3);
    is_int((long long)baseline_find(r, 0, found, 4), 0,
           "ten times the size in nine times the time is as expected");
    take(1, 8e6, 8, 4, 40, 0.4);
    is_int((long long)baseline_find(r, 0, found, 4), 1, "eight times the size in 44 times the time is not");
    ok(found[0].source == BASELINE_BY_SIZES && near(found[0].smaller_bytes, 1e6, 0.01) &&
           near(found[0].expected_s, 72e-3, 0.1),
       "a megabyte shows that 72 ms would be expected: %g", found[0].expected_s);
    baseline_free(r);
    return done_testing();
}
