/* nccl_conf.c - fuzz target: a file of NCCL's settings. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/nccl_conf.h"
#include "common/xalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char variable[] = "NCCL_PROFILER_PLUGIN";
    /* not a byte longer, so that a sanitizer sees what is read behind it */
    char value[NCCL_CONF_VALUE], *text = xcalloc(1, size ? size : 1);
    bool found;

    memcpy(text, data, size);
    found = nccl_conf_value(text, size, variable, value);
    if (found && (strlen(value) >= NCCL_CONF_VALUE || strchr(value, '\n') ||
                  !memmem(text, size, variable, sizeof(variable) - 1)))
        abort();
    free(text);
    return 0;
}
