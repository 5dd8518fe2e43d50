#include "plan/published.h"

#include <math.h>
#include <stddef.h>

#include "model/statistics.h"

const struct published published_table[PUBLISHED_SIZES] = {
    { 4, 1024, .02, 1018, .02 },  { 8, 1980, .04, 1995, .03 },  { 16, 3600, .09, 3720, .05 },
    { 32, 5800, .15, 6250, .07 }, { 64, 8200, .22, 9100, .09 },
};

const struct published *published_of(int nodes)
{
    for (int i = 0; i < PUBLISHED_SIZES; i++) {
        if (published_table[i].nodes == nodes)
            return &published_table[i];
    }
    return NULL;
}

double published_rate_miss(const struct published *p, double rate)
{
    return (rate / p->rate - 1) / PUBLISHED_OFF;
}

double published_cv_miss(const struct published *p, double cv)
{
    double above = (p->cv + PUBLISHED_ROUND) * (1 + PUBLISHED_OFF) - p->cv,
           below = p->cv - (p->cv - PUBLISHED_ROUND) * (1 - PUBLISHED_OFF);

    return (cv - p->cv) / (cv > p->cv ? above : below);
}

void published_misses(const struct trial_figures column[PUBLISHED_SIZES], double miss[PUBLISHED_FIGURES])
{
    for (int i = 0; i < PUBLISHED_SIZES; i++) {
        miss[2 * i] = published_rate_miss(&published_table[i],
                                          statistics_mean(column[i].rate, (size_t)column[i].n).mean);
        miss[2 * i + 1] =
            published_cv_miss(&published_table[i], statistics_mean(column[i].cv, (size_t)column[i].n).mean);
    }
}

double published_worst_miss(const struct trial_figures column[PUBLISHED_SIZES])
{
    double miss[PUBLISHED_FIGURES], worst = 0;

    published_misses(column, miss);
    for (int i = 0; i < PUBLISHED_FIGURES; i++)
        worst = fmax(worst, fabs(miss[i]));
    return worst;
}
