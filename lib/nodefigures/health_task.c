#include "nodefigures/health_task.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodefigures/health_text.h"
#include "nodefigures/rate.h"
#include "common/proc.h"
#include "common/xalloc.h"

struct health_task {
    const char *root;
    pid_t pid;
    uint64_t started; /* start time of the process; 0: not seen yet */
    struct cpuset cpus;
    bool too_many_cpus, signals_known;
    uint64_t endured;
    struct rate delay, cpu, voluntary, involuntary, faults;
    struct task_item item;
};

static void forget_counters(struct health_task *t)
{
    uint32_t rank = t->item.rank;
    uint16_t app = t->item.app;

    t->delay = t->cpu = t->voluntary = t->involuntary = t->faults = (struct rate){ 0 };
    memset(&t->cpus, 0, sizeof(t->cpus));
    t->too_many_cpus = t->signals_known = false;
    t->item = (struct task_item){ .rank = rank,
                                  .app = app,
                                  .cpu = -1,
                                  .numa = -1,
                                  .nic_numa = -1,
                                  .gpu = -1,
                                  .gpu_numa = -1,
                                  .run_delay_ratio = NAN,
                                  .cpu_ratio = NAN,
                                  .foreign_ratio = NAN,
                                  .involuntary_per_s = NAN,
                                  .voluntary_per_s = NAN,
                                  .major_faults_per_s = NAN };
}

struct health_task *health_task_new(const char *root, uint32_t rank, uint16_t app, pid_t pid)
{
    struct health_task *t = xcalloc(1, sizeof(*t));

    t->root = root;
    t->pid = pid;
    t->item.rank = rank;
    t->item.app = app;
    forget_counters(t);
    return t;
}

void health_task_free(struct health_task *t)
{
    free(t);
}

static bool read_text(const struct health_task *t, const char *file, char *buf, size_t size)
{
    return proc_read(buf, size, "%s/proc/%d/%s", t->root, (int)t->pid, file);
}

bool health_task_look(struct health_task *t, double now_s)
{
    uint64_t run_ns, delay_ns = 0;
    struct health_process process;
    struct health_status status;
    char text[8192];
    bool known;

    if (!read_text(t, "stat", text, sizeof(text)) || !health_text_process(text, &process) ||
        (t->started && process.started != t->started) || !read_text(t, "status", text, sizeof(text)) ||
        !health_text_status(text, &status) || status.uid != geteuid()) {
        forget_counters(t);
        return false;
    }
    t->started = process.started;
    t->cpus = status.cpus;
    t->too_many_cpus = !status.cpus_known;
    t->signals_known = status.signals_known;
    t->endured = status.endured;
    t->item.n_cpus = (uint16_t)status.cpus.n;
    memcpy(t->item.cpus, status.cpus_text, sizeof(t->item.cpus));
    t->item.voluntary_per_s = (float)rate_next(&t->voluntary, true, status.voluntary, now_s);
    t->item.involuntary_per_s = (float)rate_next(&t->involuntary, true, status.involuntary, now_s);
    t->item.cpu = (int16_t)(process.cpu < INT16_MAX ? process.cpu : INT16_MAX);
    t->item.cpu_ratio =
        (float)(rate_next(&t->cpu, true, process.cpu_ticks, now_s) / (double)sysconf(_SC_CLK_TCK));
    t->item.major_faults_per_s = (float)rate_next(&t->faults, true, process.major_faults, now_s);
    known = read_text(t, "schedstat", text, sizeof(text)) && health_text_schedstat(text, &run_ns, &delay_ns);
    t->item.run_delay_ratio = (float)(1e-9 * rate_next(&t->delay, known, delay_ns, now_s));
    return true;
}

struct task_item *health_task_item(struct health_task *t)
{
    return &t->item;
}

const struct cpuset *health_task_cpus(const struct health_task *t)
{
    return &t->cpus;
}

bool health_task_too_many_cpus(const struct health_task *t)
{
    return t->too_many_cpus;
}

bool health_task_signals(const struct health_task *t, uint64_t *endured)
{
    *endured = t->endured;
    return t->signals_known;
}
