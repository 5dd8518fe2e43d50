/* bucket.h - gradients exchanged in buckets while the backward work still runs.
 *
 * finish_j = max(ready_j, finish_(j-1)) + T(bucket_j); exposed = max(0, finish_last - backward): many small
 * buckets cost latency each, few large ones start late, so there is an optimal size (Li et al., "PyTorch
 * Distributed", VLDB 2020). Pure.  Seconds, bytes.  An exchange costs fixed + per_byte * size (see
 * collective.h). */
#ifndef SYNCGUARD_MODEL_BUCKET_H
#define SYNCGUARD_MODEL_BUCKET_H

struct bucket {
    double bytes;      /* of all gradients, which become ready evenly over the backward work */
    double backward_s; /* 0: no overlap */
    double fixed_s, s_per_byte;
};

/* Exposed time of buckets of equal size, the last one holding the remainder, in closed form. */
double bucket_even_exposed_s(const struct bucket *b, double bucket_bytes);
/* The number of equal buckets that minimises the exposed time; 1 <= n <= 1e6. */
double bucket_best_count(const struct bucket *b);

#endif
