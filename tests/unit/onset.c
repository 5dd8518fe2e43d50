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
 * never.  whole: what the steps took, NULL: not known. */
static uint32_t told_as_ramp(const struct shape *s, const float *whole)
{
    float y[ONSET_MAX], now[ONSET_MAX];

    make(y, s);
    for (uint32_t n = s->from + FIRST; n <= s->n; n++) {
        memcpy(now, y, n * sizeof(y[0]));
        if (onset_find(now, whole, n, 1, 0, false).ramp)
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
            ramps += told_as_ramp(s, NULL) > 0;
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
            uint32_t n = told_as_ramp(s, NULL);

            ramps += n > 0;
            sum += n;
        }
        ok(ramps >= 0.98 * SERIES && sum / ramps < cases[i].told,
           "values that rise by 0.2 within 100, and vary by %g, are a ramp\n%u of %u were, from value %.0f on",
           s->since_sigma, ramps, SERIES, sum / ramps);
    }
}

/* A ramp that the steps' time follows, by another rank's noise beside it, or does not. */
static void followed(void)
{
    static const struct {
        const char *what;
        double height; /* of the steps' time */
        uint32_t min, max;
    } cases[] = {
        { "and the steps' time with them", 0.2, 392, SERIES },
        { "and the steps' time does not", 0, 0, 8 },
        { "and the steps' time falls", -0.2, 0, 0 },
    };
    const struct shape shape = { 180, 60, 100, 0.2, SIGMA, 0 };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct shape time = { 180, 60, 100, cases[i].height, SIGMA, 0 };
        uint32_t told = 0;

        random_state = 7;
        for (uint32_t k = 0; k < SERIES; k++) {
            float whole[ONSET_MAX];

            make(whole, &time);
            told += told_as_ramp(&shape, whole) > 0;
        }
        ok(told >= cases[i].min && told <= cases[i].max,
           "values rise by 0.2 within 100, %s: from %u to %u of %u series are told as ramps\n%u were",
           cases[i].what, cases[i].min, cases[i].max, SERIES, told);
    }
}

int main(void)
{
    steps();
    ramps();
    followed();
    return done_testing();
}
