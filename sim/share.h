/* share.h - max-min fair rates of flows that share links.
 *
 * Every flow gets the largest rate that takes nothing from a flow with less (progressive filling: Bertsekas
 * and Gallager, "Data Networks", 6.5.2).  Exact.  Re-solved for what a change can touch only: a link whose
 * flows could all go at full speed (each bounded by its own slowest link) binds nobody, and does not connect
 * its flows; a flow that meets no binding link costs O(hops).
 *
 * Bytes a second, in any unit that is kept to. */
#ifndef SYNCGUARD_SIM_SHARE_H
#define SYNCGUARD_SIM_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share;

struct share *share_new(uint32_t links); /* capacities are to be set */
void share_free(struct share *s);        /* NULL is fine */

/* At once, or, for links with flows, at the next solve. */
void share_set_capacity(struct share *s, uint32_t link, double capacity);
double share_capacity(const struct share *s, uint32_t link);

/* A flow over distinct links (at most 8; none: bound alone rules), at most at rate bound (INFINITY: unbound),
 * with a weight above 0 (1: all alike).  Its number, reused after removal. */
#define SHARE_HOPS_MAX 8u
uint32_t share_add(struct share *s, const uint32_t *link, uint32_t hops, double bound, double weight);
void share_remove(struct share *s, uint32_t flow);
void share_clear(struct share *s); /* all flows */

/* Brings the rates up to date.  The flows whose rate changed (new ones always), lent until the next call. */
size_t share_solve(struct share *s, const uint32_t **changed);
double share_rate(const struct share *s, uint32_t flow);

/* Does the flow meet another on a link? (up to date at once) */
bool share_meets(const struct share *s, uint32_t flow);
uint64_t share_solves(const struct share *s); /* problems of more than one flow solved so far */

#endif
