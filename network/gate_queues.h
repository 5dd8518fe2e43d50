/* gate_queues.h - gates on links (network/gate.h), with the queues before them.
 *
 * A message enters all the gates of its route at once, or waits, in order of arrival, before one that is
 * shut: nobody holds one gate while it waits for another, so nothing locks up. */
#ifndef SYNCGUARD_NETWORK_GATE_QUEUES_H
#define SYNCGUARD_NETWORK_GATE_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/gate.h"

struct gate_queues;

struct gate_queues *gate_queues_new(uint32_t links);
void gate_queues_free(struct gate_queues *g); /* NULL is fine */

/* Not while anything waits.  limit 0 and gap 0: no gate. */
void gate_queues_set(struct gate_queues *g, uint32_t link, const struct gate_params *p);
bool gate_queues_any(const struct gate_queues *g); /* NULL: none */
/* Nobody inside, nobody waiting, times begin again. */
void gate_queues_clear(struct gate_queues *g);

/* May message `id` go over these links?  true: it entered.  false, *again_s finite: ask again then; false and
 * INFINITY: it waits in a queue, gate_queues_next() will name it. */
bool gate_queues_enter(struct gate_queues *g, const uint32_t *link, uint32_t hops, uint32_t id, double now_s,
                       double *again_s);
/* A message that entered is through. */
void gate_queues_leave(struct gate_queues *g, const uint32_t *link, uint32_t hops);

/* One that waits before a gate on these links that has room now, taken from its queue: ask for it again.
 * false: there is none. */
bool gate_queues_next(struct gate_queues *g, const uint32_t *link, uint32_t hops, double now_s, uint32_t *id);

#endif
