/* options.h - the trainer's command line. */
#ifndef SYNCGUARD_WORKLOADS_OPTIONS_H
#define SYNCGUARD_WORKLOADS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "tests/workloads/shared/arguments.h"

enum restart { RESTART_NO, RESTART_YES, RESTART_AUTO };

struct options {
    struct paths text;
    int64_t steps;          /* 0: no limit */
    double seconds;         /* 0: no limit */
    const char *while_file; /* NULL: no limit */
    int batch, context, embed, hidden, layers;
    double rate, momentum;
    uint64_t seed;
    int buckets, inner;
    bool overlap, gentle;
    double device;            /* seconds a step on an accelerator that is not there; 0: none */
    const char *device_clock; /* folder with its clock on each host; NULL */
    int loader;               /* batches ahead; 0: no thread */
    int64_t eval_every, checkpoint_every;
    const char *checkpoint, *log;
    enum restart restart;
    int sample;
};

extern const struct arguments options_arguments;

/* What can only be checked once the number of ranks is known. */
int options_fit(const struct options *o, int ranks, struct err *err);

#endif
