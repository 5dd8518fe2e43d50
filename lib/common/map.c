#include "common/map.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/hash.h"
#include "common/xalloc.h"

/* The same for all maps of the process, and another one in each process: keys come from files and peers, who
 * could choose such that meet in one place, and make each look-up one of all keys. */
static uint64_t seed;

static void take_seed(void)
{
    static bool taken;

    if (!taken && getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
        seed = 0;
    taken = true;
}

static size_t map_at(const struct map *m, uint64_t key)
{
    size_t at = hash_mix(key ^ seed) & (m->size - 1);

    while (m->value[at] != MAP_NONE && m->key[at] != key)
        at = (at + 1) & (m->size - 1);
    return at;
}

static void map_resize(struct map *m, size_t size)
{
    struct map old = *m;

    take_seed();
    *m = (struct map){ .key = xcalloc(size, sizeof(*m->key)),
                       .value = xcalloc(size, sizeof(*m->value)),
                       .size = size };
    memset(m->value, 0xff, size * sizeof(*m->value));
    for (size_t i = 0; i < old.size; i++)
        if (old.value[i] != MAP_NONE)
            map_put(m, old.key[i], old.value[i]);
    free(old.key);
    free(old.value);
}

void map_put(struct map *m, uint64_t key, uint32_t value)
{
    size_t at;

    if (2 * (m->n + 1) > m->size)
        map_resize(m, m->size ? 2 * m->size : 256);
    at = map_at(m, key);
    m->n += m->value[at] == MAP_NONE;
    m->key[at] = key;
    m->value[at] = value;
}

uint32_t map_get(const struct map *m, uint64_t key)
{
    return m->size ? m->value[map_at(m, key)] : MAP_NONE;
}

void map_clear(struct map *m)
{
    if (m->size)
        memset(m->value, 0xff, m->size * sizeof(*m->value));
    m->n = 0;
}

void map_free(struct map *m)
{
    free(m->key);
    free(m->value);
    *m = (struct map){ 0 };
}
