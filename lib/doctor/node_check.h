/* node_check.h - asks Slurm whether nodes exist, before a person is asked to confirm an action on them. */
#ifndef SYNCGUARD_DOCTOR_NODE_CHECK_H
#define SYNCGUARD_DOCTOR_NODE_CHECK_H

#include "common/err.h"

/* Run `scontrol show node NODES` for at most 5 s; nodes is a list in Slurm's notation.  0: it knows them all,
 * or it is not installed here, fails otherwise or does not end in time: then the action's outcome says what
 * is wrong. -1: it does not know a node; err holds its words. */
int node_check(const char *nodes, struct err *err);

#endif
