#include "model/cadence.h"

#include <math.h>

double cadence_young_s(double write_s, double mtbf_s)
{
    return sqrt(2 * write_s * mtbf_s);
}

double cadence_daly_s(double write_s, double mtbf_s)
{
    double ratio = write_s / (2 * mtbf_s);

    if (ratio >= 1)
        return mtbf_s;
    return sqrt(2 * write_s * mtbf_s) * (1 + sqrt(ratio) / 3 + ratio / 9) - write_s;
}

/* -ln(1-v) - v for 0 <= v < 1, by its series where the difference would cancel. */
static double excess(double v)
{
    double sum = 0, power = v * v;

    if (v > 0.1)
        return -log1p(-v) - v;
    for (int k = 2; k < 20; k++, power *= v)
        sum += power / k;
    return sum;
}

/* 1 + W0(-e^(-1-c)) without the cancellation near the branch point: v = 1 + W fulfils excess(v) = c. */
static double one_plus_w0(double c)
{
    double low = 0, high = 1, v;

    if (c <= 0)
        return 0;
    if (c > 37) /* W0 is below the last digit of 1 */
        return 1;
    /* start from the branch point's series, or from the asymptote */
    v = c < 1 ? sqrt(2 * c) * (1 - sqrt(2 * c) / 3) : 1 - exp(-1 - c);
    for (int i = 0; i < 200; i++) {
        double f, next;

        if (!(v > low && v < high))
            v = (low + high) / 2;
        f = excess(v) - c;
        if (f > 0)
            high = v;
        else
            low = v;
        next = v - f * (1 - v) / v; /* the derivative is v / (1 - v) */
        if (fabs(next - v) <= 1e-16 * v)
            break;
        v = next;
    }
    return v;
}

double cadence_optimal_s(double write_s, double mtbf_s)
{
    return mtbf_s * one_plus_w0(write_s / mtbf_s);
}

static double segment_s(double interval_s, double write_s, double restart_s, double mtbf_s)
{
    return mtbf_s * exp(restart_s / mtbf_s) * expm1((interval_s + write_s) / mtbf_s);
}

double cadence_goodput(double interval_s, double write_s, double restart_s, double mtbf_s)
{
    return interval_s / segment_s(interval_s, write_s, restart_s, mtbf_s);
}

double cadence_overhead(double interval_s, double write_s, double restart_s, double mtbf_s)
{
    return segment_s(interval_s, write_s, restart_s, mtbf_s) / interval_s - 1;
}
