/* model.h - a character-level language model, small enough to train on a laptop:
 * the last `context` characters, each embedded, through tanh layers to the odds of the next one
 * (Bengio et al., A Neural Probabilistic Language Model, 2003, with one such layer).
 *
 * A model may be one part of a larger one: some of its layers, that of another process before and behind
 * them. Parameters lie in one flat array in the order in which the backward pass finishes their gradients
 * (output layer first, embedding last), so that gradients can be reduced while earlier layers are still being
 * computed, and the arrays of all parts, the last part first, are the array of the whole. No sums are
 * reordered, no fast-math: the same input gives the same bits, cut into parts or not. */
#ifndef SYNCGUARD_WORKLOADS_MODEL_H
#define SYNCGUARD_WORKLOADS_MODEL_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct model_shape {
    int symbols, context, embed, hidden;
    int layers; /* of `hidden` units, 1 to MODEL_LAYERS_MAX */
};

#define MODEL_LAYERS_MAX 48

/* Layers first to end - 1; layer 0 brings the embedding, and number `layers` is the output layer. */
struct model_part {
    int first, end;
};

struct batch {
    int n, context;
    unsigned char *input;  /* n rows of context symbols, the oldest first */
    unsigned char *target; /* n symbols */
};

struct model; /* private to model.c */

struct model_part model_whole(const struct model_shape *shape);

/* Parameters are drawn from the seed.  A slot holds what a batch of up to max_batch rows needs between its
 * forward and its backward pass. */
struct model *model_new(const struct model_shape *shape, struct model_part part, int max_batch, int slots,
                        uint64_t seed);
void model_free(struct model *m);

size_t model_count(const struct model *m); /* of parameters */
float *model_parameters(struct model *m);
float *model_velocity(struct model *m); /* what model_update() remembers of earlier gradients */
float *model_gradient(struct model *m);

/* `hidden` numbers a row that a slot exchanges with the part below and the part above: what enters and leaves
 * in the forward pass; then, in place of them, the gradient that leaves below and enters above in the
 * backward pass. */
float *model_below(struct model *m, int slot);
float *model_above(struct model *m, int slot);

/* Adds each row's cross entropy, in nats, to *loss if the part has the output layer. */
void model_forward(struct model *m, int slot, const struct batch *b, double *loss);

/* After model_forward on the same batch: adds the gradient of the batch's cross entropy times scale.  The
 * gradient of several batches is that of one that holds all their rows, bit by bit, if each but the last has
 * a multiple of four. ready(arg, front) is called on the way: gradient[0..front) is final.  ready may be
 * NULL. */
typedef void model_ready_fn(void *arg, size_t front);
void model_backward(struct model *m, int slot, const struct batch *b, float scale, model_ready_fn *ready,
                    void *arg);
void model_clear_gradient(struct model *m);

/* Gradient descent with momentum. */
void model_update(struct model *m, float rate, float momentum);

/* The symbol that follows the last `context` ones, drawn at a temperature with u in [0, 1); of a whole model.
 */
int model_next(struct model *m, const unsigned char *last, double temperature, double u);

#endif
