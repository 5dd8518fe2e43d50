/* launch.h - who a process is, where no library that it calls knows it: what its launcher and other guests in
 * it tell. */
#ifndef SYNCGUARD_RING_LAUNCH_H
#define SYNCGUARD_RING_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/ring.h"

/* Fills in task, program and topology, which depend on no library. */
void launch_process(struct ring_info *info);

/* Rank, world_rank and world_size by the environment that torchrun, Slurm or mpirun sets; false: none of them
 * did, or it says more than ranks_max. */
bool launch_rank(struct ring_info *info, uint32_t ranks_max);

/* Another guest in this process has made rings for this rank: fills in incarnation, which it shares. */
bool launch_has_rings(const char *dir, struct ring_info *info);

/* A guest tells the agent why it records nothing here, or not all: the agent makes a note of the step's of
 * it.  Cut to LAUNCH_NOTE_MAX. */
#define LAUNCH_NOTE_MAX    256u
#define LAUNCH_NOTE_SUFFIX ".note" /* of its file in the step's directory */
void launch_note(const char *dir, const char *text);
/* Agent: read that file.  False: it is none. */
bool launch_note_read(const char *dir, const char *name, char text[LAUNCH_NOTE_MAX]);

#endif
