/* already.h - in how many steps before a straggler's onset it was slow, too.
 *
 * The first steps of a job, from which roles and levels are learnt, are not judged, so that who is slow in
 * the first one that is judged may have been so before.  The graph has some of them: each rank's work there
 * is compared with what it took at the same places since the onset, and that with the same of all other
 * ranks, so that what all do more of (a warm-up) counts for nothing.  Pure; memory for the call. */
#ifndef SYNCGUARD_CALLS_ALREADY_H
#define SYNCGUARD_CALLS_ALREADY_H

#include <stdbool.h>
#include <stdint.h>

#include "detect/pricing.h"
#include "graph/graph.h"

/* Steps before number `from` in which ranks that is_one() says true of were slower by that excess, as they
 * are since then.  INFINITY: in all that are remembered, as far as chance lets it be known; NaN: too little
 * is known; PRICING_FORGOTTEN: there are none any more. */
double already_steps(const struct graph *g, uint32_t from, double excess, uint32_t ranks,
                     bool (*is_one)(uint32_t rank, const void *arg), const void *arg);

#endif
