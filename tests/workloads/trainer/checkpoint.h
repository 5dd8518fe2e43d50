/* checkpoint.h - a training run's whole state in one file.
 * Written beside the old one, synced and renamed over it: whatever is killed at whatever moment, the name
 * always holds one whole checkpoint. A file of another run, or a damaged one, is refused. */
#ifndef SYNCGUARD_WORKLOADS_CHECKPOINT_H
#define SYNCGUARD_WORKLOADS_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* What must be equal for a run to go on bit by bit as if it had not stopped. */
struct checkpoint_run {
    uint64_t text, seed;
    int32_t ranks, batch, context, embed, hidden, inner, buckets, overlap; /* the last three order the sums */
    double rate, momentum;
};

struct checkpoint {
    struct checkpoint_run run;
    int64_t step; /* steps done */
    float *parameters, *velocity;
    size_t count;
};

int checkpoint_write(const char *path, const struct checkpoint *c, struct err *err);

/* Fills in step, parameters and velocity of a checkpoint of the same run and count. */
int checkpoint_read(const char *path, struct checkpoint *c, struct err *err);

#endif
