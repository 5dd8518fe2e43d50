/* Intervals: their limits against published or hand-computed ones, and how often they cover the truth of
 * generated noise. */
#include "model/interval.h"

#include "model/deviate.h"
#include "tests/tap.h"

#define TRIES 2000u

static uint64_t random_state = 7;

static double gauss(void)
{
    return deviate_normal(deviate_uniform(&random_state));
}

static void limits(void)
{
    struct interval i = interval_of(2, 0.1, INFINITY), j;

    ok(near(i.low, 2 - 0.16449, 1e-4) && near(i.high, 2 + 0.16449, 1e-4),
       "a known error: 1.645 of it to each side");
    i = interval_of(0, 1, 5);
    ok(near(i.high, 2.015, 0.01), "five degrees of freedom: Student's 2.015\n%.4f", i.high);
    ok(!interval_known(interval_of(1, NAN, 5)) && !interval_known(interval_of(1, 0.1, 0)),
       "an unknown error and one without a degree of freedom give no interval");
    i = (struct interval){ 0.7, 1.1 };
    j = interval_product(i, (struct interval){ 0.6, 1.0 });
    ok(near(j.low, 0.5, 1e-9) && near(j.high, 1.1, 1e-9), "errors to one side add up there\n%.3f to %.3f",
       j.low, j.high);
    ok(!interval_known(interval_product(i, INTERVAL_UNKNOWN)), "a product with something unknown is unknown");
    /* Brown, Cai & DasGupta 2003: Jeffreys's interval are quantiles of a gamma distribution, here of shape
     * 0.5 and 10.5. */
    ok(near(interval_poisson(0).high, 1.9207, 0.01), "none came: at most 1.921 are to be expected\n%.3f",
       interval_poisson(0).high);
    i = interval_poisson(10);
    ok(near(i.low, 5.795, 0.1) && near(i.high, 16.34, 0.1), "ten came\n%.2f to %.2f, of 5.80 to 16.34", i.low,
       i.high);
    ok(near(interval_change_error(10), 0.051, 1e-3) && isinf(interval_change_error(0)),
       "a change of ten standard deviations is known to a twentieth of a step");
}

/* A mean over steps that hang together, and a ratio whose values take from each other. */
static void coverage(void)
{
    static const struct {
        const char *what;
        double memory; /* of a value in the next one; negative: one takes what the next one lacks */
        uint32_t n;
    } cases[] = {
        { "independent steps", 0, 40 },
        { "steps that hang together", 0.5, 100 },
        { "steps that take from the next one", -0.5, 40 },
        { "few steps", 0, 9 },
        { "four steps", 0, 4 },
    };
    double error, freedom;

    for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
        uint32_t covered = 0;
        double width = 0;

        for (uint32_t t = 0; t < TRIES; t++) {
            double y[128], x[128], memory = cases[c].memory, state = gauss(), sum = 0, all = 0;
            struct interval i;

            for (uint32_t k = 0; k < cases[c].n; k++) {
                double now = memory < 0 ? gauss() : memory * state + sqrt(1 - memory * memory) * gauss();

                x[k] = k % 5 == 4 ? 2 : 1; /* a rhythm */
                y[k] = x[k] * 3 + 0.3 * (memory < 0 ? now + memory * state : now);
                state = now;
                sum += y[k];
                all += x[k];
            }
            error = interval_ratio_error(y, x, cases[c].n, &freedom);
            i = interval_of(sum / all, error * sum / all, freedom);
            covered += i.low <= 3 && i.high >= 3;
            width += (i.high - i.low) / TRIES;
        }
        ok(covered > 0.82 * TRIES && covered < 0.985 * TRIES,
           "%s: 82 to 98.5 %% of the intervals cover the ratio\n%.1f %%, mean width %.3f", cases[c].what,
           100.0 * covered / TRIES, width);
    }
    ok(isnan(interval_ratio_error((double[]){ 1, 2, 3 }, (double[]){ 1, 2, 3 }, 1, &(double){ 0 })),
       "one value gives no error of their ratio");
    error = interval_ratio_error((double[]){ 0.3, 1, 1, 1.1 }, (double[]){ 1, 1, 1, 1 }, 4, &freedom);
    is_int((int)freedom, 3, "four values are four batches");
    ok(interval_of(1, error, freedom).low > 0.4,
       "four values of which one differs show that their ratio is not nothing");
    interval_ratio_error((double[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, (double[]){ 1, 1, 1, 1, 1, 1, 1, 1 }, 8,
                         &freedom);
    is_int((int)freedom, 3, "eight values are four batches of two");
}

int main(void)
{
    limits();
    coverage();
    return done_testing();
}
