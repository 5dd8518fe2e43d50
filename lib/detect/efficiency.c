#include "detect/efficiency.h"

#include <math.h>

void efficiency_rank(struct efficiency_sums *s, double useful_s, double stay_s, double time_s)
{
    double share;

    if (!(time_s > 0))
        return;
    share = fmin(1, fmax(0, useful_s / time_s));
    s->useful += share;
    s->longest = fmax(s->longest, share);
    s->stay_s += stay_s;
    s->time_s += time_s;
    s->ranks++;
}

void efficiency_group(struct efficiency_sums *s)
{
    if (!(s->longest > 0))
        return;
    s->longest_sum += s->longest;
    s->longest = 0;
    s->groups++;
}

struct efficiency_sums efficiency_joined(const struct efficiency_sums *a, const struct efficiency_sums *b)
{
    double a_s = a->ranks ? a->time_s / a->ranks : 0, b_s = b->ranks ? b->time_s / b->ranks : 0;
    struct efficiency_sums s = *b;

    if (!(a_s > 0 && a->groups) || !(b_s > 0 && b->groups))
        return b_s > 0 ? *b : *a;
    s.useful = (a->useful / a->ranks * a_s + b->useful / b->ranks * b_s) / (a_s + b_s) * b->ranks;
    s.longest_sum =
        (a->longest_sum / a->groups * a_s + b->longest_sum / b->groups * b_s) / (a_s + b_s) * b->groups;
    s.wait_s += a->wait_s;
    s.transfer_s += a->transfer_s;
    s.stay_s += a->stay_s;
    s.time_s += a->time_s;
    return s;
}

/* Share of the time that an ideal network would save. */
static double transfer_ratio(const struct efficiency_sums *s)
{
    double joined_s = s->wait_s + s->transfer_s;

    if (!(s->stay_s > 0))
        return 0;
    return joined_s > 0 ? s->stay_s / s->time_s * s->transfer_s / joined_s : NAN;
}

struct efficiency efficiency_of(const struct efficiency_sums *s)
{
    struct efficiency e = { NAN, NAN, NAN, NAN, NAN };
    double mean, longest;

    if (!s->ranks || !s->groups || !(s->useful > 0))
        return e;
    mean = s->useful / s->ranks;
    longest = fmax(mean, s->longest_sum / s->groups);
    e.parallel = mean;
    e.load_balance = mean / longest;
    e.communication = longest;
    if (isnan(transfer_ratio(s)))
        return e;
    e.transfer = fmax(longest, 1 - transfer_ratio(s));
    e.serialisation = longest / e.transfer;
    return e;
}
