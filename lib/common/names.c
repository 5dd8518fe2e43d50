#include "common/names.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/xalloc.h"

struct name {
    uint64_t hash;
    char *text;
};

struct names {
    struct name *name; /* by number */
    size_t count, cap;
    uint32_t *slot; /* number + 1; 0: free.  Open addressing, size is a power of two */
    size_t size;
};

struct names *names_new(void)
{
    struct names *n = xcalloc(1, sizeof(*n));

    n->size = 64;
    n->slot = xcalloc(n->size, sizeof(*n->slot));
    return n;
}

void names_free(struct names *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->count; i++)
        free(n->name[i].text);
    free(n->name);
    free(n->slot);
    free(n);
}

/* Where text is, or the free place where it would be. */
static size_t slot_of(const struct names *n, uint64_t hash, const char *text, size_t bytes)
{
    size_t at = hash & (n->size - 1);

    for (; n->slot[at]; at = (at + 1) & (n->size - 1)) {
        const struct name *name = &n->name[n->slot[at] - 1];

        if (name->hash == hash && !strncmp(name->text, text, bytes) && !name->text[bytes])
            break;
    }
    return at;
}

uint32_t names_find(const struct names *n, const char *text, size_t bytes)
{
    return n->slot[slot_of(n, hash_bytes(HASH_START, text, bytes), text, bytes)] - 1;
}

uint32_t names_add(struct names *n, const char *text, size_t bytes)
{
    uint64_t hash = hash_bytes(HASH_START, text, bytes);
    size_t at = slot_of(n, hash, text, bytes);

    if (n->slot[at])
        return n->slot[at] - 1;
    n->name = xgrow(n->name, &n->cap, n->count + 1, sizeof(*n->name));
    n->name[n->count].hash = hash;
    n->name[n->count].text = xcalloc(bytes + 1, 1);
    memcpy(n->name[n->count].text, text, bytes);
    n->slot[at] = (uint32_t)++n->count;
    if (2 * n->count <= n->size)
        return (uint32_t)n->count - 1;
    free(n->slot);
    n->size *= 2;
    n->slot = xcalloc(n->size, sizeof(*n->slot));
    for (size_t i = 0; i < n->count; i++)
        n->slot[slot_of(n, n->name[i].hash, n->name[i].text, strlen(n->name[i].text))] = (uint32_t)i + 1;
    return (uint32_t)n->count - 1;
}

uint32_t names_count(const struct names *n)
{
    return (uint32_t)n->count;
}

const char *names_text(const struct names *n, uint32_t number)
{
    return n->name[number].text;
}
