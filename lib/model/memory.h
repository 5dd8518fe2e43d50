/* memory.h - memory for parameters, gradients and optimiser state on each rank.  Pure. */
#ifndef SYNCGUARD_MODEL_MEMORY_H
#define SYNCGUARD_MODEL_MEMORY_H

/* Bytes per parameter of mixed-precision Adam: 2 weights, 2 gradients, 12 optimiser; ZeRO stage 1 distributes
 * the optimiser over the ranks, 2 the gradients too, 3 everything (Rajbhandari et al., SC 2020): 16; 4 +
 * 12/n; 2 + 14/n; 16/n. */
double memory_bytes_per_parameter(int zero_stage, double ranks);

/* Minimum number of ranks at which bytes_per_rank suffice; infinity: no number does. */
double memory_ranks_needed(int zero_stage, double parameters, double bytes_per_rank);

#endif
