/* health_text.h - what the kernel writes in /proc and /sys about a node and a process, out of its text.
 *
 * Pure: a text that ends in NUL goes in, numbers come out, in the kernel's own units.  What is not there or
 * cannot be read is false, and the caller's "unknown": never a zero.  The texts are documented in proc(5),
 * psi and cgroup-v2. */
#ifndef SYNCGUARD_AGENT_HEALTH_TEXT_H
#define SYNCGUARD_AGENT_HEALTH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/cpuset.h"

struct health_ticks {
    uint64_t busy, steal, total; /* since boot; busy without steal */
};

/* /proc/stat: all CPUs together, and the first max of them by number (absent ones stay 0).  n: CPUs that it
 * lists; running: tasks that are running or ready, UINT32_MAX when the text was cut before it. */
struct health_stat {
    struct health_ticks all;
    uint32_t n, running;
};
bool health_text_stat(const char *text, struct health_stat *s, struct health_ticks *cpu, uint32_t max);

/* A file that is one number. */
bool health_text_number(const char *text, uint64_t *n);
/* "KEY N" lines: /proc/vmstat, a cgroup's cpu.stat. */
bool health_text_value(const char *text, const char *key, uint64_t *n);
/* /proc/net/snmp, netstat: a line "GROUP: NAMES" and one "GROUP: NUMBERS" below it. */
bool health_text_table(const char *text, const char *group, const char *name, uint64_t *n);
/* A pressure file: microseconds in which some task waited. */
bool health_text_pressure(const char *text, uint64_t *some_us);

/* /proc/net/dev: the interfaces without "lo", in its order; errors and drops of both directions.  Returns how
 * many, at most max. */
struct health_nic {
    char name[16];
    uint64_t errors;
};
size_t health_text_nics(const char *text, struct health_nic *nic, size_t max);

/* /proc/PID/schedstat: nanoseconds on a CPU, and ready without one. */
bool health_text_schedstat(const char *text, uint64_t *run_ns, uint64_t *delay_ns);

struct health_status { /* /proc/PID/status */
    uint32_t uid;      /* the effective one */
    uint32_t pid;      /* as the process itself knows it, in its own namespace */
    uint64_t voluntary, involuntary;
    struct cpuset cpus;
    char cpus_text[32]; /* as written; cut: ends in ".." */
};
bool health_text_status(const char *text, struct health_status *s);

struct health_process { /* /proc/PID/stat */
    uint64_t major_faults, cpu_ticks, started;
    uint32_t cpu; /* where it ran last */
};
bool health_text_process(const char *text, struct health_process *p);

/* /proc/PID/cgroup: the path in the unified hierarchy, up to Slurm's step where there is one.  false: none,
 * or longer than size. */
bool health_text_cgroup(const char *text, char *path, size_t size);

#endif
