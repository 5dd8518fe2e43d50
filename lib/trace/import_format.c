#include "trace/import_format.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/text.h"
#include "common/utf8.h"
#include "common/xalloc.h"
#include "view/view.h"

#define RANKS_SHOWN 4

/* Longer names before shorter ones that they begin with. */
static const struct {
    const char *name;
    enum ring_op op;
} ops[] = {
    { "allreduce", RING_OP_ALLREDUCE }, { "allgather", RING_OP_ALLGATHER },
    { "alltoall", RING_OP_ALLTOALL },   { "reducescatter", RING_OP_REDUCE_SCATTER },
    { "broadcast", RING_OP_BCAST },     { "bcast", RING_OP_BCAST },
    { "reduce", RING_OP_REDUCE },       { "gather", RING_OP_GATHER },
    { "scatter", RING_OP_SCATTER },     { "barrier", RING_OP_BARRIER },
};

enum ring_op import_op(const char *name)
{
    const char *colon = strrchr(name, ':');
    char word[64];
    size_t n = 0;

    /* lower-case letters of the name behind its prefix, without what separates words */
    for (name = colon ? colon + 1 : name; *name && n + 1 < sizeof(word); name++)
        if (isalpha((unsigned char)*name))
            word[n++] = (char)tolower((unsigned char)*name);
    word[n] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
        if (!strncmp(word, ops[i].name, strlen(ops[i].name)))
            return ops[i].op;
    return RING_OP_NONE;
}

static const struct {
    const char *name;
    unsigned bytes;
} dtypes[] = {
    { "float", 4 },          { "double", 8 },     { "half", 2 },
    { "bfloat", 2 },         { "int", 4 },        { "long", 8 },
    { "short", 2 },          { "char", 1 },       { "byte", 1 },
    { "bool", 1 },           { "float8", 1 },     { "float16", 2 },
    { "float32", 4 },        { "float64", 8 },    { "bfloat16", 2 },
    { "int8", 1 },           { "int16", 2 },      { "int32", 4 },
    { "int64", 8 },          { "uint8", 1 },      { "uint16", 2 },
    { "uint32", 4 },         { "uint64", 8 },     { "complexfloat", 8 },
    { "complexdouble", 16 }, { "float8e4m3", 1 }, { "float8e5m2", 1 },
    { "float8e4m3fn", 1 },
};

unsigned import_dtype_bytes(const char *name)
{
    const char *colon = strrchr(name, ':');
    char word[32];
    size_t n = 0;

    name = colon ? colon + 1 : name;
    if (!strncmp(name, "nccl", 4))
        name += 4;
    for (; *name && n + 1 < sizeof(word); name++)
        if (isalnum((unsigned char)*name))
            word[n++] = (char)tolower((unsigned char)*name);
    word[n] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(dtypes); i++)
        if (!strcmp(word, dtypes[i].name))
            return dtypes[i].bytes;
    return 0;
}

static size_t ranks_of_text(const char *text, uint32_t *rank, size_t max)
{
    size_t n = 0;

    if (strstr(text, "...")) /* it was cut by who wrote it */
        return 0;
    while (*text && n < max) {
        char *end;
        unsigned long number;

        if (!isdigit((unsigned char)*text)) {
            text++;
            continue;
        }
        number = strtoul(text, &end, 10);
        if (number >= VIEW_RANKS_MAX)
            return 0;
        rank[n++] = (uint32_t)number;
        text = end;
    }
    return n;
}

size_t import_ranks(const json_t *value, uint32_t *rank, size_t max)
{
    size_t n = 0;

    if (json_is_string(value))
        return ranks_of_text(json_string_value(value), rank, max);
    for (size_t i = 0; i < json_array_size(value) && n < max; i++) {
        const json_t *item = json_array_get(value, i);

        if (!json_is_integer(item) || json_integer_value(item) < 0 ||
            json_integer_value(item) >= VIEW_RANKS_MAX)
            return 0;
        rank[n++] = (uint32_t)json_integer_value(item);
    }
    return n;
}

void import_unclear(struct import_skipped *s, const char *fmt, ...)
{
    va_list ap;

    if (s->unclear++)
        return;
    va_start(ap, fmt);
    vsnprintf(s->why, sizeof(s->why), fmt, ap);
    va_end(ap);
    utf8_clean(s->why, sizeof(s->why), s->why);
}

bool import_us(const json_t *value, uint64_t base_ns, uint64_t *ns)
{
    double us;

    if (json_is_integer(value)) {
        if (json_integer_value(value) < 0 ||
            (uint64_t)json_integer_value(value) >= CALLS_TIME_MAX / 1000 - base_ns / 1000)
            return false;
        *ns = base_ns + (uint64_t)json_integer_value(value) * 1000;
        return true;
    }
    us = json_is_real(value)     ? json_real_value(value)
         : json_is_string(value) ? strtod(json_string_value(value), NULL)
                                 : NAN;
    if (!(us >= 0 && us * 1e3 < (double)CALLS_TIME_MAX - (double)base_ns))
        return false;
    *ns = base_ns + (uint64_t)llround(us * 1e3);
    return true;
}

void import_group_name(char *buf, size_t size, const char *name, const char *description,
                       const uint32_t *rank, size_t n, size_t world)
{
    bool described =
        *description && strcmp(description, "undefined") != 0 && strcmp(description, "default_pg") != 0;

    buf[0] = '\0';
    if (n && n == world) {
        text_append(buf, size, "world");
        if (strcmp(name, "0") != 0 && *name && strcmp(description, "default_pg") != 0)
            text_append(buf, size, " %s", described ? description : name);
        return;
    }
    text_append(buf, size, "%.30s", described ? description : *name ? name : "group");
    if (n && n <= RANKS_SHOWN)
        for (size_t i = 0; i < n; i++)
            text_append(buf, size, "%s%u", i ? "," : " ", rank[i]);
    else if (n) /* the first and the last do not tell groups apart */
        text_append(buf, size, " %u..%u %04x", rank[0], rank[n - 1],
                    (unsigned)(hash_bytes(HASH_START, rank, n * sizeof(*rank)) & 0xffff));
}
