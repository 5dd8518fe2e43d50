/* proc.h - whether a process still runs, and what this process costs, from /proc. */
#ifndef SYNCGUARD_AGENT_PROC_H
#define SYNCGUARD_AGENT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Read a small file, cut to size - 1 and ended by NUL.  False when it is missing, hidden or empty. */
bool proc_read(const char *path, char *buf, size_t size);
/* When a process started, in the kernel's ticks since boot; 0 when it is missing, a zombie or hidden. */
uint64_t proc_start(pid_t pid);
/* Whether the process runs.  started: from proc_start(), so that a reused id does not count; 0 when unknown. */
bool proc_alive(pid_t pid, uint64_t started);

double proc_own_cpu_s(void);
uint64_t proc_own_rss_bytes(void); /* 0: unknown */

#endif
