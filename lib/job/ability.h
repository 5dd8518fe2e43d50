/* ability.h - whether an action can be done to a step, by what is known of the step; and if not, why.
 *
 * What people are asked to confirm, dry runs, rules and the actions themselves ask this one question, so that
 * none of them promises what another refuses.  What is not known stands in no action's way: then Slurm has
 * the last word.  Pure. */
#ifndef SYNCGUARD_JOB_ABILITY_H
#define SYNCGUARD_JOB_ABILITY_H

#include "common/err.h"
#include "rules/action.h"

struct job;

/* 0, or -1 with the reason.  signal: of ACTION_SIGNAL; 0: it is sent whatever it does to the program. */
int ability_check(const struct job *j, enum action_kind kind, int signal, struct err *err);

#endif
