#include "network/early.h"

#include <stdlib.h>

#include "common/xalloc.h"

void early_init(struct early *e)
{
    *e = (struct early){ .spare = EARLY_NONE };
}

void early_clear(struct early *e)
{
    free(e->entry);
}

/* Move the first of one list to the front of the other. */
static uint32_t move_first(struct early *e, uint32_t *from, uint32_t *to)
{
    uint32_t at = *from;

    *from = e->entry[at].next;
    e->entry[at].next = *to;
    return *to = at;
}

void early_put(struct early *e, uint32_t *list, uint32_t round)
{
    if (e->spare == EARLY_NONE) {
        e->entry = xgrow(e->entry, &e->cap, e->n + 1, sizeof(*e->entry));
        e->entry[e->n].next = EARLY_NONE;
        e->spare = e->n++;
    }
    e->entry[move_first(e, &e->spare, list)].round = round;
}

bool early_take(struct early *e, uint32_t *list, uint32_t round)
{
    while (*list != EARLY_NONE && e->entry[*list].round != round)
        list = &e->entry[*list].next;
    if (*list == EARLY_NONE)
        return false;
    move_first(e, list, &e->spare);
    return true;
}

void early_forget(struct early *e, uint32_t *list)
{
    while (*list != EARLY_NONE)
        move_first(e, list, &e->spare);
}
