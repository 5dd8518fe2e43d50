/* GPUs, read through a stand-in for NVIDIA's library, and their NUMA nodes. */
#include "nodefigures/gpu.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nodefigures/gpu_watch.h"
#include "nodefigures/health.h"
#include "tests/tap.h"
#include "tests/tree.h"
#include "topology/locality.h"

static char library[4096], old_library[4096];

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#define ENDS_S 120 /* a limit that only a child that sends nothing comes near */

static size_t wait_for(struct gpu_watch *w, struct gpu_figures gpu[GPUS_MAX])
{
    double until = now_s() + ENDS_S;
    size_t n;

    while (!(n = gpu_watch_take(w, gpu)) && now_s() < until)
        usleep(5000);
    return n;
}

static void reading(void)
{
    struct gpu_figures gpu[GPUS_MAX];
    struct gpu *g;

    ok(!gpu_open("libthere-is-none.so.1"), "gpu_open() returns NULL without the library");
    ok(!gpu_open("libm.so.6"), "gpu_open() returns NULL for another library");
    g = gpu_open(library);
    if (!ok(g && gpu_read(g, gpu) == 2, "two GPUs are visible"))
        return;
    ok(near(gpu[0].item.clock_ratio, 1, 1e-6) && gpu[0].item.temperature_c == 60 && !gpu[0].item.throttle &&
           !gpu[0].n_pids,
       "the first GPU has its clock and temperature, and no throttling");
    ok(isnan(gpu[0].item.power_w) && isnan(gpu[0].item.busy_ratio),
       "figures that a GPU does not provide are unknown");
    ok(near(gpu[1].item.clock_ratio, 0.6, 1e-6) && near(gpu[1].item.power_w, 650.5, 1e-6) &&
           gpu[1].item.throttle == 0x40,
       "the second GPU is throttled");
    ok(gpu[1].n_pids == 1 && gpu[1].pid[0] == (uint32_t)getppid(),
       "the second GPU lists the process that uses it");
    is_str(gpu[1].bus, "00000000:3B:00.0", "the second GPU has its bus address");
    ok(gpu[1].state.index == 1 && gpu[1].state.clock_mhz == 1188 && gpu[1].state.clock_max_mhz == 1980,
       "the second GPU has its clock and the largest one");
    ok(gpu[0].state.corrected == GPU_ERRORS_UNKNOWN && gpu[0].state.uncorrected == GPU_ERRORS_UNKNOWN,
       "the first GPU's memory errors are not known, which is not that there are none");
    ok(gpu[1].state.corrected == 0 && gpu[1].state.uncorrected == 0,
       "memory errors of before the first reading do not count");
    gpu_read(g, gpu);
    ok(gpu[1].state.corrected == 40 && gpu[1].state.uncorrected == 2,
       "memory errors since the first reading count");
    ok(!gpu[1].state.flags, "a GPU that is not divided is not marked");
    gpu_close(g);
    setenv("FAKE_NVML_MIG", "1", 1);
    g = gpu_open(library);
    ok(g && gpu_read(g, gpu) == 2 && gpu[1].state.flags == GPU_STATE_PARTS,
       "a GPU that is divided by MIG is marked");
    gpu_close(g);
    unsetenv("FAKE_NVML_MIG");
    g = gpu_open(old_library);
    ok(g && gpu_read(g, gpu) == 2 && gpu[1].item.throttle == 0x08 && gpu[1].n_pids == 1,
       "a driver with the old names is read by them");
    gpu_close(g);
}

/* The driver of this child never answers: what waits for it does not return, and the test does not end. */
static void hanging(void)
{
    struct gpu_figures gpu[GPUS_MAX];
    double until = now_s() + ENDS_S;
    char hangs[4200];
    struct gpu_watch *w;
    int status = 0;
    pid_t pid;

    snprintf(hangs, sizeof(hangs), "%s/hangs", root);
    setenv("FAKE_NVML_HANG", hangs, 1);
    w = gpu_watch_start(library, 0.02, NULL);
    unsetenv("FAKE_NVML_HANG");
    while (access(hangs, F_OK) < 0 && now_s() < until)
        usleep(5000);
    ok(!access(hangs, F_OK) && !gpu_watch_take(w, gpu) && waitpid(-1, &status, WNOHANG) == 0,
       "gpu_watch_take() does not wait for a driver that hangs");
    gpu_watch_stop(w);
    while ((pid = waitpid(-1, &status, WNOHANG)) >= 0 && now_s() < until)
        usleep(5000);
    ok(pid < 0 && errno == ECHILD, "gpu_watch_stop() ends a child whose driver hangs");
}

static void leave(void)
{
    _exit(7);
}

static void watching(void)
{
    struct gpu_figures gpu[GPUS_MAX];
    struct gpu_watch *w = gpu_watch_start(library, 0.02, NULL);
    siginfo_t child = { 0 };
    int status = 0;

    ok(wait_for(w, gpu) == 2 && gpu[1].pid[0] == (uint32_t)getpid(), "the child process reads two GPUs");
    ok(wait_for(w, gpu) == 2 && gpu_watch_cpu_s(w) > 0,
       "the child process reads repeatedly and reports its CPU time");
    gpu_watch_stop(w);
    waitpid(-1, &status, 0);

    w = gpu_watch_start("libthere-is-none.so.1", 0.02, NULL);
    waitid(P_ALL, 0, &child, WEXITED | WNOWAIT); /* after its end nothing more can come */
    ok(child.si_code == CLD_EXITED && child.si_status == 0 && !gpu_watch_take(w, gpu),
       "a child process without the library sends no figures");
    gpu_watch_stop(w);
    waitpid(-1, &status, WNOHANG);

    w = gpu_watch_start(library, 0.02, leave);
    waitid(P_ALL, 0, &child, WEXITED | WNOWAIT);
    ok(child.si_code == CLD_EXITED && child.si_status == 7 && !gpu_watch_take(w, gpu),
       "the child process confines itself before it reads a GPU");
    gpu_watch_stop(w);
    waitpid(-1, &status, WNOHANG);
    hanging();
}

/* ---- NUMA nodes ---- */

static int numa_of(const struct locality *l, const char *text)
{
    struct cpuset cpus;

    cpuset_parse(&cpus, text);
    return locality_cpus(l, &cpus);
}

static void places(void)
{
    struct locality *l;

    put("sys/devices/system/node/node0/cpulist", "0-31\n");
    put("sys/devices/system/node/node1/cpulist", "32-63\n");
    put("sys/class/net/eth0/device/numa_node", "0\n");
    put("sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
    put("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
    put("sys/bus/pci/devices/0000:0a:00.0/numa_node", "-1\n");
    l = locality_new(root);
    ok(numa_of(l, "3,5") == 0 && numa_of(l, "32-63") == 1, "CPUs on one NUMA node have its number");
    ok(numa_of(l, "31-32") == -1 && numa_of(l, "") == -1, "CPUs on several NUMA nodes, or none, have -1");
    ok(locality_nic(l, 0) == 1 && locality_nic(l, 1) == 1,
       "with RDMA the adapter's NUMA node is that of the RDMA adapter");
    is_int(locality_pci(l, "00000000:3B:00.0"), 1, "a GPU's NUMA node is found by its bus address");
    ok(locality_pci(l, "0000:3b:00.0") == 1 && locality_pci(l, "0000:0a:00.0") == -1,
       "a device has a NUMA node only where the firmware knows it");
    ok(locality_pci(l, "../../../etc:x") == -1 && locality_pci(l, "") == -1,
       "an invalid bus address has no NUMA node");
    locality_free(l);
    l = locality_new("/nowhere");
    ok(numa_of(l, "0") == -1 && locality_nic(l, 0) == -1, "without /sys NUMA nodes are unknown");
    locality_free(l);
}

static struct telemetry_item told[8];
static size_t n_told;

static void take(const struct telemetry_item *item, void *arg)
{
    (void)arg;
    if (n_told < ARRAY_SIZE(told))
        told[n_told++] = *item;
}

static const struct telemetry_item *find(enum telemetry_kind kind)
{
    for (size_t i = n_told; i-- > 0;)
        if (told[i].kind == kind)
            return &told[i];
    return NULL;
}

static void look(struct health *h, double at_s)
{
    n_told = 0;
    health_rank(h, 5, 0, 100);
    health_look(h, at_s, take, NULL);
}

static void telling(void)
{
    struct gpu_figures gpu = {
        .item = { .index = 1, .clock_ratio = 0.6f }, .n_pids = 1, .pid = { 100 }, .bus = "00000000:3B:00.0"
    };
    struct health *h;

    put("proc/100/stat", "100 (t) R 1 1 1 0 1 0 1 0 0 0 0 0 0 0 20 0 1 0 77 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 17 "
                         "1 0 0 0 0 0 1 1 1 1 1 1 1 0");
    put("proc/100/status",
        "Pid:\t100\nUid:\t%u\t%u\nCpus_allowed_list:\t0-3\nvoluntary_ctxt_switches:\t0\nnonvoluntary_ctxt_"
        "switches:\t0\n",
        geteuid(), geteuid());
    h = health_new(root);
    look(h, 1);
    ok(find(TELEMETRY_TASK)->task.gpu == -1 && !find(TELEMETRY_GPU),
       "without a GPU no item of a GPU is sent");
    health_gpus(h, &gpu, 1);
    look(h, 2);
    ok(find(TELEMETRY_GPU) && find(TELEMETRY_GPU)->gpu.rank == 5 &&
           near(find(TELEMETRY_GPU)->gpu.clock_ratio, 0.6, 1e-6),
       "an item of a GPU is sent with its figures");
    ok(find(TELEMETRY_TASK)->task.gpu == 1 && find(TELEMETRY_TASK)->task.gpu_numa == 1 &&
           find(TELEMETRY_TASK)->task.numa == 0 && find(TELEMETRY_TASK)->task.nic_numa == 1,
       "a rank on another NUMA node than its GPU is marked");
    look(h, 9);
    ok(!find(TELEMETRY_GPU), "a GPU that was not read again is not sent again");
    ok(!find(TELEMETRY_GPU_STATE),
       "a controller that does not know the item of a GPU's state does not get it");
    health_newest_item(h, TELEMETRY_NEWEST);
    gpu.state =
        (struct gpu_state_item){ .index = 1, .clock_mhz = 1188, .clock_max_mhz = 1980, .uncorrected = 1 };
    health_gpus(h, &gpu, 1);
    look(h, 10);
    ok(find(TELEMETRY_GPU_STATE) && find(TELEMETRY_GPU_STATE)->gpu_state.rank == 5 &&
           find(TELEMETRY_GPU_STATE)->gpu_state.index == 1 &&
           find(TELEMETRY_GPU_STATE)->gpu_state.uncorrected == 1,
       "the state of a GPU is sent with its figures");
    gpu.state.uncorrected = 2;
    health_gpus(h, &gpu, 1);
    look(h, 11);
    ok(find(TELEMETRY_GPU_STATE) && find(TELEMETRY_GPU_STATE)->gpu_state.uncorrected == 2,
       "another memory error is sent at once");
    health_free(h);
}

/* A rank that computes on two GPUs. */
static void several(void)
{
    struct gpu_figures gpu[] = {
        { .item = { .index = 0, .clock_ratio = 0.98f },
          .n_pids = 1,
          .pid = { 100 },
          .bus = "00000000:0A:00.0" },
        { .item = { .index = 1, .clock_ratio = 0.97f },
          .n_pids = 1,
          .pid = { 100 },
          .bus = "00000000:3B:00.0" },
    };
    struct health *h = health_new(root);

    health_gpus(h, gpu, 2);
    look(h, 1);
    ok(find(TELEMETRY_TASK)->task.gpu == 0 && find(TELEMETRY_TASK)->task.flags & TASK_SEVERAL_GPUS,
       "of two GPUs that are alike a rank has the first, and it is said that there are more");
    gpu[1].item.clock_ratio = 0.6f;
    gpu[1].item.throttle = 0x40;
    health_gpus(h, gpu, 2);
    look(h, 9);
    ok(find(TELEMETRY_TASK) && find(TELEMETRY_TASK)->task.gpu == 1 &&
           find(TELEMETRY_TASK)->task.gpu_numa == 1,
       "of two GPUs a rank has the one that is held down");
    gpu[1].item.clock_ratio = 0.98f;
    gpu[1].item.throttle = 0;
    health_gpus(h, gpu, 2);
    look(h, 17);
    ok(find(TELEMETRY_TASK) && find(TELEMETRY_TASK)->task.gpu == 1,
       "it keeps that one when they are alike again");
    gpu[0].item.clock_ratio = 0.2f;
    gpu[0].item.throttle = 1;
    health_gpus(h, gpu, 2);
    look(h, 25);
    ok(find(TELEMETRY_TASK) && find(TELEMETRY_TASK)->task.gpu == 1,
       "the low clock of an idle GPU means nothing");
    health_gpus(h, &gpu[1], 1);
    look(h, 33);
    ok(find(TELEMETRY_TASK) && !(find(TELEMETRY_TASK)->task.flags & TASK_SEVERAL_GPUS),
       "a rank that computes on one GPU has one");
    health_free(h);
}

int main(void)
{
    const char *top = getenv("top_builddir");

    snprintf(library, sizeof(library), "%s/tests/agent/.libs/fake_nvml.so", top ? top : ".");
    snprintf(old_library, sizeof(old_library), "%s/tests/agent/.libs/fake_nvml_old.so", top ? top : ".");
    tree_new();
    reading();
    watching();
    places();
    telling();
    several();
    tree_remove();
    return done_testing();
}
