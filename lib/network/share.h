/* share.h - max-min fair rates of flows that share links.
 *
 * Every flow gets the largest rate that takes nothing from a flow with less (Bertsekas and Gallager, "Data
 * Networks", 6.5.2).  Exact.  The cost of a change is proportional to its effect: each link has a level, the
 * rate per unit of weight (none where its flows' other limits leave room), and each flow gets the minimum of
 * its links' levels.  A link whose flows arrived, left or changed their rates recomputes its level and
 * notifies the links of flows whose rate changes, in ascending order of levels, because lower levels decide.
 * This terminates with the unique solution: Charny, Clark and Jain, "Congestion control with explicit rate
 * indication", 1995, do the same in a network's switches.  A flow that meets no full link costs O(hops).
 *
 * Bytes per second, or any other unit used consistently. */
#ifndef SYNCGUARD_NETWORK_SHARE_H
#define SYNCGUARD_NETWORK_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share;

struct share *share_new(uint32_t links); /* set the capacities afterwards */
void share_free(struct share *s);        /* NULL is fine */

/* Takes effect at once, or, for links with flows, at the next share_solve(). */
void share_set_capacity(struct share *s, uint32_t link, double capacity);
double share_capacity(const struct share *s, uint32_t link);

/* A flow over 1 to SHARE_HOPS_MAX distinct links, with a weight above 0 (1: equal).  The caller chooses an
 * unused number; memory grows with the largest.  Returns whether it shares a link with another flow. */
#define SHARE_HOPS_MAX 6u
bool share_add(struct share *s, uint32_t flow, const uint32_t *link, uint32_t hops, double weight);
void share_remove(struct share *s, uint32_t flow);
void share_clear(struct share *s); /* all flows */

/* Updates the rates.  Returns the flows whose rate changed, new ones included, lent until the next call. */
size_t share_solve(struct share *s, const uint32_t **changed);
double share_rate(const struct share *s, uint32_t flow);

/* Does the flow share a link with another one?  Does not need share_solve(). */
bool share_meets(const struct share *s, uint32_t flow);

/* Total so far: changes that affected some link's level. */
uint64_t share_solves(const struct share *s);

#endif
