/* gpu_watch.h - a child process that reads the GPUs, so that a driver that hangs or a library that crashes
 * does not affect the caller.  It ends when the caller ends, for whatever reason. */
#ifndef SYNCGUARD_NODEFIGURES_GPU_WATCH_H
#define SYNCGUARD_NODEFIGURES_GPU_WATCH_H

#include "nodefigures/gpu.h"

struct gpu_watch;

/* Fork the child.  Call it before making event loops or threads, which a child must not inherit.  The child
 * calls confine once the library is open, to give up what reading does not need; NULL: nothing.  NULL when
 * the process or its pipe cannot be made. */
struct gpu_watch *gpu_watch_start(const char *library, double every_s, void (*confine)(void));
void gpu_watch_stop(struct gpu_watch *w); /* NULL is fine; never waits for the child */

/* Take the newest figures that have arrived since the last call; returns the number of GPUs, 0 if nothing is
 * new. Never waits. */
size_t gpu_watch_take(struct gpu_watch *w, struct gpu_figures out[GPUS_MAX]);
/* CPU time that the child had used when it sent the figures that were taken last. */
double gpu_watch_cpu_s(const struct gpu_watch *w);

#endif
