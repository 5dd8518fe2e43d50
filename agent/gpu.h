/* gpu.h - clocks, temperature, power and processes of a node's GPUs, from NVIDIA's management library where
 * it is.
 *
 * The library is loaded at run time and never needed: without it, or without a GPU, there is nothing.  Its
 * calls can hang with the driver; gpu_watch.h keeps that away from the agent's loop. */
#ifndef SYNCGUARD_AGENT_GPU_H
#define SYNCGUARD_AGENT_GPU_H

#include <stddef.h>
#include <stdint.h>

#define GPU_LIBRARY  "libnvidia-ml.so.1"
#define GPUS_MAX     16u
#define GPU_PIDS_MAX 16u

struct gpu_figures {
    uint16_t index;    /* NVML's */
    uint16_t n_pids;   /* processes that compute on it */
    uint32_t throttle; /* NVML's reasons, as bits */
    float clock_ratio; /* NaN: not told, as the others */
    float temperature_c, power_w, busy_ratio;
    char bus[32]; /* "00000000:3B:00.0"; "" */
    uint32_t pid[GPU_PIDS_MAX];
};

struct gpu;

/* NULL: the library or one of its functions is not there, or it finds no GPU. */
struct gpu *gpu_open(const char *library);
void gpu_close(struct gpu *g); /* NULL is fine */
/* Those that may be seen; returns how many. */
size_t gpu_read(struct gpu *g, struct gpu_figures out[GPUS_MAX]);

#endif
