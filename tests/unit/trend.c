/* Trends of series that are known: their slope, when they arrive, how often chance looks like one. */
#include "detect/trend.h"

#include <stdint.h>

#include "tests/random.h"
#include "tests/tap.h"

#define N     90
#define SEEDS 300

/* First-order noise of standard deviation 1 around slope * i. */
static void make(double *at, double *y, int n, double rho, double slope)
{
    double x = gauss();

    for (int i = 0; i < n; i++) {
        at[i] = i;
        y[i] = x + slope * i;
        x = rho * x + sqrt(1 - rho * rho) * gauss();
    }
}

static void exact(void)
{
    double at[N], y[N];
    struct trend_reach r;
    struct trend t;

    for (int i = 0; i < N; i++) {
        at[i] = 100 + 2 * i;
        y[i] = 0.02 + 0.0004 * at[i];
    }
    trend_fit(at, y, N, 2.6, &t);
    ok(t.direction == TREND_RISING && near(t.slope, 0.0004, 1e-9), "a straight line has its slope");
    ok(trend_reach(&t, 0.22, &r) && near(r.p50, 500 - at[N - 1], 1e-6) && near(r.p10, r.p90, 1e-6),
       "the time at which a straight line reaches a limit");
    ok(!trend_reach(&t, 0.05, &r), "a limit that was passed is not reached");
    for (int i = 0; i < N; i++)
        y[i] = -y[i];
    trend_fit(at, y, N, 2.6, &t);
    ok(t.direction == TREND_FALLING && trend_reach(&t, -0.22, &r) && !trend_reach(&t, 0, &r),
       "a falling line reaches its limit");
    trend_fit(at, y, TREND_POINTS_MIN - 1, 2.6, &t);
    ok(t.direction == TREND_UNKNOWN && isnan(t.slope), "the direction of too few points is unknown");
    for (int i = 0; i < N; i++)
        y[i] = 0.1;
    trend_fit(at, y, N, 2.6, &t);
    ok(t.direction == TREND_NONE && !trend_reach(&t, 0.2, &r), "a constant has no trend");
    for (int i = 0; i < N; i++)
        at[i] = 7;
    trend_fit(at, y, N, 2.6, &t);
    ok(t.direction == TREND_UNKNOWN, "the direction of points at one time is unknown");
}

static void robust(void)
{
    double at[N], y[N];
    struct trend t;

    random_state = 3;
    make(at, y, N, 0.3, 0.1);
    for (int i = 5; i < N; i += 9)
        y[i] += 40;
    trend_fit(at, y, N, 2.6, &t);
    ok(t.direction == TREND_RISING && fabs(t.slope - 0.1) < 0.02,
       "a tenth of outliers does not change the slope\n%.3f", t.slope);
    make(at, y, N, 0.3, 0);
    for (int i = N / 2; i < N; i++)
        y[i] += 6;
    trend_fit(at, y, N, 2.6, &t);
    ok(t.direction == TREND_NONE, "a step is no trend");
}

/* Steady noise, however much neighbours resemble each other. */
static void chance(void)
{
    static const double rho[] = { 0, 0.5, 0.8, 0.95 };

    for (size_t k = 0; k < ARRAY_SIZE(rho); k++) {
        int trends = 0, warnings = 0;

        random_state = 11 + k;
        for (int i = 0; i < SEEDS; i++) {
            double at[N], y[N];
            struct trend t;

            make(at, y, N, rho[k], 0);
            trend_fit(at, y, N, 1.96, &t);
            trends += t.direction != TREND_NONE;
            warnings += trend_warning(y, N);
        }
        ok(trends <= 0.06 * SEEDS, "correlation %.2f: at most 6 %% are taken for a trend\n%.1f %%", rho[k],
           100.0 * trends / SEEDS);
        ok(warnings <= 0.08 * SEEDS, "false warnings are rare\n%.1f %%", 100.0 * warnings / SEEDS);
    }
}

/* How often the 80 % interval holds the time at which the ramp is at the limit. */
static void coverage(void)
{
    static const struct {
        int n;
        double rho, slope;
    } ramps[] = { { N, 0, 0.09 }, { N, 0.3, 0.09 }, { N, 0.5, 0.12 }, { N, 0.7, 0.2 }, { 60, 0.3, 0.15 } };

    for (size_t k = 0; k < ARRAY_SIZE(ramps); k++) {
        double limit = 2 * ramps[k].slope * ramps[k].n, truth = ramps[k].n + 1;
        int seen = 0, early = 0, late = 0;

        random_state = 5 + k;
        for (int i = 0; i < SEEDS; i++) {
            double at[N], y[N];
            struct trend_reach r;
            struct trend t;

            make(at, y, ramps[k].n, ramps[k].rho, ramps[k].slope);
            trend_fit(at, y, (size_t)ramps[k].n, 2.6, &t);
            if (!trend_reach(&t, limit, &r))
                continue;
            seen++;
            early += truth < r.p10;
            late += truth > r.p90;
        }
        ok(seen > 0.8 * SEEDS, "%d points, correlation %.1f: seen in more than 80 %%\n%.0f %%", ramps[k].n,
           ramps[k].rho, 100.0 * seen / SEEDS);
        double held = 1 - (double)(early + late) / seen;
        ok(held > 0.74 && held < 0.88,
           "the 80 %% interval holds the truth in 74 to 88 %%\n%.0f %%, %d before it, %d after it",
           100 * held, early, late);
    }
}

/* Fluctuations that become wider and slower, as where a system loses its footing. */
static void restless(void)
{
    int warned = 0;

    random_state = 9;
    for (int i = 0; i < SEEDS; i++) {
        double y[N], x = 0;

        for (int j = 0; j < N; j++) {
            x = (double)j / N * x + gauss() * (1 + 2.0 * j / N);
            y[j] = x;
        }
        warned += trend_warning(y, N);
    }
    ok(warned > 0.2 * SEEDS, "wider and slower fluctuations are warned of in more than 20 %%\n%.0f %%",
       100.0 * warned / SEEDS);
    ok(!trend_warning(NULL, TREND_WARNING_MIN - 1), "too few points give no warning");
}

int main(void)
{
    exact();
    robust();
    chance();
    coverage();
    restless();
    return done_testing();
}
