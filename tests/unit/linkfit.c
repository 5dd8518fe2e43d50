/* Costs of a network found from transfers of known cost. */
#include "model/linkfit.h"

#include "tests/random.h"
#include "tests/tap.h"

#define RUNS 200

/* From a size on, another protocol. */
struct wire {
    double a_s, b_s_per_byte, from_bytes, a2_s, b2_s_per_byte;
};

static double time_of(const struct wire *w, double bytes)
{
    return w->from_bytes > 0 && bytes >= w->from_bytes ? w->a2_s + w->b2_s_per_byte * bytes
                                                       : w->a_s + w->b_s_per_byte * bytes;
}

/* 30 transfers of each of n sizes over so many octaves from 10 kB; some are many times as slow. */
static void feed(struct linkfit *l, const struct wire *w, int n, double octaves, double cv, double slow)
{
    memset(l, 0, sizeof(*l));
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 30; i++) {
            double bytes = 1e4 * pow(2, n > 1 ? octaves * k / (n - 1) : 0);
            double s = time_of(w, bytes) * exp(cv * gauss());

            linkfit_add(l, bytes, uniform() < slow ? s * (2 + 5 * uniform()) : s, 1);
        }
}

static struct linkfit link_;

static void exact(void)
{
    struct wire w = { 50e-6, 0.1e-9, 0, 0, 0 };
    struct linkfit_result r;

    feed(&link_, &w, 5, 10, 0, 0);
    linkfit_fit(&link_, &r);
    ok(r.segments == 1 && near(r.segment[0].a_s.value, 50e-6, 1e-4) &&
           near(r.segment[0].b_s_per_byte.value, 0.1e-9, 1e-4),
       "without noise latency and bandwidth are found exactly");
    memset(&link_, 0, sizeof(link_));
    linkfit_fit(&link_, &r);
    ok(r.segments == 0 && !linkfit_segment(&r, 1), "a fit without samples has no segments");
    linkfit_add(&link_, 100, 0, 1);
    linkfit_add(&link_, 100, NAN, 1);
    linkfit_add(&link_, -1, 1, 1);
    ok(link_.n == 0, "samples that are no transfers are ignored");
    for (int k = 0; k < 60; k++)
        linkfit_add(&link_, pow(1.5, k), 1e-3, 1);
    is_int(link_.n, LINKFIT_SIZES, "sizes beyond the limit are ignored");
}

static void one_size(void)
{
    struct wire w = { 50e-6, 0.1e-9, 0, 0, 0 };
    struct linkfit_result r;
    double sum_s = time_of(&w, 1e4);

    random_state = 5;
    feed(&link_, &w, 1, 0, 0.05, 0);
    linkfit_fit(&link_, &r);
    ok(r.segments == 1 && isnan(r.segment[0].a_s.value) && isnan(r.segment[0].b_s_per_byte.value),
       "samples of one size give neither latency nor bandwidth");
    ok(r.segment[0].a_s.low == 0 && r.segment[0].a_s.high > 0.97 * sum_s &&
           r.segment[0].a_s.high < 1.1 * sum_s,
       "the latency from one size ranges from 0 to all\n%.1f us of %.1f us", 1e6 * r.segment[0].a_s.high,
       1e6 * sum_s);
}

/* How often intervals hold the truth, with one in twenty transfers slow; how often there is a switch that is
 * none. */
static void intervals(void)
{
    static const int sizes[] = { 2, 4, 8, 16 };

    for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
        int a = 0, b = 0, switches = 0;

        random_state = 100 + k;
        for (int i = 0; i < RUNS; i++) {
            struct wire w = { 1e-4 * pow(10, uniform()), 1e-10, 0, 0, 0 };
            struct linkfit_result r;

            feed(&link_, &w, sizes[k], 12, 0.08, 0.05);
            linkfit_fit(&link_, &r);
            switches += r.segments > 1;
            a += r.segment[0].a_s.low <= w.a_s && w.a_s <= r.segment[0].a_s.high;
            b += r.segment[0].b_s_per_byte.low <= 1e-10 && 1e-10 <= r.segment[0].b_s_per_byte.high;
        }
        ok(a >= 0.83 * RUNS && b >= 0.83 * RUNS,
           "%d sizes: the intervals hold latency and bandwidth\n%.1f %%, %.1f %%", sizes[k], 100.0 * a / RUNS,
           100.0 * b / RUNS);
        ok(switches <= 0.02 * RUNS,
           "a switch of protocol that does not exist is hardly ever found\n%d times in %d", switches, RUNS);
    }
}

static void switches(void)
{
    struct wire w = { 10e-6, 0.2e-9, 2e5, 40e-6, 0.1e-9 };
    int found = 0, placed = 0;

    random_state = 9;
    for (int i = 0; i < RUNS; i++) {
        struct linkfit_result r;

        feed(&link_, &w, 12, 12, 0.08, 0.03);
        linkfit_fit(&link_, &r);
        found += r.segments == 2;
        placed += r.segments == 2 && r.segment[0].to_bytes < 2e5 && r.segment[1].from_bytes >= 1.9e5 &&
                  near(r.segment[1].b_s_per_byte.value, 0.1e-9, 0.1);
    }
    ok(found >= 0.9 * RUNS && placed >= 0.8 * found,
       "a switch of protocol at 200 kB is found, and at the right size\n%d times in %d, %d at the right size",
       found, RUNS, placed);
}

/* Blocks stand for many; means are over all of them. */
static void weights(void)
{
    memset(&link_, 0, sizeof(link_));
    linkfit_add(&link_, 1000, 1e-3, 3);
    linkfit_add(&link_, 1000, 2e-3, 1);
    ok(link_.n == 1 && link_.size[0].weight == 4 && near(link_.size[0].time_sum_s, 5e-3, 1e-12),
       "weights of samples of one size are summed");
}

int main(void)
{
    exact();
    one_size();
    intervals();
    switches();
    weights();
    return done_testing();
}
