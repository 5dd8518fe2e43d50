/* launch.h - who a process is, where no library that it calls knows it: what its launcher and other guests in
 * it tell. */
#ifndef SYNCGUARD_RING_LAUNCH_H
#define SYNCGUARD_RING_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ring/note.h"
#include "ring/ring.h"

/* Fills in task, program and topology, which depend on no library. */
void launch_process(struct ring_info *info);

/* Rank, world_rank and world_size by the environment that torchrun, srun or mpirun sets, the first of these
 * that did; false: none, or it says more than ranks_max. */
bool launch_rank(struct ring_info *info, uint32_t ranks_max);

/* Another guest in this process has made rings for this rank: fills in incarnation, which it shares. */
bool launch_has_rings(const char *dir, struct ring_info *info);

/* Leave a note (note.h) that is this process's: a later one of its own takes its place. */
void launch_note(const char *dir, const char *text);

#endif
