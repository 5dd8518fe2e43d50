#include "nodefigures/gpu.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"

/* The part of nvml.h that is used, after the NVML API reference.  Functions return 0 on success. */
typedef void *nvml_device;
enum {
    NVML_CLOCK_SM = 1,
    NVML_TEMPERATURE_GPU = 0,
    NVML_VOLATILE = 0, /* errors since the driver was loaded */
    NVML_ERROR_KINDS = 2,
    NVML_CORRECTED = 0,
    NVML_UNCORRECTED = 1
};
struct nvml_utilization {
    unsigned gpu, memory; /* percent */
};
struct nvml_pci {
    char bus_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct nvml_process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

struct gpu {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *n);
    int (*handle)(unsigned index, nvml_device *d);
    int (*clock)(nvml_device d, int type, unsigned *mhz);
    int (*max_clock)(nvml_device d, int type, unsigned *mhz);
    int (*temperature)(nvml_device d, int sensor, unsigned *c);
    int (*power)(nvml_device d, unsigned *mw);
    int (*throttle)(nvml_device d, unsigned long long *reasons);
    int (*utilization)(nvml_device d, struct nvml_utilization *u);
    int (*pci)(nvml_device d, struct nvml_pci *p);
    int (*processes)(nvml_device d, unsigned *n, struct nvml_process *p);
    int (*errors)(nvml_device d, int kind, int counter, unsigned long long *n);
    int (*mig)(nvml_device d, unsigned *now, unsigned *pending);
    bool ready;
    struct first { /* by index: errors at the first reading */
        bool known[NVML_ERROR_KINDS];
        unsigned long long n[NVML_ERROR_KINDS];
    } first[GPUS_MAX];
};

/* Of two names the later one in the table is the older one, and is taken where the other is not there. */
static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    { "nvmlInit_v2", offsetof(struct gpu, init) },
    { "nvmlShutdown", offsetof(struct gpu, shutdown) },
    { "nvmlDeviceGetCount_v2", offsetof(struct gpu, count) },
    { "nvmlDeviceGetHandleByIndex_v2", offsetof(struct gpu, handle) },
    { "nvmlDeviceGetClockInfo", offsetof(struct gpu, clock) },
    { "nvmlDeviceGetMaxClockInfo", offsetof(struct gpu, max_clock) },
    { "nvmlDeviceGetTemperature", offsetof(struct gpu, temperature) },
    { "nvmlDeviceGetPowerUsage", offsetof(struct gpu, power) },
    { "nvmlDeviceGetCurrentClocksEventReasons", offsetof(struct gpu, throttle) },
    { "nvmlDeviceGetCurrentClocksThrottleReasons", offsetof(struct gpu, throttle) },
    { "nvmlDeviceGetUtilizationRates", offsetof(struct gpu, utilization) },
    { "nvmlDeviceGetPciInfo_v3", offsetof(struct gpu, pci) },
    { "nvmlDeviceGetComputeRunningProcesses_v3", offsetof(struct gpu, processes) },
    { "nvmlDeviceGetComputeRunningProcesses_v2", offsetof(struct gpu, processes) },
    { "nvmlDeviceGetTotalEccErrors", offsetof(struct gpu, errors) },
    { "nvmlDeviceGetMigMode", offsetof(struct gpu, mig) },
};

struct gpu *gpu_open(const char *library)
{
    struct gpu *g = xcalloc(1, sizeof(*g));
    unsigned n;

    g->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!g->library)
        goto fail;
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
        void **function = (void **)((char *)g + symbols[i].offset);

        if (!*function)
            *function = dlsym(g->library, symbols[i].name);
    }
    if (!g->init || !g->shutdown || !g->count || !g->handle || g->init())
        goto fail;
    g->ready = true;
    if (g->count(&n) || !n)
        goto fail;
    return g;
fail:
    gpu_close(g);
    return NULL;
}

void gpu_close(struct gpu *g)
{
    if (!g)
        return;
    if (g->ready)
        g->shutdown();
    if (g->library)
        dlclose(g->library);
    free(g);
}

/* Since the first reading: a count that is smaller now was reset with the GPU, and all of it is new. */
static uint64_t errors_since(struct gpu *g, nvml_device d, size_t index, int kind)
{
    struct first *first = &g->first[index];
    unsigned long long n;

    if (!g->errors || g->errors(d, kind, NVML_VOLATILE, &n))
        return GPU_ERRORS_UNKNOWN;
    if (!first->known[kind])
        first->n[kind] = n;
    else if (n < first->n[kind])
        first->n[kind] = 0;
    first->known[kind] = true;
    return n - first->n[kind];
}

static void read_state(struct gpu *g, nvml_device d, struct gpu_state_item *s)
{
    unsigned now, pending;

    s->corrected = errors_since(g, d, s->index, NVML_CORRECTED);
    s->uncorrected = errors_since(g, d, s->index, NVML_UNCORRECTED);
    if (g->mig && !g->mig(d, &now, &pending) && now)
        s->flags |= GPU_STATE_PARTS;
}

static void read_device(const struct gpu *g, nvml_device d, struct gpu_figures *f)
{
    struct nvml_process p[GPU_PIDS_MAX] = { 0 };
    struct nvml_utilization u;
    struct nvml_pci pci = { .bus_id = "" };
    unsigned long long reasons;
    unsigned v, max, n = GPU_PIDS_MAX;

    if (g->clock && g->max_clock && !g->clock(d, NVML_CLOCK_SM, &v) &&
        !g->max_clock(d, NVML_CLOCK_SM, &max) && max) {
        f->item.clock_ratio = (float)v / (float)max;
        f->state.clock_mhz = (float)v;
        f->state.clock_max_mhz = (float)max;
    }
    if (g->temperature && !g->temperature(d, NVML_TEMPERATURE_GPU, &v))
        f->item.temperature_c = (float)v;
    if (g->power && !g->power(d, &v))
        f->item.power_w = (float)v * 1e-3f;
    if (g->throttle && !g->throttle(d, &reasons))
        f->item.throttle = (uint32_t)reasons;
    if (g->utilization && !g->utilization(d, &u))
        f->item.busy_ratio = (float)u.gpu * 1e-2f;
    if (g->pci && !g->pci(d, &pci))
        memcpy(f->bus, pci.bus_id, sizeof(f->bus) - 1);
    if (g->processes && !g->processes(d, &n, p) && n <= GPU_PIDS_MAX)
        for (unsigned i = 0; i < n; i++)
            f->pid[f->n_pids++] = p[i].pid;
}

size_t gpu_read(struct gpu *g, struct gpu_figures out[GPUS_MAX])
{
    size_t have = 0;
    nvml_device d;
    unsigned n;

    if (g->count(&n))
        return 0;
    for (unsigned i = 0; i < n && i < GPUS_MAX; i++) {
        if (g->handle(i, &d))
            continue;
        out[have] =
            (struct gpu_figures){ .item = { .index = (uint16_t)i,
                                            .clock_ratio = NAN,
                                            .temperature_c = NAN,
                                            .power_w = NAN,
                                            .busy_ratio = NAN },
                                  .state = { .index = (uint16_t)i, .clock_mhz = NAN, .clock_max_mhz = NAN } };
        read_device(g, d, &out[have]);
        read_state(g, d, &out[have++].state);
    }
    return have;
}
