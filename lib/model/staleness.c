#include "model/staleness.h"

#include <math.h>

/* Increases with w from -pi/2 at 0 to a value above 0 at pi. */
static double phase(double w, double tau, double b)
{
    return (tau - 0.5) * w + atan2(sin(w), cos(w) - b) - M_PI / 2;
}

double staleness_limit(double tau, double momentum)
{
    double low = 0, high = M_PI, w;

    if (momentum == 0)
        return 2 * sin(M_PI / (2 * (2 * tau + 1)));
    while (high - low > 1e-15 * high) {
        double middle = (low + high) / 2;

        if (middle <= low || middle >= high)
            break;
        if (phase(middle, tau, momentum) < 0)
            low = middle;
        else
            high = middle;
    }
    w = (low + high) / 2;
    /* |e^(iw) - 1| |e^(iw) - b| */
    return 2 * sin(w / 2) * sqrt(1 + momentum * momentum - 2 * momentum * cos(w));
}

double staleness_step_ratio(size_t ranks, size_t bound, size_t steps, staleness_sample_fn *sample, void *arg,
                            double *finish, double *gate)
{
    size_t warm = bound + steps / 10;
    double begin = 0, last = 0, from = 0;

    for (size_t i = 0; i < ranks; i++)
        finish[i] = 0;
    for (size_t i = 0; i <= bound; i++)
        gate[i] = 0;
    for (size_t k = 0; k < warm + steps; k++) {
        begin = gate[k % (bound + 1)]; /* when all ranks had finished step k - 1 - bound */
        last = 0;
        for (size_t i = 0; i < ranks; i++) {
            finish[i] = fmax(finish[i], begin) + sample(arg, i, k);
            last = fmax(last, finish[i]);
        }
        gate[k % (bound + 1)] = last;
        if (k + 1 == warm)
            from = last;
    }
    return (last - from) / (double)steps;
}
