#include "model/bucket.h"

#include <math.h>

#define COUNT_MAX 1e6

static double exchange_s(const struct bucket *b, double bytes)
{
    return b->fixed_s + b->s_per_byte * bytes;
}

double bucket_even_exposed_s(const struct bucket *b, double bucket_bytes)
{
    double full = ceil(b->bytes / bucket_bytes * (1 - 1e-12)) - 1; /* full buckets before the last one */
    double last_bytes = b->bytes - full * bucket_bytes, one = exchange_s(b, bucket_bytes);
    double ready = b->backward_s * bucket_bytes / b->bytes, finish = 0;

    if (b->bytes <= 0)
        return 0;
    /* Both terms of finish_j = max(ready_j, finish_(j-1)) + T grow linearly, so the maximum is at one of the
     * ends. */
    if (full > 0)
        finish = fmax(ready + full * one, full * ready + one);
    finish = fmax(b->backward_s, finish) + exchange_s(b, last_bytes);
    return fmax(0, finish - b->backward_s);
}

double bucket_best_count(const struct bucket *b)
{
    double low = 1, high = COUNT_MAX, best;

    if (b->bytes <= 0)
        return 1;
    /* Convex in the number of buckets: the maximum of Tb/n + n A and of A + B/n. */
    while (high - low > 2) {
        double left = low + floor((high - low) / 3), right = high - floor((high - low) / 3);

        if (bucket_even_exposed_s(b, b->bytes / left) <= bucket_even_exposed_s(b, b->bytes / right))
            high = right;
        else
            low = left;
    }
    best = low;
    for (double n = low + 1; n <= high; n++)
        if (bucket_even_exposed_s(b, b->bytes / n) < bucket_even_exposed_s(b, b->bytes / best))
            best = n;
    return best;
}
