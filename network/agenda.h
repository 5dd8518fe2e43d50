/* agenda.h - what happens when: numbered items, each with one time, the first one first.
 *
 * Times are kept by item, with the least of each eight, of each eight of those, and so on: to put an item in
 * or move it takes few steps, mostly one, and none that a processor mispredicts.  Numbers should be dense.
 * Items that follow a moment by one of a few delays stand in a queue for each delay, which costs less still.
 *
 * Of items of one time those with a time of their own come by number; in all, the order depends on nothing
 * but the calls: runs repeat. */
#ifndef SYNCGUARD_NETWORK_AGENDA_H
#define SYNCGUARD_NETWORK_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

struct agenda;

struct agenda *agenda_new(void);
void agenda_free(struct agenda *a); /* NULL is fine */

/* Put the item in, or move it to another time; infinity: take it out.  Not one that agenda_after() put in. */
void agenda_set(struct agenda *a, uint32_t item, double time);
/* Put an item in that is not there, to stay until it is taken: at now + delay.  now never falls from one call
 * to the next. */
void agenda_after(struct agenda *a, uint32_t item, double now, double delay);

/* When the first item is due; INFINITY: there is none. */
double agenda_first_s(const struct agenda *a);
/* Take the first item out; there is one. */
uint32_t agenda_take(struct agenda *a);

#endif
