/* communicators.h - a view's communicators: their samples are joined into collectives. */
#ifndef SYNCGUARD_VIEW_COMMUNICATORS_H
#define SYNCGUARD_VIEW_COMMUNICATORS_H

#include "calls/exchange.h"
#include "view/comms.h"
#include "view/join.h"
#include "view/quota.h"
#include "view/roster.h"
#include "view/sums.h"
#include "view/view.h"

struct communicators;

/* A collective was joined that shows who waited for whom, in a communicator of so many ranks, the largest one
 * or not.  Returns what it adds to the sums of those who waited. */
typedef struct joined_sums communicators_on_joined(void *arg, const struct joined *j, uint32_t size,
                                                   bool main);

/* What is given is lent. */
struct communicators *communicators_new(struct quota *quota, struct roster *roster, const struct sums *sums,
                                        communicators_on_joined *on_joined, void *arg);
void communicators_free(struct communicators *s);
void communicators_forget(struct communicators *s);
void communicators_forget_one(struct communicators *s, uint64_t name);
void communicators_call(struct communicators *s, uint64_t name, const char *label); /* see view_comm_call() */

/* Who is in a communicator, where its description only bounds that (RING_COMM_BOUNDED), is known by what its
 * members say of themselves, one after the other. Two that claim one place, or one that claims two, are of
 * two communicators of the same name: it is disputed, and tells nothing from then on.  After all its members
 * have freed it the name may come again, for other members. */
void communicators_take(struct communicators *s, const struct comm_item *i);
void communicators_take_end(struct communicators *s, const struct comm_end_item *i);
void communicators_take_sample(struct communicators *s, const struct sample *i);
/* The run is over: collectives that wait for members to be announced are joined as they are. */
void communicators_finish(struct communicators *s);
void communicators_end_rank(struct communicators *s, uint32_t rank);
void communicators_roll(struct communicators *s, double now_s);
void communicators_fade(struct communicators *s); /* a column of history is over */
/* see struct view_position */
void communicators_position(const struct communicators *s, struct view_spent of_size[VIEW_SIZES_MAX]);
void communicators_go_on(struct communicators *s, const struct view_spent of_size[VIEW_SIZES_MAX]);

uint64_t communicators_joined(const struct communicators *s); /* collectives, of all */
/* none of its collectives shows who waits for whom */
bool communicators_unseen(const struct communicators *s);
/* of the largest one with a sample */
uint32_t communicators_main_size(const struct communicators *s);
uint32_t communicators_of_size(const struct communicators *s, uint32_t size); /* how many */
/* The name of the communicator that stands for it and those of the same members; its own where it is among
 * the first of them. */
uint64_t communicators_series(const struct communicators *s, uint64_t name);
uint32_t communicators_size(const struct communicators *s, uint64_t name); /* 0: unknown */
/* The rank at that place in it; UINT32_MAX: not known, or not yet. */
uint32_t communicators_rank(const struct communicators *s, uint64_t name, uint32_t place);
bool communicators_disputed(const struct communicators *s, uint64_t name);
uint64_t communicators_disputes(const struct communicators *s); /* so far */
/* members that have said that they are; 0: unknown */
uint32_t communicators_announced(const struct communicators *s, uint64_t name);
bool communicators_member(const struct communicators *s, uint64_t name, uint32_t rank);
/* The rank that has announced itself at a place, while others may not have; UINT32_MAX: none has. */
uint32_t communicators_member_at(const struct communicators *s, uint64_t name, uint32_t place);
/* How far a member is known to have come: the newest collective that it has left, by its samples or as
 * communicators_reached() said, and the newest that it has called.  UINT32_MAX: not known. */
struct communicators_progress {
    uint32_t left, called;
};
struct communicators_progress communicators_progress(const struct communicators *s, uint64_t name,
                                                     uint32_t rank);
void communicators_reached(struct communicators *s, uint64_t name, uint32_t rank, uint32_t left,
                           uint32_t called);            /* see view_comm_reached() */
bool communicators_told(const struct communicators *s); /* communicators_reached() said it of some */
/* as view_comm_label() */
char *communicators_label(const struct communicators *s, uint64_t name, char *buf, size_t size);
/* As view_comms_get(); main: the communicator that steps are counted on. */
size_t communicators_rows(const struct communicators *s, double now_s, uint64_t main, struct view_comm *out,
                          size_t max);

/* Which ranks are in it; and with the bytes of its collectives: of those that a ring does, and of others. The
 * latter returns how many. */
struct exchange_comm communicators_shape(const struct communicators *s, uint64_t name);
size_t communicators_exchanged(const struct communicators *s, uint64_t name, struct exchange_comm out[2]);
bool communicators_by_ring(uint8_t op); /* is it done by a ring, or by what needs the same neighbours? */

#endif
