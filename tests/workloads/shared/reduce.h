/* reduce.h - the collectives of training: the gradient in buckets, and single numbers.
 * Buckets cover the flat gradient in the order in which it becomes final: the first is half as large, so that
 * the reduction starts early, the last takes the remainder. With inner groups each bucket is summed inside
 * the group first, then across the groups. */
#ifndef SYNCGUARD_WORKLOADS_REDUCE_H
#define SYNCGUARD_WORKLOADS_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/workloads/shared/world.h"

struct reduce_plan {
    const struct world *world;
    MPI_Comm comm; /* whose members sum their gradients; theirs must be as long */
    int buckets;
    int inner;    /* ranks a group; 0: no groups */
    bool overlap; /* start a bucket and go on computing; else wait for it at once */
};

struct reduce; /* private to reduce.c */

/* Collective over comm; the plan fits the number of its members (the caller has checked). */
struct reduce *reduce_new(const struct reduce_plan *plan, float *gradient, size_t count);
void reduce_free(struct reduce *r);

/* gradient[0..front) is final: reduces the buckets that are complete now.  arg: struct reduce * */
void reduce_ready(void *arg, size_t front);
/* After the last reduce_ready: returns when every bucket is summed. */
void reduce_finish(struct reduce *r);

/* The sum over all ranks of the job of n numbers, in place. */
void reduce_sum(struct reduce *r, double *value, int n);

/* Seconds spent in this module since the last call. */
double reduce_spent_s(struct reduce *r);

#endif
