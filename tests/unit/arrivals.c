/* Whom the others waited for in a run of few steps, worked out by hand. */
#include "view/arrivals.h"

#include <math.h>

#include "common/xalloc.h"
#include "tests/tap.h"

/* A collective of a communicator of so many ranks, of which three were held so long (ms). */
static void take_of(struct arrivals *a, uint32_t size, uint64_t comm, uint32_t seq, uint64_t bytes,
                    double a_ms, double b_ms, double c_ms)
{
    static const uint32_t rank[] = { 0, 1, 2, 3 };
    const float stay_s[] = { (float)(a_ms / 1e3), (float)(b_ms / 1e3), (float)(c_ms / 1e3), NAN };
    struct joined j = { .comm = comm,
                        .seq = seq,
                        .bytes = bytes,
                        .n = 1,
                        .present = 3,
                        .complete = true,
                        .rank = rank,
                        .stay_s = stay_s,
                        .slots = size };

    for (uint32_t i = 1; i < 3; i++)
        j.last = stay_s[i] < stay_s[j.last] ? i : j.last;
    j.stay_min_s = stay_s[j.last];
    arrivals_take(a, &j);
}

static void take(struct arrivals *a, uint64_t comm, uint32_t seq, uint64_t bytes, double a_ms, double b_ms,
                 double c_ms)
{
    take_of(a, 3, comm, seq, bytes, a_ms, b_ms, c_ms);
}

int main(void)
{
    struct arrivals a = { 0 };
    struct arrivals_latest l;

    ok(!arrivals_latest(&a, &l), "without a collective nobody is the latest");
    /* Rank 2 comes last by 3 and by 1 ms beyond the next to last one, rank 0 by 2 ms. */
    take(&a, 7, 0, 1, 10, 4, 1);
    take(&a, 7, 1, 2000, 1, 3, 3);
    take(&a, 7, 2, 4000, 6, 2, 1);
    ok(arrivals_latest(&a, &l) && l.rank == 2 && l.last == 2 && l.of == 3,
       "the latest is who the others waited for longest");
    is_near(l.waited_s, 0.004, 1e-4, "what two late ranks share counts for neither");
    ok(l.times == 0 && isnan(l.each_s) && isnan(l.low_s), "where nothing comes again no mean is known");
    arrivals_forget(&a);

    /* Two collectives four times, in which rank 1 is waited for by 3, 4, 3 and 4 ms: the mean 3.5, its
     * standard error sqrt(1 / 3) / 2 = 0.2887, and Student's 95 % point at 3 degrees of freedom 2.353. */
    for (uint32_t i = 0; i < 4; i++) {
        take(&a, 7, 11 + 2 * i, 8, 5, 5, 5);
        take(&a, 7, 10 + 2 * i, 1000 + i, 9, i % 2 ? 5 : 6, 9);
        take(&a, 8, i, 8, 2, 2, 1);
    }
    ok(arrivals_latest(&a, &l) && l.rank == 1 && l.period == 2 && l.times == 4 && l.of == 8,
       "what comes again is found in each communicator, and the one with the longest wait is told of");
    is_near(l.each_s, 0.0035, 1e-4, "the mean of a repetition");
    is_near(l.low_s, 0.0035 - 2.353363 * 0.288675e-3, 2e-3, "the lower limit is Student's");
    is_near(l.high_s, 0.0035 + 2.353363 * 0.288675e-3, 2e-3, "the upper limit is Student's");

    arrivals_forget(&a);
    for (uint32_t i = 0; i < ARRIVALS_MAX; i++)
        take(&a, 7, 100 + i, 8, 2, 1, 2);
    ok(arrivals_latest(&a, &l) && l.rank == 1 && l.period == 1 && l.times == ARRIVALS_MAX,
       "the same collective may come as often as there is room");
    is_near(l.each_s, 0.001, 1e-4, "its mean is that of each time");
    take(&a, 7, 100 + ARRIVALS_MAX, 8, 2, 1, 2);
    ok(!arrivals_latest(&a, &l), "a run of many collectives is not one of few steps");
    arrivals_forget(&a);
    take(&a, 7, 0, 8, 9, 1, 9);
    ok(arrivals_latest(&a, &l) && l.of == 1, "another run begins with none");
    take_of(&a, 4, 9, 0, 8, 3, 2, 1);
    ok(arrivals_latest(&a, &l) && l.rank == 2,
       "a larger communicator's collectives count, not a smaller one's");
    is_near(l.waited_s, 0.001, 1e-4, "though the others waited less in it");
    arrivals_forget(&a);
    return done_testing();
}
