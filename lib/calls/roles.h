/* roles.h - makes the work of ranks of different roles comparable: stages of a pipeline have different
 * amounts of it.
 *
 * A rank's level is what it mostly does in a step, once what all ranks do more or less of in that step is
 * taken away; its role's level is that of the lower half of the role's ranks, so that a slow one of two does
 * not raise it.  Ranks at one seat of all groups of their role (graph_seat()) that have more to do from the
 * start become a role of their own.  Work over the role's level is what detectors compare.  Pure; memory 40
 * bytes a rank. */
#ifndef SYNCGUARD_CALLS_ROLES_H
#define SYNCGUARD_CALLS_ROLES_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"
#include "model/interval.h"

struct roles;

struct roles *roles_new(void);
void roles_free(struct roles *r); /* NULL is fine */
void roles_reset(struct roles *r);

/* The next step: own_s[n] by rank, NaN where not known, becomes work over the role's level times the mean
 * level of all.  held[n]: ranks whose level stays what it is, because they are slow now; NULL: none.  false:
 * it is still being learnt. */
bool roles_take(struct roles *r, struct graph *g, float *own_s, uint32_t n, const bool *held);

/* The role with the most work, and how much it is over the other roles' median, minus 1.  A few ranks with
 * less than a tenth of its work serve it, and do not count.  GRAPH_NONE: there are no others. */
uint32_t roles_heaviest(const struct roles *r, double *excess);
/* A role's level over the mean of all, which roles_take() divides by; and over that median.  1 where there is
 * nothing to compare it with. */
double roles_of_mean(const struct roles *r, uint32_t role);
double roles_of_others(const struct roles *r, uint32_t role);
/* Standard error of that excess of the role, from how the ranks of a role differ, and the others' roles; and
 * its degrees of freedom. */
double roles_error(const struct roles *r, const struct graph *g, uint32_t role, double *freedom);
/* The same excess as the first steps show it one by one: of the rank of the role that has least to do over
 * the others.  Not known with fewer than five. */
struct interval roles_first_steps(const struct roles *r, const struct graph *g, uint32_t role);
uint32_t roles_steps(const struct roles *r); /* taken */

#endif
