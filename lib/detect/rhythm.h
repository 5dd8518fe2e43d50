/* rhythm.h - does every k-th step of a program do more, on all ranks alike, from its start?  That is how it
 * was written (a neighbour list is built, a file is written), and no fault; oscillation.h looks for what
 * began later.
 *
 * The logs of the typical own works of the first steps are folded at each period (epoch folding: Leahy et al.
 * 1983): the shortest one whose phases explain the most of their variance, beyond what chance would, is the
 * rhythm, if the first two periods show it as well.  As many heavy steps in a row as light ones by turns are
 * none: that is an oscillation. It is looked for while the first steps are remembered, and is over when the
 * newest ones do not show it. */
#ifndef SYNCGUARD_DETECT_RHYTHM_H
#define SYNCGUARD_DETECT_RHYTHM_H

#include <stdbool.h>
#include <stdint.h>

#include "detect/work.h"

/* Do the phases of a period alternate between as many heavy ones in a row as light ones, several of each? */
bool rhythm_alternates(const double *phase, uint32_t period);

/* Look after work_take(); sets the work's rhythm.  stride: between the numbers (work_step.seq) of one step
 * and the next. */
void rhythm_step(struct work *w, uint32_t stride);

#endif
