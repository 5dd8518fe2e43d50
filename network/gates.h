/* gates.h - gates on links (network/gate.h), with the queues before them.
 *
 * A message enters all the gates of its route at once, or waits, in order of arrival, before one that is
 * shut: nobody holds one gate while it waits for another, so nothing locks up. */
#ifndef SYNCGUARD_NETWORK_GATES_H
#define SYNCGUARD_NETWORK_GATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/gate.h"

struct gates;

struct gates *gates_new(uint32_t links);
void gates_free(struct gates *g); /* NULL is fine */

/* Not while anything waits.  limit 0 and gap 0: no gate. */
void gates_set(struct gates *g, uint32_t link, const struct gate_params *p);
bool gates_any(const struct gates *g); /* NULL: none */
/* Nobody inside, nobody waiting, times begin again. */
void gates_clear(struct gates *g);

/* May message `id` go over these links?  true: it entered.  false, *again_s finite: ask again then; false and
 * INFINITY: it waits in a queue, gates_next() will name it. */
bool gates_enter(struct gates *g, const uint32_t *link, uint32_t hops, uint32_t id, double now_s,
                 double *again_s);
/* A message that entered is through. */
void gates_leave(struct gates *g, const uint32_t *link, uint32_t hops);

/* One that waits before a gate on these links that has room now, taken from its queue: ask for it again.
 * false: there is none. */
bool gates_next(struct gates *g, const uint32_t *link, uint32_t hops, double now_s, uint32_t *id);

#endif
