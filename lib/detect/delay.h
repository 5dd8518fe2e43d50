/* delay.h - whose lateness the waiting in one collective is.
 *
 * Who arrived waits until the last one comes. Scalasca (Geimer et al., "The Scalasca performance toolset
 * architecture", 2010) calls that the wait at NxN, and the waiting that a rank causes in the others its delay
 * cost (Boehme et al., "Identifying the root causes of wait states in large-scale parallel applications",
 * ICPP 2010, TOPC 2016). There the waiting in a collective is traced to the rank that enters it last. Here
 * each stretch of it is shared equally by the ranks that are absent in it: of two ranks late by about the
 * same, the last alone would otherwise bear what neither could have saved alone, and which of them it is
 * changes from collective to collective. It is the fair share of a joint cost that grows with the largest one
 * (Littlechild & Owen, "A simple expression for the Shapley value in a special case", 1973), and a lone late
 * rank still bears all of it. The costs of a collective add up to its waits.
 *
 * Time grows linearly with the ranks. Units: seconds. */
#ifndef SYNCGUARD_DETECT_DELAY_H
#define SYNCGUARD_DETECT_DELAY_H

#include <stddef.h>
#include <stdint.h>

struct delay {
    float late_s; /* after the first arrival; at least 0, finite */
    float cost_s; /* out: the others' waiting that this rank answers for */
    uint32_t rank;
};

/* Fills in cost_s and orders d by lateness.  scratch: room for n more. */
void delay_share(struct delay *d, struct delay *scratch, size_t n);

#endif
