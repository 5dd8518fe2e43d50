/* Any text as what the store keeps of a run's growth: refused, or in bounds and written as it was read. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "job/scaling_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-8 * fabs(a);
}

static void check(const struct projection_run *r)
{
    struct projection_run again;
    char *text = scaling_run_text(r);

    if (!(r->ranks >= 2 && r->ranks_per_node >= 1 && isfinite(r->step_s) && isfinite(r->compute_s)) ||
        r->n_times > PROJECTION_TIMES || !text || !scaling_run_parse(text, &again))
        abort();
    if (!same(r->step_s, again.step_s) || !same(r->cv, again.cv) || r->n_times != again.n_times)
        abort();
    for (size_t i = 0; i < r->n_times; i++)
        if (r->time[i].op != again.time[i].op || !same(r->time[i].time_s, again.time[i].time_s))
            abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct projection_run r;

    memcpy(text, data, size);
    text[size] = '\0';
    if (scaling_run_parse(text, &r))
        check(&r);
    free(text);
    return 0;
}
