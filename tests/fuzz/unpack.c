/* Whatever a compressed file holds: it unpacks to as many bytes however they are asked for, or is refused. */
#include <stdio.h>
#include <stdlib.h>

#include "trace/unpack.h"

#define MOST (8u << 20) /* of what comes of it; more takes time, and shows nothing else */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes that it unpacks to; -1: it is refused; *torn: it ends too early. */
static int64_t count(const uint8_t *data, size_t size, size_t step, bool *torn)
{
    FILE *in = fmemopen((void *)(uintptr_t)data, size, "r");
    struct unpack *u;
    int64_t all = 0, n;
    char *buf;
    struct err err;

    if (!in)
        abort();
    u = unpack_new(in);
    buf = malloc(step);
    while ((n = unpack_read(u, buf, step, &err)) > 0 && all < MOST)
        all += n;
    *torn = unpack_torn(u);
    free(buf);
    unpack_free(u);
    fclose(in);
    return n < 0 ? -1 : all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool torn, torn_then;
    int64_t whole, parts;

    if (!size)
        return 0;
    whole = count(data, size, MOST, &torn);
    parts = count(data, size, 4096, &torn_then);
    if (whole != parts || torn != torn_then)
        abort();
    return 0;
}
