/* Whatever a timeline says: it is refused, or what comes of it is a trace that can be read. */
#include "tests/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    import_fuzz("chrome", data, size);
    return 0;
}
