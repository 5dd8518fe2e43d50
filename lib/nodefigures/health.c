#include "nodefigures/health.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodefigures/connections.h"
#include "nodefigures/health_node.h"
#include "nodefigures/health_task.h"
#include "common/xalloc.h"
#include "topology/locality.h"

#define GPU_LOWER 0.05f /* of the largest clock */

struct member {
    struct health_task *task;
    uint32_t rank;
    uint16_t app;
    pid_t pid;
    bool named, seen; /* named since the last look; visible in the last look */
    struct task_item reported;
    double last_report_s;
    uint64_t endured; /* as reported last */
    double signals_s; /* when that was */
};

struct health {
    const char *root;
    struct health_node *node;
    struct locality *locality;
    struct member *member;
    size_t n, cap, cursor; /* cursor: where the next rank is expected, as the order is usually the same */
    bool changed;          /* the set of ranks or the CPUs they may run on have changed */
    struct node_item reported;
    double last_report_s;
    struct gpu_figures gpu[GPUS_MAX];
    int16_t gpu_numa[GPUS_MAX];
    size_t n_gpus;
    bool gpus_new;
    struct gpu_item gpu_reported[GPUS_MAX];
    struct gpu_state_item state_reported[GPUS_MAX];
    double gpu_reported_s[GPUS_MAX];
    bool states;                     /* wanted */
    struct connections *connections; /* NULL: not wanted */
    bool signals;                    /* wanted */
    float own[CPUSET_MAX];           /* CPU seconds per second that the ranks use of each CPU */
};

struct health *health_new(const char *root)
{
    struct health *h = xcalloc(1, sizeof(*h));

    h->root = root;
    h->node = health_node_new(root);
    h->locality = locality_new(root);
    h->last_report_s = -INFINITY;
    return h;
}

void health_free(struct health *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->n; i++)
        health_task_free(h->member[i].task);
    free(h->member);
    health_node_free(h->node);
    locality_free(h->locality);
    connections_free(h->connections);
    free(h);
}

void health_rank(struct health *h, uint32_t rank, uint16_t app, pid_t pid)
{
    struct member *m;

    for (size_t i = 0; i < h->n; i++) {
        size_t at = (h->cursor + i) % h->n;

        m = &h->member[at];
        if (m->rank == rank && m->app == app) {
            m->named = true;
            h->cursor = at + 1;
            return;
        }
    }
    if (h->n == HEALTH_RANKS_MAX)
        return;
    h->member = xgrow(h->member, &h->cap, h->n + 1, sizeof(*h->member));
    h->member[h->n++] = (struct member){ .task = health_task_new(h->root, rank, app, pid),
                                         .rank = rank,
                                         .app = app,
                                         .pid = pid,
                                         .named = true,
                                         .last_report_s = -INFINITY,
                                         .signals_s = -INFINITY };
    if (h->n == 1)
        health_node_cgroup(h->node, pid);
    h->changed = true;
}

static void forget_gone(struct health *h)
{
    size_t kept = 0;

    for (size_t i = 0; i < h->n; i++) {
        if (!h->member[i].named) {
            health_task_free(h->member[i].task);
            h->changed = true;
            continue;
        }
        h->member[i].named = false;
        h->member[kept++] = h->member[i];
    }
    h->n = kept;
}

/* ---- sharing of CPUs ---- */

/* Whether the ranks that may run only on this set are more than its CPUs, so that Hall's condition fails for
 * the set. */
static bool outnumbered(const struct health *h, const struct cpuset *cpus)
{
    uint32_t n = 0;

    for (size_t i = 0; i < h->n && n <= cpus->n; i++)
        n += h->member[i].seen && cpuset_within(health_task_cpus(h->member[i].task), cpus);
    return n > cpus->n;
}

static void place_ranks(struct health *h)
{
    struct cpuset all = { 0 };

    for (size_t i = 0; i < h->n; i++) {
        const struct cpuset *cpus = health_task_cpus(h->member[i].task);
        struct task_item *item = health_task_item(h->member[i].task);

        cpuset_or(&all, cpus);
        item->numa = (int16_t)locality_cpus(h->locality, cpus);
        item->nic_numa = (int16_t)locality_nic(h->locality, item->numa);
        item->flags = cpus->n && outnumbered(h, cpus) ? TASK_SHARED_CPU : 0;
    }
    health_node_cpus(h->node, &all);
    h->changed = false;
}

/* Spread each rank's CPU time evenly over the CPUs that it may run on.  CPU time used beyond that belongs to
 * other processes. */
static void find_foreign(struct health *h)
{
    memset(h->own, 0, sizeof(h->own));
    for (size_t i = 0; i < h->n; i++) {
        const struct cpuset *cpus = health_task_cpus(h->member[i].task);
        float used = health_task_item(h->member[i].task)->cpu_ratio;

        if (!h->member[i].seen || !cpus->n || isnan(used)) /* then the others' share cannot be separated */
            return;
        for (uint32_t cpu = cpuset_next(cpus, 0); cpu < CPUSET_MAX; cpu = cpuset_next(cpus, cpu + 1))
            h->own[cpu] += used / (float)cpus->n;
    }
    for (size_t i = 0; i < h->n; i++) {
        const struct cpuset *cpus = health_task_cpus(h->member[i].task);
        double foreign = 0;

        for (uint32_t cpu = cpuset_next(cpus, 0); cpu < CPUSET_MAX; cpu = cpuset_next(cpus, cpu + 1))
            foreign += health_node_busy(h->node, cpu) - (double)h->own[cpu];
        health_task_item(h->member[i].task)->foreign_ratio =
            cpus->n ? (float)(foreign < 0 ? 0 : foreign / cpus->n) : NAN;
    }
}

/* ---- GPUs ---- */

void health_gpus(struct health *h, const struct gpu_figures *gpu, size_t n)
{
    h->n_gpus = n < GPUS_MAX ? n : GPUS_MAX;
    for (size_t i = 0; i < h->n_gpus; i++) {
        if (strcmp(h->gpu[i].bus, gpu[i].bus) || h->gpu[i].item.index != gpu[i].item.index || !*gpu[i].bus) {
            h->gpu_numa[i] = (int16_t)locality_pci(h->locality, gpu[i].bus);
            h->gpu_reported_s[i] = -INFINITY;
        }
        h->gpu[i] = gpu[i];
    }
    h->gpus_new = true;
}

static bool is_used_by(const struct gpu_figures *g, pid_t pid)
{
    for (size_t i = 0; i < g->n_pids; i++)
        if (g->pid[i] == (uint32_t)pid)
            return true;
    return false;
}

/* Is a lower than b by so much that it is worth another name?  An idle GPU's clock means nothing. */
static bool is_held_down_more(const struct gpu_item *a, const struct gpu_item *b)
{
    if (a->throttle & GPU_THROTTLE_IDLE)
        return false;
    return (b->throttle & GPU_THROTTLE_IDLE) || a->clock_ratio < b->clock_ratio - GPU_LOWER;
}

/* Find the GPU that each rank computes on: of several the one that is held down most, and of such that are
 * alike the one that it was. */
static void find_gpus(struct health *h)
{
    for (size_t i = 0; i < h->n; i++) {
        struct task_item *item = health_task_item(h->member[i].task);
        size_t best = GPUS_MAX, n = 0;

        for (size_t g = 0; g < h->n_gpus; g++) {
            if (!is_used_by(&h->gpu[g], h->member[i].pid))
                continue;
            if (!n++ || h->gpu[g].item.index == item->gpu)
                best = g;
        }
        for (size_t g = 0; g < h->n_gpus && n > 1; g++)
            if (is_used_by(&h->gpu[g], h->member[i].pid) &&
                is_held_down_more(&h->gpu[g].item, &h->gpu[best].item))
                best = g;
        item->gpu = n ? (int16_t)h->gpu[best].item.index : -1;
        item->gpu_numa = n ? h->gpu_numa[best] : -1;
        item->flags = (uint16_t)((item->flags & ~TASK_SEVERAL_GPUS) | (n > 1 ? TASK_SEVERAL_GPUS : 0));
    }
}

/* ---- items ---- */

/* Whether two figures differ by more than a tenth and more than grain. */
static bool differs(float a, float b, float grain)
{
    if (isnan(a) || isnan(b))
        return isnan(a) != isnan(b);
    return fabsf(a - b) > fmaxf(grain, 0.1f * fmaxf(fabsf(a), fabsf(b)));
}

static bool node_differs(const struct node_item *a, const struct node_item *b)
{
    return a->rank != b->rank || a->app != b->app || differs(a->run_queue, b->run_queue, 2) ||
           differs(a->busy_ratio, b->busy_ratio, 0.1f) || differs(a->steal_ratio, b->steal_ratio, 0.01f) ||
           differs(a->frequency_ratio, b->frequency_ratio, 0.05f) ||
           differs(a->throttled_per_s, b->throttled_per_s, 1) ||
           differs(a->quota_ratio, b->quota_ratio, 0.01f) ||
           differs(a->cpu_pressure_ratio, b->cpu_pressure_ratio, 0.1f) ||
           differs(a->memory_pressure_ratio, b->memory_pressure_ratio, 0.01f) ||
           differs(a->io_pressure_ratio, b->io_pressure_ratio, 0.05f) ||
           differs(a->swap_per_s, b->swap_per_s, 10) ||
           differs(a->retransmits_per_s, b->retransmits_per_s, 5) ||
           differs(a->nic_errors_per_s, b->nic_errors_per_s, 1);
}

static bool task_differs(const struct task_item *a, const struct task_item *b)
{
    return a->flags != b->flags || a->gpu != b->gpu || strcmp(a->cpus, b->cpus) ||
           differs(a->run_delay_ratio, b->run_delay_ratio, 0.01f) ||
           differs(a->cpu_ratio, b->cpu_ratio, 0.2f) || differs(a->foreign_ratio, b->foreign_ratio, 0.1f) ||
           differs(a->involuntary_per_s, b->involuntary_per_s, 50) ||
           differs(a->voluntary_per_s, b->voluntary_per_s, 500) ||
           differs(a->major_faults_per_s, b->major_faults_per_s, 2);
}

static void report_node(struct health *h, const struct node_item *node, double now_s, health_sink *put,
                        void *arg)
{
    struct telemetry_item item = { .kind = TELEMETRY_NODE, .node = *node };

    if (now_s < h->last_report_s + HEALTH_REPORT_S && !node_differs(node, &h->reported))
        return;
    put(&item, arg);
    h->reported = *node;
    h->last_report_s = now_s;
}

static void report_task(struct member *m, double now_s, health_sink *put, void *arg)
{
    struct telemetry_item item = { .kind = TELEMETRY_TASK, .task = *health_task_item(m->task) };

    if (!m->seen || (now_s < m->last_report_s + HEALTH_REPORT_S && !task_differs(&item.task, &m->reported)))
        return;
    put(&item, arg);
    m->reported = item.task;
    m->last_report_s = now_s;
}

static void report_signals(const struct health *h, struct member *m, double now_s, health_sink *put,
                           void *arg)
{
    struct telemetry_item item = { .kind = TELEMETRY_SIGNALS, .signals = { .rank = m->rank, .app = m->app } };

    if (!h->signals || !health_task_signals(m->task, &item.signals.endured) ||
        (now_s < m->signals_s + HEALTH_REPORT_S && item.signals.endured == m->endured))
        return;
    put(&item, arg);
    m->endured = item.signals.endured;
    m->signals_s = now_s;
}

static bool gpu_differs(const struct gpu_item *a, const struct gpu_item *b)
{
    return a->throttle != b->throttle || differs(a->clock_ratio, b->clock_ratio, 0.02f) ||
           differs(a->temperature_c, b->temperature_c, 3) || differs(a->power_w, b->power_w, 20) ||
           differs(a->busy_ratio, b->busy_ratio, 0.1f);
}

static bool state_differs(const struct gpu_state_item *a, const struct gpu_state_item *b)
{
    return a->flags != b->flags || a->corrected != b->corrected || a->uncorrected != b->uncorrected;
}

static void report_gpus(struct health *h, double now_s, health_sink *put, void *arg)
{
    for (size_t i = 0; h->gpus_new && i < h->n_gpus; i++) {
        struct telemetry_item item = { .kind = TELEMETRY_GPU, .gpu = h->gpu[i].item };
        struct telemetry_item more = { .kind = TELEMETRY_GPU_STATE, .gpu_state = h->gpu[i].state };

        item.gpu.rank = more.gpu_state.rank = h->member[0].rank;
        item.gpu.app = more.gpu_state.app = h->member[0].app;
        if (now_s < h->gpu_reported_s[i] + HEALTH_REPORT_S && !gpu_differs(&item.gpu, &h->gpu_reported[i]) &&
            !state_differs(&more.gpu_state, &h->state_reported[i]))
            continue;
        put(&item, arg);
        if (h->states)
            put(&more, arg);
        h->gpu_reported[i] = item.gpu;
        h->state_reported[i] = more.gpu_state;
        h->gpu_reported_s[i] = now_s;
    }
    h->gpus_new = false; /* wait for the next reading */
}

void health_newest_item(struct health *h, unsigned newest)
{
    bool on = newest >= TELEMETRY_TRAFFIC;

    h->signals = newest >= TELEMETRY_SIGNALS;
    h->states = newest >= TELEMETRY_GPU_STATE;
    if (on == !!h->connections)
        return;
    connections_free(h->connections);
    h->connections = on ? connections_new() : NULL;
}

void health_find_connections(struct health *h, double now_s)
{
    if (h->connections && h->n)
        connections_find(h->connections, now_s);
}

static void report_traffic(struct health *h, health_sink *put, void *arg)
{
    struct traffic_item sum[CONNECTIONS_PAIRS_MAX];
    size_t n = h->connections ? connections_look(h->connections, sum) : 0;

    for (size_t i = 0; i < n; i++) {
        struct telemetry_item item = { .kind = TELEMETRY_TRAFFIC, .traffic = sum[i] };

        item.traffic.rank = h->member[0].rank;
        item.traffic.app = h->member[0].app;
        put(&item, arg);
    }
}

void health_look(struct health *h, double now_s, health_sink *put, void *arg)
{
    struct node_item node;

    forget_gone(h);
    if (!h->n)
        return;
    node = (struct node_item){ .rank = h->member[0].rank, .app = h->member[0].app };
    health_node_look(h->node, now_s, &node);
    for (size_t i = 0; i < h->n; i++) {
        struct member *m = &h->member[i];
        struct cpuset before = *health_task_cpus(m->task);
        bool seen = health_task_look(m->task, now_s);

        h->changed |= seen != m->seen || memcmp(&before, health_task_cpus(m->task), sizeof(before));
        m->seen = seen;
    }
    if (h->changed)
        place_ranks(h);
    find_foreign(h);
    find_gpus(h);
    report_node(h, &node, now_s, put, arg);
    for (size_t i = 0; i < h->n; i++) {
        report_task(&h->member[i], now_s, put, arg);
        report_signals(h, &h->member[i], now_s, put, arg);
    }
    report_gpus(h, now_s, put, arg);
    report_traffic(h, put, arg);
}

bool health_has_too_many_cpus(const struct health *h)
{
    for (size_t i = 0; i < h->n; i++)
        if (health_task_too_many_cpus(h->member[i].task))
            return true;
    return false;
}
