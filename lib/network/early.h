/* early.h - messages that arrived before their receiver reached their round.
 *
 * Each receiver has a list of the rounds of its early messages; all lists share one memory.  A list is
 * a uint32_t that its owner keeps, EARLY_NONE at the start and when it is empty. */
#ifndef SYNCGUARD_NETWORK_EARLY_H
#define SYNCGUARD_NETWORK_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EARLY_NONE UINT32_MAX

struct early {
    struct early_entry {
        uint32_t round, next;
    } * entry;
    size_t cap;
    uint32_t n, spare; /* spare: list of those not in use */
};

void early_init(struct early *e);
void early_clear(struct early *e); /* frees the memory; early_init() before it is used again */

void early_put(struct early *e, uint32_t *list, uint32_t round);
/* Whether a message of this round is in the list, which it leaves. */
bool early_take(struct early *e, uint32_t *list, uint32_t round);
void early_forget(struct early *e, uint32_t *list); /* empty the list */

#endif
