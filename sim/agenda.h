/* agenda.h - what happens when: numbered items, each with one time, the first one first.
 * Items of one time come in the order of their numbers, so that runs repeat. */
#ifndef SYNCGUARD_SIM_AGENDA_H
#define SYNCGUARD_SIM_AGENDA_H

#include <stdbool.h>
#include <stdint.h>

struct agenda;

struct agenda *agenda_new(void);
void agenda_free(struct agenda *a); /* NULL is fine */

/* Put the item in, or move it to another time. */
void agenda_set(struct agenda *a, uint32_t item, double time);
bool agenda_first(const struct agenda *a, uint32_t *item, double *time); /* false: empty */
void agenda_drop(struct agenda *a);                                      /* the first one */

#endif
