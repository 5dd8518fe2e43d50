#include "model/interval.h"

#include "model/batch.h"
#include "model/deviate.h"

/* Chosen: of two the 90 % interval is 6.3 standard errors to either side (Student's t of one degree of
 * freedom), of three 2.9. */
#define BATCHES_MIN 3u

struct interval interval_of(double estimate, double error, double freedom)
{
    double away = freedom >= 1 ? deviate_student(INTERVAL_SIDE, freedom) * error : NAN;

    return isnan(estimate - away) ? INTERVAL_UNKNOWN : (struct interval){ estimate - away, estimate + away };
}

struct interval interval_product(struct interval a, struct interval b)
{
    if (!interval_known(a) || !interval_known(b))
        return INTERVAL_UNKNOWN;
    return (struct interval){ 1 - hypot(1 - a.low, 1 - b.low), 1 + hypot(a.high - 1, b.high - 1) };
}

struct interval interval_poisson(double count)
{
    double freedom = 2 * count + 1;

    return (struct interval){ freedom / 2 * deviate_chi2_ratio(1 - INTERVAL_SIDE, freedom),
                              freedom / 2 * deviate_chi2_ratio(INTERVAL_SIDE, freedom) };
}

double interval_mean_error(const double *v, size_t n, double *freedom)
{
    struct batch_mean m = batch_mean(v, n);

    *freedom = m.n - 1;
    return sqrt(m.variance);
}

/* Values of a batch, of n: fewer than BATCHES_MIN batches say next to nothing. */
static size_t batch_size(size_t n)
{
    size_t in = (size_t)sqrt((double)n);

    return in > 1 && n / in < BATCHES_MIN ? n / BATCHES_MIN : in;
}

double interval_ratio_error(const double *y, const double *x, size_t n, double *freedom)
{
    size_t in = batch_size(n), batches = in ? n / in : 0;
    double all_y = 0, all_x = 0, square = 0;

    for (size_t i = n - in * batches; i < n; i++) {
        all_y += y[i];
        all_x += x[i];
    }
    for (size_t b = 1; b <= batches; b++) {
        double off = 0;

        for (size_t i = n - b * in; i < n - b * in + in; i++)
            off += y[i] - all_y / all_x * x[i];
        square += off * off;
    }
    *freedom = (double)batches - 1;
    return batches > 1 ? sqrt(square * (double)batches / *freedom) / fabs(all_y) : NAN;
}

double interval_change_error(double height)
{
    return height > 0 ? sqrt(26) / (height * height) : INFINITY;
}
