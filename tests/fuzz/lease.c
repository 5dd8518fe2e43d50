/* The content of a lease file. */
#include <stdlib.h>
#include <string.h>

#include "history/lease.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct lease_record r;

    if (lease_parse((const char *)data, bytes, &r, NULL) == 0 &&
        (!r.epoch || !*r.holder || strlen(r.holder) >= LEASE_HOLDER_MAX))
        abort();
    return 0;
}
