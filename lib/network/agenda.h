/* agenda.h - a priority queue of numbered items, each with one time; the earliest comes first.
 *
 * Times are stored by item, with the minimum of every eight, of every eight of those, and so on: inserting or
 * moving an item takes few steps, mostly one, without mispredicted branches.  Numbers should be dense.  Items
 * that are due after one of a few fixed delays are kept in one queue per delay, which is cheaper still.
 *
 * Among items of equal time, those from agenda_set() come in the order of their numbers.  The order depends
 * on the calls only, so runs are reproducible. */
#ifndef SYNCGUARD_NETWORK_AGENDA_H
#define SYNCGUARD_NETWORK_AGENDA_H

#include <stdint.h>

struct agenda;

struct agenda *agenda_new(void);
void agenda_free(struct agenda *a); /* NULL is fine */

/* Insert the item or move it to another time; INFINITY removes it.  Not for items from agenda_after(). */
void agenda_set(struct agenda *a, uint32_t item, double time);
/* Insert a new item at now + delay; it stays until it is taken.  now must not decrease from call to call. */
void agenda_after(struct agenda *a, uint32_t item, double now, double delay);

/* When the first item is due; INFINITY: there is none. */
double agenda_first_s(const struct agenda *a);
/* Remove and return the first item; the agenda must not be empty. */
uint32_t agenda_take(struct agenda *a);

#endif
