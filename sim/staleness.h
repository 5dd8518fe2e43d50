/* staleness.h - bounded staleness: how far a rank may run ahead of the slowest one (Ho et al. 2013, stale
 * synchronous parallel).
 *
 * Pure.  Steps are counted from 0; bound 0 is the synchronous job. */
#ifndef SYNCGUARD_SIM_STALENESS_H
#define SYNCGUARD_SIM_STALENESS_H

#include <stdbool.h>
#include <stdint.h>

/* So many steps must the slowest rank have finished before anybody begins this one. */
uint64_t staleness_needs(uint64_t step, uint64_t bound);

#endif
