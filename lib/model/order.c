#include "model/order.h"

#include <math.h>

/* of the trapezoidal rule, which converges exponentially on what decays at both ends */
#define ORDER_POINTS 4096
#define DEPTH        50.0 /* the integrand is followed to e^-50 of its peak */

/* log of the share of standard normals below x; the asymptotic series where erfc() would underflow. */
static double log_below(double x)
{
    double q = 1 / (x * x);

    if (x > 0)
        return log1p(-0.5 * erfc(x * M_SQRT1_2));
    if (x > -35)
        return log(0.5 * erfc(-x * M_SQRT1_2));
    return -0.5 * x * x - log(-x * sqrt(2 * M_PI)) + log1p(-q + 3 * q * q);
}

/* Logarithm, up to a constant, of e^(sigma x) times the density at x of the order statistic of n normals with
 * `above` of them above it.  Concave in x. */
static double log_density(double x, double n, double above, double sigma)
{
    double below = n - above - 1, d = sigma * x - 0.5 * x * x;

    return d + (below > 0 ? below * log_below(x) : 0) + (above > 0 ? above * log_below(-x) : 0);
}

/* Maximum of the concave log_density, by golden section. */
static double peak_of(double n, double above, double sigma)
{
    const double golden = 0.61803398874989485;
    double low = -45, high = 45 + sigma, a = high - golden * (high - low), b = low + golden * (high - low);
    double fa = log_density(a, n, above, sigma), fb = log_density(b, n, above, sigma);

    while (high - low > 1e-6) {
        if (fa < fb) {
            low = a;
            a = b;
            fa = fb;
            b = low + golden * (high - low);
            fb = log_density(b, n, above, sigma);
        } else {
            high = b;
            b = a;
            fb = fa;
            a = high - golden * (high - low);
            fa = log_density(a, n, above, sigma);
        }
    }
    return (low + high) / 2;
}

/* From the peak towards +1 or -1: where the integrand has fallen by DEPTH. */
static double edge_of(double n, double above, double sigma, double peak, double direction)
{
    double top = log_density(peak, n, above, sigma), step = 1e-4, inner = 0;

    while (log_density(peak + direction * step, n, above, sigma) > top - DEPTH) {
        inner = step;
        step *= 2;
    }
    while (step - inner > 1e-3 * step) {
        double middle = (inner + step) / 2;

        if (log_density(peak + direction * middle, n, above, sigma) > top - DEPTH)
            inner = middle;
        else
            step = middle;
    }
    return peak + direction * step;
}

/* Mean of x, or with sigma the logarithm of the mean of e^(sigma x), of the order statistic's density.  The
 * density is normalised by the same rule: no gamma function of millions, whose last digits would be lost. */
struct order_moments {
    double log_mass, mean;
};

static struct order_moments integrate(double n, double above, double sigma)
{
    double peak = peak_of(n, above, sigma), top = log_density(peak, n, above, sigma);
    double low = edge_of(n, above, sigma, peak, -1), high = edge_of(n, above, sigma, peak, 1);
    double h = (high - low) / ORDER_POINTS, mass = 0, first = 0;

    for (int i = 0; i <= ORDER_POINTS; i++) {
        double x = low + i * h, w = exp(log_density(x, n, above, sigma) - top);

        mass += w;
        first += w * (x - peak);
    }
    return (struct order_moments){ log(mass * h) + top, peak + first / mass };
}

double order_z(double n, double dropped)
{
    return n > 1 ? integrate(n, dropped, 0).mean : 0;
}

double order_amplification(enum order_dist dist, double n, double dropped, double cv)
{
    double sigma = sqrt(log1p(cv * cv));

    if (cv == 0 || n <= 1)
        return 1;
    if (dist == ORDER_NORMAL)
        return 1 + cv * order_z(n, dropped);
    return exp(integrate(n, dropped, sigma).log_mass - integrate(n, dropped, 0).log_mass - sigma * sigma / 2);
}

/* log of the share of ranks of mean 1 that take less than x. */
static double log_share_below(enum order_dist dist, double cv, double x)
{
    double sigma = sqrt(log1p(cv * cv));

    if (dist == ORDER_NORMAL)
        return log_below((x - 1) / cv);
    return x > 0 ? log_below((log(x) + sigma * sigma / 2) / sigma) : -INFINITY;
}

static double log_slow_below(enum order_dist dist, double n, double cv, double slow_ratio, double x)
{
    return (n - 1) * log_share_below(dist, cv, x) + log_share_below(dist, cv, x / slow_ratio);
}

double order_amplification_slow(enum order_dist dist, double n, double cv, double slow_ratio)
{
    double low = 1, high = 2 * slow_ratio, h, sum = 0;

    if (slow_ratio <= 1)
        return order_amplification(dist, n, 0, cv);
    if (cv == 0)
        return slow_ratio;
    /* E = low + the integral of P(maximum > x) over x > low, where P(maximum > low) is nearly 1 */
    while (log_slow_below(dist, n, cv, slow_ratio, low) > -DEPTH && low > -1e3)
        low -= 0.25 * fmax(cv, 0.1);
    while (log_slow_below(dist, n, cv, slow_ratio, high) < -1e-12)
        high *= 1.5;
    h = (high - low) / (8 * ORDER_POINTS);
    for (int i = 0; i <= 8 * ORDER_POINTS; i++)
        sum += -expm1(log_slow_below(dist, n, cv, slow_ratio, low + i * h)) *
               (i == 0 || i == 8 * ORDER_POINTS ? 0.5 : 1);
    return low + sum * h;
}

double order_any(double n, double p)
{
    return p >= 1 ? 1 : -expm1(n * log1p(-p));
}

double order_amplification_every(double n, double cv, double k)
{
    return 1 + cv * order_z(n, 0) / sqrt(k);
}

double order_rebalanced(double n, double ratio)
{
    return n / (n - 1 + 1 / ratio);
}
