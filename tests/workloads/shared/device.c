#include "tests/workloads/shared/device.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_LEAST 0.01
#define CLOCK_MOST  10.0

static double device_clock(const struct device *d)
{
    char host[65], path[4200];
    double clock = 1;
    FILE *f;

    if (!d->clock_dir || gethostname(host, sizeof(host)) < 0)
        return 1;
    snprintf(path, sizeof(path), "%s/%s", d->clock_dir, host);
    f = fopen(path, "r");
    if (!f)
        return 1;
    if (fscanf(f, "%lf", &clock) != 1 || !(clock >= CLOCK_LEAST && clock <= CLOCK_MOST))
        clock = 1;
    fclose(f);
    return clock;
}

void device_wait(const struct device *d, double begun_s)
{
    double end_s = begun_s + d->step_s / device_clock(d);
    struct timespec end = { .tv_sec = (time_t)end_s,
                            .tv_nsec = (long)((end_s - (double)(time_t)end_s) * 1e9) };

    if (d->step_s > 0)
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0)
            ;
}
