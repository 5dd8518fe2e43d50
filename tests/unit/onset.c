/* When a series began to be higher: steps and ramps that are known, in even noise and in noise that became
 * uneven with them. */
#include "detect/onset.h"

#include <math.h>

#include "tests/random.h"
#include "tests/tap.h"

#define SERIES 400u
#define SIGMA  0.01 /* of the even values */
#define FIRST  8u   /* values behind the change when it is looked at for the first time */

/* From value `from` on by `height` higher, at once or over `over` values, and the noise there is x(i) = rho
 * x(i-1) + noise, of that standard deviation. */
struct shape {
    uint32_t n, from, over;
    double height, since_sigma, rho;
};

static void make(float *y, const struct shape *s)
{
    double x = gauss();

    for (uint32_t i = 0; i < s->n; i++) {
        double up = i < s->from ? 0 : s->over && i < s->from + s->over ? (double)(i - s->from) / s->over : 1;

        y[i] = (float)(s->height * up + (i < s->from ? SIGMA * gauss() : s->since_sigma * x));
        x = s->rho * x + sqrt(1 - s->rho * s->rho) * gauss();
    }
}

/* Values of the series when it is told as a ramp for the first time, looked at as it becomes longer; 0:
 * never.
 */
static uint32_t told_as_ramp(const struct shape *s)
{
    float y[ONSET_MAX], now[ONSET_MAX];

    make(y, s);
    for (uint32_t n = s->from + FIRST; n <= s->n; n++) {
        memcpy(now, y, n * sizeof(y[0]));
        if (onset_find(now, n, 1, 0, false).ramp)
            return n;
    }
    return 0;
}

static void steps(void)
{
    static const struct {
        struct shape shape;
        uint32_t max; /* series told as ramps */
    } cases[] = {
        { { 180, 60, 0, 0.2, SIGMA, 0 }, 2 },
        { { 180, 60, 0, 0.2, 0.06, 0.5 }, 6 },
        { { 180, 60, 0, 0.2, 0.06, 0.8 }, 16 },
        { { 180, 60, 0, 0.2, 0.1, 0.5 }, 16 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct shape *s = &cases[i].shape;
        uint32_t ramps = 0;

        random_state = 7;
        for (uint32_t k = 0; k < SERIES; k++)
            ramps += told_as_ramp(s) > 0;
        ok(ramps <= cases[i].max,
           "a step by 0.2 to values that vary by %g, and by %g of it in a row, is no ramp\n%u of %u were",
           s->since_sigma, s->rho, ramps, SERIES);
    }
}

static void ramps(void)
{
    static const struct {
        struct shape shape;
        double told; /* value at which they are told as ramps, on the mean */
    } cases[] = {
        { { 180, 60, 100, 0.2, SIGMA, 0 }, 84 },
        { { 180, 60, 100, 0.2, 0.03, 0.5 }, 130 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct shape *s = &cases[i].shape;
        uint32_t ramps = 0;
        double sum = 0;

        random_state = 7;
        for (uint32_t k = 0; k < SERIES; k++) {
            uint32_t n = told_as_ramp(s);

            ramps += n > 0;
            sum += n;
        }
        ok(ramps >= 0.98 * SERIES && sum / ramps < cases[i].told,
           "values that rise by 0.2 within 100, and vary by %g, are a ramp\n%u of %u were, from value %.0f on",
           s->since_sigma, ramps, SERIES, sum / ramps);
    }
}

int main(void)
{
    steps();
    ramps();
    return done_testing();
}
