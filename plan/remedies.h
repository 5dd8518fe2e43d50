/* remedies.h - what the scaling experiment tries on its job. */
#ifndef SYNCGUARD_PLAN_REMEDIES_H
#define SYNCGUARD_PLAN_REMEDIES_H

#include <stdbool.h>

#include "plan/trial.h"

/* The first REMEDIES_ALL_SIZES are simulated on all numbers of nodes. */
enum { REMEDY_UNCOORDINATED, REMEDY_PACING, REMEDY_GATED, REMEDIES_ALL_SIZES };
#define REMEDIES            14
#define REMEDIES_COLLECTIVE 7
extern const struct trial_remedy remedies[REMEDIES];
/* Collectives of eight ranks per node that share its work, in the fitted fabric without other traffic, to compare
 * where the bytes go. */
extern const struct trial_remedy remedies_collective[REMEDIES_COLLECTIVE];

/* Must it be simulated message by message?  In a job with one rank per node and a server all messages compete for the
 * server's link, and their order matters.  Others are left to "auto". */
bool remedies_need_exact(const struct trial_remedy *r);

#endif
