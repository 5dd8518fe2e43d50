/* share.h - max-min fair rates of flows that share links.
 *
 * Every flow gets the largest rate that takes nothing from a flow with less (Bertsekas and Gallager, "Data
 * Networks", 6.5.2).  Exact.  A change costs what it changes: each link has a level, what a unit of weight
 * gets there (none where its flows' other limits leave room), and each flow the least of its links' levels
 * and its own bound.  A link whose flows came, went or changed their rates finds its level anew, and tells
 * the links of those flows that get another rate; those with low levels first, for what is lower decides.
 * That ends, with the one solution there is: Charny, Clark and Jain, "Congestion control with explicit rate
 * indication", 1995, do the same in a network's switches.  A flow that meets no full link costs O(hops).
 *
 * Bytes a second, in any unit that is kept to. */
#ifndef SYNCGUARD_NETWORK_SHARE_H
#define SYNCGUARD_NETWORK_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share;

struct share *share_new(uint32_t links); /* capacities are to be set */
void share_free(struct share *s);        /* NULL is fine */

/* At once, or, for links with flows, at the next solve. */
void share_set_capacity(struct share *s, uint32_t link, double capacity);
double share_capacity(const struct share *s, uint32_t link);

/* A flow over distinct links (at most 6; none: bound alone rules), at most at rate bound (INFINITY: unbound),
 * with a weight above 0 (1: all alike).  The number is the caller's, and not in use; memory goes with the
 * largest.  Does it meet another flow on a link? */
#define SHARE_HOPS_MAX 6u
bool share_add(struct share *s, uint32_t flow, const uint32_t *link, uint32_t hops, double bound,
               double weight);
void share_remove(struct share *s, uint32_t flow);
void share_clear(struct share *s); /* all flows */

/* Brings the rates up to date.  The flows whose rate changed (new ones always), lent until the next call. */
size_t share_solve(struct share *s, const uint32_t **changed);
double share_rate(const struct share *s, uint32_t flow);

/* Does the flow meet another on a link? (up to date at once) */
bool share_meets(const struct share *s, uint32_t flow);

/* What was done so far: changes that some link's level hung on; levels found. */
uint64_t share_solves(const struct share *s);
uint64_t share_levels(const struct share *s);

#endif
