/* map.h - a map from 64-bit keys to 32-bit numbers.  Keys may be any, also such as others choose: where they
 * are kept depends on a number drawn for each process.  For one thread. */
#ifndef SYNCGUARD_COMMON_MAP_H
#define SYNCGUARD_COMMON_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map { /* all zero is empty */
    uint64_t *key;
    uint32_t *value;
    size_t size, n;
};

/* Value must not be MAP_NONE; the key's former one is replaced. */
void map_put(struct map *m, uint64_t key, uint32_t value);
uint32_t map_get(const struct map *m, uint64_t key); /* MAP_NONE: it is not there */
void map_clear(struct map *m);
void map_free(struct map *m); /* what it holds; it is empty then */

#endif
