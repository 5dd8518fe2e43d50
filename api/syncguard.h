/* syncguard.h - for programs that synchronise their ranks once a step: hear when a checkpoint is due, tell what
 * it costs and how many samples a step has.
 *
 * Link with -lsyncguard (pkg-config syncguard).  Works in any program: where no guard watches the job, nothing
 * is due and each call costs some nanoseconds.  None of these functions prints, exits, blocks, changes errno or
 * sends a message; none may be called by two threads at a time.  See syncguard(3).
 *
 *     while (train_step()) {
 *         sg_samples(batch);
 *         if (sg_checkpoint_due()) {
 *             sg_checkpoint_begin();
 *             int ok = save() == 0;
 *             sg_checkpoint_end(ok);
 *         }
 *     }
 */
#ifndef SYNCGUARD_H
#define SYNCGUARD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every rank calls this once a step, at the same place of its loop: the calls are counted, and all ranks hear
 * 1 at the same one.  0: go on. */
int sg_checkpoint_due(void);

/* Around the writing of a checkpoint, whoever asked for it; ok: it was written.  What lies between is what a
 * checkpoint costs the job, so a rank that waits for another one's writing is inside, too. */
void sg_checkpoint_begin(void);
void sg_checkpoint_end(int ok);

/* This rank has worked on so many samples since the last call. */
void sg_samples(uint64_t n);

/* The program was told that it will be ended soon (Slurm sends SIGTERM when it preempts): a last checkpoint is
 * asked for at the next step that all ranks can hear it at.  May be called in a signal handler. */
void sg_preempted(void);

/* 1: a guard watches this process.  For messages only; nothing need depend on it. */
int sg_guarded(void);

#ifdef __cplusplus
}
#endif

#endif
