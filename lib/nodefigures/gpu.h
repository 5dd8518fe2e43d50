/* gpu.h - clocks, temperature, power, memory errors and processes of a node's GPUs, from NVIDIA's management
 * library (NVML).
 *
 * The library is loaded at run time; without it, or without a GPU, gpu_open() returns NULL.  What a driver
 * names otherwise than an older one is looked up by both names.  Its calls may hang with the driver, so
 * gpu_watch.h makes them in a child process.
 *
 * A GPU that is divided by MIG is one GPU: its parts share its clock, temperature, power and memory errors.
 */
#ifndef SYNCGUARD_NODEFIGURES_GPU_H
#define SYNCGUARD_NODEFIGURES_GPU_H

#include "wire/telemetry.h"

#define GPU_LIBRARY  "libnvidia-ml.so.1"
#define GPUS_MAX     16u
#define GPU_PIDS_MAX 16u

struct gpu_figures {
    struct gpu_item item;        /* rank and app are the caller's, ... */
    struct gpu_state_item state; /* ... and here; errors count from the first reading */
    uint16_t n_pids;             /* number of processes that compute on it */
    char bus[32];                /* "00000000:3B:00.0"; "": unknown */
    uint32_t pid[GPU_PIDS_MAX];
};

struct gpu;

/* NULL when the library or one of its functions is missing, or there is no GPU. */
struct gpu *gpu_open(const char *library);
void gpu_close(struct gpu *g); /* NULL is fine */
/* Read the GPUs that are visible to this user; returns how many. */
size_t gpu_read(struct gpu *g, struct gpu_figures out[GPUS_MAX]);

#endif
