#include "model/trade.h"

#include "model/bucket.h"
#include "tests/random.h"
#include "tests/tap.h"

static void local_steps(void)
{
    ok(near(trade_local_best(0.05, 0.1, 0.08), 5, 1e-12), "best real number of local steps");
    ok(trade_local_best_whole(0.05, 0.1, 0.08) == 5, "best whole number of local steps");
    ok(trade_local_best_whole(1, 0.1, 1) == 1, "at least one local step");
    ok(isinf(trade_local_best(1, 1, 0)) && isinf(trade_local_best_whole(1, 1, 0)),
       "without a penalty the best number of local steps is infinite");
    for (double comm = 0.01; comm < 100; comm *= 3) {
        double k = trade_local_best_whole(1, comm, 0.05), best = trade_local_s(1, comm, 0.05, k);
        bool smallest = true;

        for (double other = 1; other < 200; other++)
            smallest &= best <= trade_local_s(1, comm, 0.05, other);
        ok(smallest, "no other number of local steps is better, communication %g\n%g", comm, k);
    }
}

static void compression(void)
{
    ok(near(trade_compress_break_even(0.1, 2.5), 2, 1e-12),
       "communication over work at which compression breaks even");
    ok(isinf(trade_compress_break_even(0.5, 2)), "compression never pays if ratio times iterations is 1");
    ok(trade_compress_break_even(0.5, 1) == 0, "compression always pays without additional iterations");
    ok(near(trade_compress_time_ratio(1, 2, 0.1, 2.5), 1, 1e-12), "the time ratio at break-even is 1");
    ok(trade_compress_time_ratio(1, 3, 0.1, 2.5) < 1 && trade_compress_time_ratio(1, 1, 0.1, 2.5) > 1,
       "compression saves time above break-even");
}

/* Buckets of one size against the recurrence they stand for. */
static void buckets(void)
{
    random_state = 3;
    for (int i = 0; i < 30; i++) {
        struct bucket b = { 1e8 * (0.1 + uniform()), 0.2 * uniform(), 1e-3 * uniform(), 2e-9 * uniform() };
        double size = b.bytes * (0.01 + 0.99 * uniform()), finish_s = 0, done = 0;
        int n = 0;

        while (done < b.bytes * (1 - 1e-12)) {
            double one = fmin(size, b.bytes - done);

            done += one;
            finish_s = fmax(b.backward_s * done / b.bytes, finish_s) + b.fixed_s + b.s_per_byte * one;
            n++;
        }
        ok(near(bucket_even_exposed_s(&b, size), finish_s - b.backward_s, 1e-9),
           "exposed communication of %d even buckets equals that of the recurrence", n);
    }
    for (int i = 0; i < 10; i++) {
        struct bucket b = { 1e8, 0.2 * uniform(), 1e-3 * uniform(), 2e-9 * uniform() };
        double best = bucket_best_count(&b), exposed = bucket_even_exposed_s(&b, b.bytes / best);
        bool smallest = true;

        for (double n = 1; n < 3000; n++)
            smallest &= exposed <= bucket_even_exposed_s(&b, b.bytes / n) * (1 + 1e-12);
        ok(smallest, "no other number of buckets is better\nthan %g", best);
    }
    struct bucket b = { 1e8, 0, 1e-3, 1e-9 };

    ok(bucket_best_count(&b) == 1, "one bucket is best if nothing overlaps");
    b.backward_s = 0.2;
    ok(bucket_even_exposed_s(&b, 1e8) > bucket_even_exposed_s(&b, 1e7) &&
           bucket_even_exposed_s(&b, 1e4) > bucket_even_exposed_s(&b, 1e7),
       "one bucket and ten thousand buckets are worse than the best number");
    b.bytes = 0;
    ok(bucket_even_exposed_s(&b, 1e6) == 0 && bucket_best_count(&b) == 1,
       "no gradients: one bucket, nothing exposed");
}

int main(void)
{
    local_steps();
    compression();
    buckets();
    return done_testing();
}
