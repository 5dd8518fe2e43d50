/* gpu_watch.h - a child process that reads the GPUs, so that a driver that hangs, or a library that crashes
 * or is large, is not the agent's trouble.  It dies with the agent, whatever ends that. */
#ifndef SYNCGUARD_AGENT_GPU_WATCH_H
#define SYNCGUARD_AGENT_GPU_WATCH_H

#include "agent/gpu.h"

struct gpu_watch;

/* Fork; before there is anything that a child must not have (event loops, threads).  NULL: no process, no
 * pipe. */
struct gpu_watch *gpu_watch_start(const char *library, double every_s);
void gpu_watch_stop(struct gpu_watch *w); /* NULL is fine; never waits for the child */

/* Take what came since the last time, the newest: how many GPUs.  0: nothing new, or there are none.  Never
 * waits. */
size_t gpu_watch_take(struct gpu_watch *w, struct gpu_figures out[GPUS_MAX]);
/* CPU time that the child used until what was taken last. */
double gpu_watch_cpu_s(const struct gpu_watch *w);

#endif
