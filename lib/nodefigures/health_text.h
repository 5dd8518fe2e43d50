/* health_text.h - parsers of the kernel's text files in /proc and /sys about a node and a process.
 *
 * Pure: they take text that ends in NUL and return numbers in the kernel's units.  False means missing or
 * malformed, which the caller treats as unknown, never as zero.  The files are documented in proc(5), psi and
 * cgroup-v2. */
#ifndef SYNCGUARD_NODEFIGURES_HEALTH_TEXT_H
#define SYNCGUARD_NODEFIGURES_HEALTH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/cpuset.h"

struct health_ticks {
    uint64_t busy, steal, total; /* since boot; busy without steal */
};

/* /proc/stat: the sum of all CPUs in s->all, and the first max of them by number in cpu (missing ones stay
 * 0). n: number of CPUs listed; running: tasks running or ready, UINT32_MAX when the text was cut before that
 * line. */
struct health_stat {
    struct health_ticks all;
    uint32_t n, running;
};
bool health_text_stat(const char *text, struct health_stat *s, struct health_ticks *cpu, uint32_t max);

/* "KEY N" lines: /proc/vmstat, a cgroup's cpu.stat. */
bool health_text_value(const char *text, const char *key, uint64_t *n);
/* /proc/net/snmp and netstat: a line "GROUP: NAMES" followed by "GROUP: NUMBERS". */
bool health_text_table(const char *text, const char *group, const char *name, uint64_t *n);
/* A pressure file: microseconds in which some task waited. */
bool health_text_pressure(const char *text, uint64_t *some_us);

/* /proc/net/dev: all interfaces but "lo", in the file's order; errors and drops of both directions added up.
 * Returns how many, at most max. */
struct health_nic {
    char name[16];
    uint64_t errors;
};
size_t health_text_nics(const char *text, struct health_nic *nic, size_t max);

/* /proc/PID/schedstat: nanoseconds on a CPU, and ready without one. */
bool health_text_schedstat(const char *text, uint64_t *run_ns, uint64_t *delay_ns);

struct health_status { /* /proc/PID/status */
    uint32_t uid;      /* effective user id */
    uint32_t pid;      /* in the process's own namespace */
    uint64_t voluntary, involuntary;
    bool cpus_known; /* else there is one that does not fit into a set */
    struct cpuset cpus;
    char cpus_text[32]; /* as in the file; ".." at the end if cut */
    bool signals_known;
    /* signals that it, or its main thread, catches, ignores or blocks: signal n is bit n - 1 */
    uint64_t endured;
};
bool health_text_status(const char *text, struct health_status *s);

struct health_process { /* /proc/PID/stat */
    uint64_t major_faults, cpu_ticks, started;
    uint32_t cpu; /* CPU on which it ran last */
};
bool health_text_process(const char *text, struct health_process *p);

/* /proc/PID/cgroup: the path in the unified hierarchy, up to the component of Slurm's step if it has one.
 * False when there is none or it does not fit. */
bool health_text_cgroup(const char *text, char *path, size_t size);

#endif
