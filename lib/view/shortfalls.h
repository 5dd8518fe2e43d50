/* shortfalls.h - which of a view's communicators are slower from the start than they should be, in words. */
#ifndef SYNCGUARD_VIEW_SHORTFALLS_H
#define SYNCGUARD_VIEW_SHORTFALLS_H

#include "view/comms.h"
#include "view/communicators.h"
#include "view/events.h"
#include "view/join.h"
#include "view/roster.h"

struct shortfalls;
/* lent */
struct shortfalls *shortfalls_new(const struct roster *roster, const struct communicators *communicators,
                                  struct events *events);
void shortfalls_free(struct shortfalls *s); /* NULL is fine */
void shortfalls_forget(struct shortfalls *s);
/* ranks: members of the communicator that it was joined in */
void shortfalls_take_joined(struct shortfalls *s, uint32_t ranks, const struct joined *j);
/* bytes_per_s: what a node's adapters send together; 0: not known. */
void shortfalls_judge(struct shortfalls *s, double now_s, double bytes_per_s);
/* as view_shortfalls_get() */
size_t shortfalls_get(const struct shortfalls *s, const struct view_shortfall **list);

#endif
