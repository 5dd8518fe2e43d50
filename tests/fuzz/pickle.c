/* Any bytes as a pickle: they are refused with a reason, or make a value within its bounds, which
 * can be walked through to its end. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_parts(const json_t *value, unsigned depth)
{
    size_t parts = 1 + json_string_length(value) / 16;
    const char *key;
    json_t *member;

    if (depth > PICKLE_DEPTH_MAX)
        abort();
    for (size_t i = 0; i < json_array_size(value); i++)
        parts += count_parts(json_array_get(value, i), depth + 1);
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
        parts += count_parts(member, depth + 1);
    return parts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = { "" };
    json_t *value = pickle_read(data, size, &err);

    if (!value && !err.text[0])
        abort(); /* a failure without a reason */
    if (value && count_parts(value, 0) > PICKLE_PARTS_MAX)
        abort();
    json_decref(value);
    return 0;
}
