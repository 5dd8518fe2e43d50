/* window.h - memory that ranks offer to one another: what this one reads and writes in another's while that
 * one makes no call.
 *
 * Calls that pass data one-sidedly only begin to.  So an access lasts from MPI_Win_lock, or where all are
 * locked from the first call that passes data, until the unlock or flush by which it is complete at the
 * target, and has one event, RING_OP_ACCESS, whatever number of calls it is made of.  MPI_Win_flush_local
 * ends those that only read.  What is passed between fences, or between MPI_Win_start and MPI_Win_complete,
 * has none.
 *
 * A window's state belongs to the thread that locked it, until nothing is locked: what other threads do there
 * meanwhile, windows beyond WINDOWS_MAX and targets beyond WINDOW_TARGETS at once are counted as missed.
 * No function but window_made() allocates, and none waits. */
#ifndef SYNCGUARD_PROBE_WINDOW_H
#define SYNCGUARD_PROBE_WINDOW_H

#include "probe/comm.h"

#define WINDOWS_MAX    32u
#define WINDOW_TARGETS 32u /* that one window has accesses to at a time */
#define WINDOW_ALL     -1  /* in place of a target's rank */

/* The library made a window over c (NULL: unknown, and so is the window then). */
void window_made(const struct comm *c, handle win);
/* It is about to be freed. */
void window_ending(handle win);

/* Target, or WINDOW_ALL, is locked by a call that was entered at that time (ticks; 0: recording is off). */
void window_locked(handle win, int target, uint64_t enter);
/* A call that was entered at that time passed so many bytes. */
void window_passed(struct ring *r, handle win, int target, uint64_t enter, uint64_t read, uint64_t written);

enum window_end { WINDOW_FLUSHED_LOCALLY, WINDOW_FLUSHED, WINDOW_UNLOCKED };
/* The accesses to target, or WINDOW_ALL, are complete at that time (ticks). r NULL: recording is off. */
void window_completed(struct ring *r, handle win, int target, enum window_end how, uint64_t now);

#endif
