/* Whatever a line of NCCL Inspector says: it is refused, or what comes of it is a trace that can be read. */
#include "tests/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import_fuzz("nccl-inspector", data, size);
    return 0;
}
