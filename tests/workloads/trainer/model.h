/* model.h - a character-level language model, small enough to train on a laptop:
 * the last `context` characters, each embedded, through one tanh layer to the odds of the next one
 * (Bengio et al., A Neural Probabilistic Language Model, 2003).
 *
 * Parameters lie in one flat array in the order in which the backward pass finishes their gradients (output
 * layer first), so that gradients can be reduced while earlier layers are still being computed.
 * No sums are reordered, no fast-math: the same input gives the same bits. */
#ifndef SYNCGUARD_WORKLOADS_MODEL_H
#define SYNCGUARD_WORKLOADS_MODEL_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct model_shape {
    int symbols, context, embed, hidden;
};

struct batch {
    int n, context;
    unsigned char *input;  /* n rows of context symbols, the oldest first */
    unsigned char *target; /* n symbols */
};

struct model; /* private to model.c */

/* For batches of up to max_batch rows; parameters drawn from the seed. */
struct model *model_new(const struct model_shape *shape, int max_batch, uint64_t seed);
void model_free(struct model *m);

size_t model_count(const struct model *m); /* of parameters */
float *model_parameters(struct model *m);
float *model_gradient(struct model *m);

/* Mean cross entropy of the batch, in nats. */
double model_forward(struct model *m, const struct batch *b);

/* After model_forward on the same batch: the gradient of the mean cross entropy times scale.
 * ready(arg, front) is called on the way: gradient[0..front) is final. */
typedef void model_ready_fn(void *arg, size_t front);
void model_backward(struct model *m, const struct batch *b, float scale, model_ready_fn *ready, void *arg);

/* The symbol that follows the last `context` ones, drawn at a temperature with u in [0, 1). */
int model_next(struct model *m, const unsigned char *last, double temperature, double u);

/* Counter-based random bits: no state to save, any step can be drawn again. */
uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index);
double random_unit(uint64_t seed, uint64_t stream, uint64_t index); /* in [0, 1) */

#endif
