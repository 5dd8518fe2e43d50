#include "model/serving.h"

#include <math.h>

double serving_per_s(uint32_t workers, double work_s, double service_s)
{
    double queue = 0, busy = 0, per_s = 0;

    if (!(work_s >= 0 && service_s >= 0 && work_s + service_s > 0))
        return NAN;
    for (uint32_t n = 1; n <= workers; n++) { /* what one of n finds there is what n - 1 have there */
        double stay_s = service_s * (1 + queue - busy + busy / 2);

        per_s = n / (work_s + stay_s);
        if (per_s * service_s > 1) {
            per_s = 1 / service_s;
            stay_s = n * service_s - work_s;
        }
        queue = per_s * stay_s;
        busy = per_s * service_s;
    }
    return per_s;
}
