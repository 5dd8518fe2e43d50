/* proc.h - what the kernel tells of a process: is it still that one, and what we ourselves cost. */
#ifndef SYNCGUARD_AGENT_PROC_H
#define SYNCGUARD_AGENT_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A small file's text, NUL behind it, cut to size - 1; false: it is not there, hidden or empty. */
bool proc_read(const char *path, char *buf, size_t size);
/* When it started (the kernel's ticks since boot); 0 when it is not there, a zombie, or hidden from us. */
uint64_t proc_start(pid_t pid);
/* Is there a process of that id? started: from proc_start(), 0 when that was not known. */
bool proc_alive(pid_t pid, uint64_t started);

double proc_own_cpu_s(void);
uint64_t proc_own_rss_bytes(void); /* 0: unknown */

#endif
