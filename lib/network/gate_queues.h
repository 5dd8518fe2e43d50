/* gate_queues.h - gates before links: a maximum number of messages at a time and a minimum time between them,
 * with a queue, first come, first served.
 *
 * A message enters all gates of its route at once, or waits, in order of arrival, at one that is closed.  No
 * message holds one gate while it waits for another, so there is no deadlock.
 *
 * Gates are for messages that arrive one by one, such as those to a parameter server or of a shard.  They
 * must not guard a collective that ends when the last rank has entered: ranks inside would wait for ranks
 * that wait outside. */
#ifndef SYNCGUARD_NETWORK_GATE_QUEUES_H
#define SYNCGUARD_NETWORK_GATE_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

struct gate_queues;

struct gate_queues *gate_queues_new(uint32_t links);
void gate_queues_free(struct gate_queues *g); /* NULL is fine */

/* limit: messages inside at a time, 0: any number; gap_s: from one entry to the next; both 0: no gate.  Must
 * not be called while a message waits. */
void gate_queues_set(struct gate_queues *g, uint32_t link, uint32_t limit, double gap_s);
bool gate_queues_any(const struct gate_queues *g); /* NULL: none */
/* Removes all messages, inside and waiting, and resets the times. */
void gate_queues_clear(struct gate_queues *g);

/* Message `id` asks for these links.  true: it entered.  false and *again_s finite: call again at that time.
 * false and INFINITY: it waits in a queue, and gate_queues_next() will return it. */
bool gate_queues_enter(struct gate_queues *g, const uint32_t *link, uint32_t hops, uint32_t id, double now_s,
                       double *again_s);
/* A message that entered has been transferred. */
void gate_queues_leave(struct gate_queues *g, const uint32_t *link, uint32_t hops);

/* Removes a message from the queue of a gate on these links that has room now; call gate_queues_enter() for
 * it. false: there is none. */
bool gate_queues_next(struct gate_queues *g, const uint32_t *link, uint32_t hops, double now_s, uint32_t *id);

#endif
