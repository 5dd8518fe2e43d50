/* syncguard.h - for programs that synchronise their ranks once a step: asks whether a checkpoint is due, and
 * reports what checkpoints cost, how many samples a step has, what its time goes to, and whether the loss is
 * still a number.
 *
 * Link with -lsyncguard (pkg-config syncguard).  Works in any program: in a job that is not guarded no
 * checkpoint is due, and a call takes a few nanoseconds.  None of these functions prints, exits, blocks,
 * changes errno or sends a message.  Only one thread at a time may call them.  See syncguard(3).
 *
 *     while (train_step()) {
 *         sg_samples(batch); if (sg_checkpoint_due()) {
 *             sg_checkpoint_begin(); int ok = save() == 0; sg_checkpoint_end(ok);
 *         }
 *     } */
#ifndef SYNCGUARD_H
#define SYNCGUARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether to write a checkpoint now: 1 or 0.  Every rank must call this once a step, at the same place of its
 * loop. Calls are counted, and all ranks get 1 in the same call. */
int sg_checkpoint_due(void);

/* Call these before and after writing a checkpoint, whoever asked for it.  ok: not 0 if it was written.  The
 * time between them counts as the cost, so ranks that wait for another rank's writing must call them too. */
void sg_checkpoint_begin(void);
void sg_checkpoint_end(int ok);

/* Report that this rank has processed n samples since the last call. */
void sg_samples(uint64_t n);

/* The phases of a step. */
enum sg_phase {
    SG_OTHER, /* none of the others */
    SG_INPUT, /* waits for input data */
    SG_FORWARD,
    SG_BACKWARD,
    SG_COMMUNICATION, /* waits for communication, and computes nothing meanwhile */
    SG_OPTIMIZER
};

/* From now on this rank is in that phase, until the next call.  Returns the phase before, to go back to it
 * where one is inside of another. */
int sg_phase(int phase);

/* A step ends here, and the next one begins.  Phases are reported of whole steps; what comes before the first
 * call belongs to none. */
void sg_step(void);

/* Report the loss, and the norm of the gradient, of this rank.  Call these once a step each: calls are
 * counted, so that the rank is found on which a value was first infinite, or not a number. */
void sg_loss(double value);
void sg_grad_norm(double value);

/* Report that the program will soon be ended, as after the SIGTERM that Slurm sends before preemption.  A
 * last checkpoint is then due at the next step that all ranks can still reach.  May be called in a signal
 * handler. */
void sg_preempted(void);

/* 1 if this process is guarded, else 0.  For messages only. */
int sg_guarded(void);

#ifdef __cplusplus
}
#endif

#endif
