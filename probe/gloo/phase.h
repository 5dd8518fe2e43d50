/* phase.h - the phases of a training's steps, as DistributedDataParallel's own calls show them.
 *
 * Its forward pass, the backward pass after it and the wait for gradients at its end begin with calls of
 * c10d::Reducer.  Between that end and the next forward pass are the optimizer and the input: there the time
 * in which the thread does not run is MARKS_INPUT, the rest MARKS_OTHER.  A step ends where the next forward
 * pass begins; forward passes without a synchronised backward pass (gradient accumulation, evaluation) do not
 * end one.
 *
 * Of several models the one that comes first has the steps, until another one comes twice without it. Nothing
 * is seen where gradients do not travel by Gloo: their device computes while the host goes on, so that the
 * host's times are not the step's. */
#ifndef SYNCGUARD_GLOO_PHASE_H
#define SYNCGUARD_GLOO_PHASE_H

#include "ring/marks.h"

/* The model with this reducer enters a phase: MARKS_FORWARD, MARKS_BACKWARD, MARKS_COMMUNICATION, or
 * MARKS_OTHER when the gradients are there. */
void phase_enter(const void *reducer, enum marks_phase phase);

#endif
