/* measure.c - fuzz target: a line of syncguard-measure's, and what sinfo prints of nodes. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "doctor/pairwise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(double v)
{
    if (!isnan(v) && !(v > 0 && v <= 1e15))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = xcalloc(1, size + 1);
    struct measure_reply r;

    memcpy(text, data, size);
    if (measure_read(text, &r) == 0) {
        if (r.task >= MEASURE_TASKS_MAX || (!!r.node[0] != (r.port || r.mpi[0] || (r.node[0] && r.why[0]))))
            abort();
        if (r.protocol < 1 || fabs(r.ahead_s) > 1e10)
            abort();
        check(r.rtt_s);
        check(r.there_bytes_per_s);
        check(r.back_bytes_per_s);
    }
    pairwise_mpi_type(text);
    free(pairwise_nodes(text, NULL));
    free(pairwise_nodes(text, "main"));
    free(text);
    return 0;
}
