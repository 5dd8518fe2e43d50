#include "nodefigures/health_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodefigures/health_text.h"
#include "nodefigures/rate.h"
#include "common/proc.h"
#include "common/xalloc.h"

#define CPUS         "/sys/devices/system/cpu/cpu"
#define STAT_BYTES   (512u << 10)
#define TEXT_BYTES   (32u << 10)
#define CLOCKS_MAX   16u /* CPUs whose clock is read; each costs reading two files */
#define CLOCK_BUSY   0.5 /* the clock of a CPU that is less busy does not show its maximum */
#define NICS_MAX     64u
#define RDMA_MAX     64u  /* counters */
#define RDMA_EVERY_S 10.0 /* a read asks the adapter's firmware, 0.1 ms and more */

struct clock {
    uint32_t cpu;
    uint64_t max_khz; /* 0: not known */
    struct rate core, package;
};

struct rdma {
    char path[400];
    bool retransmits; /* a counter of retransmissions, not of errors */
    struct rate rate;
    double per_s;
};

enum pressure { PRESSURE_CPU, PRESSURE_MEMORY, PRESSURE_IO, PRESSURES };
static const char *const pressures[PRESSURES] = { "cpu", "memory", "io" };

struct health_node {
    const char *root;
    char *text; /* STAT_BYTES: the largest file */
    struct health_ticks all[2], cpu[2][CPUSET_MAX];
    unsigned looks; /* the newest ticks are [looks % 2] */
    struct clock clock[CLOCKS_MAX];
    size_t n_clocks;
    char cgroup[1024]; /* its folder; "": none */
    bool own[PRESSURES];
    struct rate pressure[PRESSURES], quota, swap, tcp;
    struct {
        char name[16];
        struct rate rate;
    } nic[NICS_MAX];
    size_t n_nics;
    struct rdma rdma[RDMA_MAX];
    size_t n_rdma;
    double rdma_s;
};

/* ---- RDMA ports ---- */

static const struct {
    const char *file;
    bool retransmits;
} rdma_files[] = {
    { "counters/symbol_error", false },       { "counters/port_rcv_errors", false },
    { "counters/port_xmit_discards", false }, { "counters/link_downed", false },
    { "hw_counters/packet_seq_err", true },   { "hw_counters/local_ack_timeout_err", true },
};

static void add_port(const char *folder, void *arg)
{
    struct health_node *n = arg;
    uint64_t v;

    for (size_t i = 0; i < ARRAY_SIZE(rdma_files) && n->n_rdma < RDMA_MAX; i++) {
        struct rdma *r = &n->rdma[n->n_rdma];

        snprintf(r->path, sizeof(r->path), "%s/%s", folder, rdma_files[i].file);
        r->retransmits = rdma_files[i].retransmits;
        r->per_s = NAN;
        n->n_rdma += proc_number(&v, "%s", r->path);
    }
}

static void add_device(const char *folder, void *n)
{
    proc_each(add_port, n, "%s/ports", folder);
}

/* ---- new and free ---- */

struct health_node *health_node_new(const char *root)
{
    struct health_node *n = xcalloc(1, sizeof(*n));

    n->root = root;
    n->text = xcalloc(1, STAT_BYTES);
    n->rdma_s = -INFINITY;
    proc_each(add_device, n, "%s/sys/class/infiniband", root);
    return n;
}

void health_node_free(struct health_node *n)
{
    if (n)
        free(n->text);
    free(n);
}

void health_node_cpus(struct health_node *n, const struct cpuset *cpus)
{
    uint32_t stride = (cpus->n + CLOCKS_MAX - 1) / CLOCKS_MAX, i = 0;

    n->n_clocks = 0;
    for (uint32_t cpu = cpuset_next(cpus, 0); cpu < CPUSET_MAX; cpu = cpuset_next(cpus, cpu + 1), i++) {
        struct clock *c = &n->clock[n->n_clocks];

        if (i % stride)
            continue;
        *c = (struct clock){ .cpu = cpu };
        if (!proc_number(&c->max_khz, "%s" CPUS "%u/cpufreq/cpuinfo_max_freq", n->root, cpu))
            c->max_khz = 0;
        n->n_clocks++;
    }
}

void health_node_cgroup(struct health_node *n, pid_t pid)
{
    char text[TEXT_BYTES], path[400];
    uint64_t v;

    memset(n->own, 0, sizeof(n->own));
    memset(n->pressure, 0, sizeof(n->pressure));
    n->quota = (struct rate){ 0 };
    n->cgroup[0] = '\0';
    if (!proc_read(text, sizeof(text), "%s/proc/%d/cgroup", n->root, (int)pid) ||
        !health_text_cgroup(text, path, sizeof(path)))
        return;
    snprintf(n->cgroup, sizeof(n->cgroup), "%s/sys/fs/cgroup%s", n->root, path);
    for (int p = 0; p < PRESSURES; p++)
        n->own[p] = proc_read(text, sizeof(text), "%s/%s.pressure", n->cgroup, pressures[p]) &&
                    health_text_pressure(text, &v);
}

/* ---- looking ---- */

static void look_at_cpus(struct health_node *n, struct node_item *out)
{
    unsigned now = ++n->looks % 2, before = !now;
    struct health_stat s;
    double total;

    if (!proc_read(n->text, STAT_BYTES, "%s/proc/stat", n->root) ||
        !health_text_stat(n->text, &s, n->cpu[now], CPUSET_MAX))
        memset(n->cpu[now], 0, sizeof(n->cpu[now])), s = (struct health_stat){ .running = UINT32_MAX };
    n->all[now] = s.all;
    out->cpus = (uint16_t)(s.n < UINT16_MAX ? s.n : UINT16_MAX);
    if (s.running != UINT32_MAX)
        out->run_queue = (float)s.running - (s.running > 0); /* excludes this process */
    total = (double)n->all[now].total - (double)n->all[before].total;
    if (!n->all[before].total || total <= 0)
        return;
    out->busy_ratio = (float)(((double)n->all[now].busy - (double)n->all[before].busy) / total);
    out->steal_ratio = (float)(((double)n->all[now].steal - (double)n->all[before].steal) / total);
}

double health_node_busy(const struct health_node *n, uint32_t cpu)
{
    unsigned now = n->looks % 2;
    const struct health_ticks *a = &n->cpu[!now][cpu], *b = &n->cpu[now][cpu];

    if (!a->total || b->total <= a->total || b->busy < a->busy)
        return NAN;
    return (double)(b->busy - a->busy) / (double)(b->total - a->total);
}

static void look_at_clocks(struct health_node *n, double now_s, struct node_item *out)
{
    double hz = 0, ratio = 0, throttled = NAN;
    unsigned clocks = 0, ratios = 0;
    uint64_t v;

    for (size_t i = 0; i < n->n_clocks; i++) {
        struct clock *c = &n->clock[i];
        double per_s;
        bool known;

        if (health_node_busy(n, c->cpu) > CLOCK_BUSY &&
            proc_number(&v, "%s" CPUS "%u/cpufreq/scaling_cur_freq", n->root, c->cpu)) {
            hz += (double)v * 1e3;
            clocks++;
            ratio += c->max_khz ? (double)v / (double)c->max_khz : 0;
            ratios += c->max_khz != 0;
        }
        known = proc_number(&v, "%s" CPUS "%u/thermal_throttle/core_throttle_count", n->root, c->cpu);
        per_s = rate_next(&c->core, known, v, now_s);
        known =
            known && proc_number(&v, "%s" CPUS "%u/thermal_throttle/package_throttle_count", n->root, c->cpu);
        per_s = rate_sum(per_s, rate_next(&c->package, known, v, now_s));
        throttled = fmax(throttled, per_s); /* fmax() ignores NaN */
    }
    if (clocks)
        out->frequency_hz = (float)(hz / clocks);
    if (ratios)
        out->frequency_ratio = (float)(ratio / ratios);
    out->throttled_per_s = (float)throttled;
}

static double look_at_pressure(struct health_node *n, enum pressure p, double now_s)
{
    char text[512];
    uint64_t us = 0;
    bool known = n->own[p] ? proc_read(text, sizeof(text), "%s/%s.pressure", n->cgroup, pressures[p])
                           : proc_read(text, sizeof(text), "%s/proc/pressure/%s", n->root, pressures[p]);

    known = known && health_text_pressure(text, &us);
    return 1e-6 * rate_next(&n->pressure[p], known, us, now_s);
}

static void look_at_memory(struct health_node *n, double now_s, struct node_item *out)
{
    uint64_t in = 0, back = 0, us = 0;
    bool known = proc_read(n->text, TEXT_BYTES, "%s/proc/vmstat", n->root) &&
                 health_text_value(n->text, "pswpin", &in) && health_text_value(n->text, "pswpout", &back);

    out->swap_per_s = (float)rate_next(&n->swap, known, in + back, now_s);
    known = *n->cgroup && proc_read(n->text, TEXT_BYTES, "%s/cpu.stat", n->cgroup) &&
            health_text_value(n->text, "throttled_usec", &us);
    out->quota_ratio = (float)(1e-6 * rate_next(&n->quota, known, us, now_s));
}

_Static_assert(sizeof(((struct health_nic *)0)->name) == TELEMETRY_NIC_TEXT, "names fit into an item");

static struct rate *nic_rate(struct health_node *n, const char *name)
{
    for (size_t i = 0; i < n->n_nics; i++)
        if (!strcmp(n->nic[i].name, name))
            return &n->nic[i].rate;
    if (n->n_nics == NICS_MAX)
        return NULL;
    strcpy(n->nic[n->n_nics].name, name);
    n->nic[n->n_nics].rate = (struct rate){ 0 };
    return &n->nic[n->n_nics++].rate;
}

static void look_at_network(struct health_node *n, double now_s, struct node_item *out)
{
    struct health_nic nic[NICS_MAX];
    double errors = NAN, most = 0;
    uint64_t v = 0;
    bool known = proc_read(n->text, TEXT_BYTES, "%s/proc/net/snmp", n->root) &&
                 health_text_table(n->text, "Tcp", "RetransSegs", &v);
    size_t nics;

    out->retransmits_per_s = (float)rate_next(&n->tcp, known, v, now_s);
    nics = proc_read(n->text, TEXT_BYTES, "%s/proc/net/dev", n->root)
               ? health_text_nics(n->text, nic, NICS_MAX)
               : 0;
    for (size_t i = 0; i < nics; i++) {
        struct rate *r = nic_rate(n, nic[i].name);
        double per_s = r ? rate_next(r, true, nic[i].errors, now_s) : NAN;

        errors = rate_sum(errors, per_s);
        if (per_s > most) {
            most = per_s;
            memcpy(out->nic, nic[i].name, sizeof(out->nic));
        }
    }
    out->nic_errors_per_s = (float)errors;
}

static void look_at_rdma(struct health_node *n, double now_s, struct node_item *out)
{
    double errors = NAN, retransmits = NAN;
    uint64_t v = 0;

    for (size_t i = 0; i < n->n_rdma; i++) {
        struct rdma *r = &n->rdma[i];

        if (now_s >= n->rdma_s + RDMA_EVERY_S) {
            bool known = proc_number(&v, "%s", r->path);

            r->per_s = rate_next(&r->rate, known, v, now_s);
        }
        if (r->retransmits)
            retransmits = rate_sum(retransmits, r->per_s);
        else
            errors = rate_sum(errors, r->per_s);
    }
    if (now_s >= n->rdma_s + RDMA_EVERY_S)
        n->rdma_s = now_s;
    if (errors > (isnan(out->nic_errors_per_s) ? 0 : out->nic_errors_per_s))
        snprintf(out->nic, sizeof(out->nic), "RDMA");
    out->nic_errors_per_s = (float)rate_sum(out->nic_errors_per_s, errors);
    out->retransmits_per_s = (float)rate_sum(out->retransmits_per_s, retransmits);
}

void health_node_look(struct health_node *n, double now_s, struct node_item *out)
{
    *out = (struct node_item){
        .rank = out->rank,
        .app = out->app,
        .run_queue = NAN,
        .busy_ratio = NAN,
        .steal_ratio = NAN,
        .frequency_hz = NAN,
        .frequency_ratio = NAN,
    };
    look_at_cpus(n, out);
    look_at_clocks(n, now_s, out);
    out->cpu_pressure_ratio = (float)look_at_pressure(n, PRESSURE_CPU, now_s);
    out->memory_pressure_ratio = (float)look_at_pressure(n, PRESSURE_MEMORY, now_s);
    out->io_pressure_ratio = (float)look_at_pressure(n, PRESSURE_IO, now_s);
    look_at_memory(n, now_s, out);
    look_at_network(n, now_s, out);
    look_at_rdma(n, now_s, out);
}
