#include "pacing/pace.h"

#include <math.h>

void pace_learn(struct pace_state *s, double slept_s, double waited_s)
{
    double wait_s = slept_s + waited_s, off;

    if (!(wait_s >= 0) || isinf(wait_s))
        return;
    if (s->n == 0) {
        s->wait_s = wait_s;
        s->deviation_s = wait_s / 2;
    } else {
        off = wait_s - s->wait_s;
        s->wait_s += PACE_GAIN * off;
        s->deviation_s += PACE_GAIN * (fabs(off) - s->deviation_s);
    }
    if (s->n < PACE_LEARN)
        s->n++;
}

void pace_stayed(struct pace_stays *s, double stay_s)
{
    if (!s->early.n || stay_s < s->least_s)
        s->least_s = stay_s;
    else
        s->least_s += (stay_s - s->least_s) / 1024;
    pace_learn(&s->early, 0, stay_s - s->least_s);
}

double pace_delay_s(const struct pace_state *s, const struct pace_params *p)
{
    double sure_s = s->wait_s - PACE_DEVIATIONS * s->deviation_s;

    if (s->n < PACE_LEARN || !(sure_s > 0))
        return 0;
    return fmin(p->share * sure_s, p->max_delay_s);
}

double pace_stagger_s(uint32_t index, uint32_t n, double transfer_s, const struct pace_params *p)
{
    if (n < 2 || index >= n || !(transfer_s > 0))
        return 0;
    return fmin(p->share * transfer_s * index / n, p->max_delay_s);
}

bool pace_gives_core(uint32_t ranks, uint32_t cores, uint32_t arrived)
{
    return ranks > cores && arrived < ranks;
}
