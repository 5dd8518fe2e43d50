/* Whatever bytes come: telemetry is refused or read, never more than is there. */
#include <stdlib.h>
#include <string.h>

#include "wire/telemetry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint8_t *again = malloc(TELEMETRY_BATCH_MAX);
    struct telemetry_reader r;
    struct telemetry_writer w;
    struct telemetry_item item;
    struct err err;

    telemetry_begin(&w, again, TELEMETRY_BATCH_MAX);
    if (!telemetry_open(&r, data, bytes, &err)) {
        struct telemetry_header h = r.header;

        while (telemetry_next(&r, &item))
            if (telemetry_put(&w, &item) < 0)
                abort();
        /* what was read whole is written again byte by byte */
        if (telemetry_end(&w, h.batch, h.now_ns) != bytes || memcmp(again, data, bytes))
            abort();
    }
    free(again);
    return 0;
}
