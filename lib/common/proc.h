/* proc.h - reads small files of /proc and /sys: whether a process still runs, what this process costs, and
 * others. */
#ifndef SYNCGUARD_COMMON_PROC_H
#define SYNCGUARD_COMMON_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Read a small file, cut to size - 1 and ended by NUL.  False when it is missing, hidden or empty. */
__attribute__((format(printf, 3, 4))) bool proc_read(char *buf, size_t size, const char *path, ...);
/* Read a file whose first line is a whole number.  False otherwise. */
__attribute__((format(printf, 2, 3))) bool proc_number(uint64_t *n, const char *path, ...);
/* Call each with the path of every entry of a folder, hidden ones excepted; none if it cannot be read. */
__attribute__((format(printf, 3, 4))) void proc_each(void (*each)(const char *path, void *arg), void *arg,
                                                     const char *folder, ...);
/* When a process started, in the kernel's ticks since boot; 0 when it is missing, a zombie or hidden, with
 * errno ESRCH, or when this process has no descriptor or memory left to look, with another errno. */
uint64_t proc_start(pid_t pid);
/* The same, and its state as in proc(5): 'R', 'S', 'D', 'T', 't'...; unchanged when 0 is returned. */
uint64_t proc_look(pid_t pid, char *state);
/* Whether the process runs, or may: nobody could look.  started: from proc_start(), so that a reused id does
 * not count; 0: unknown. */
bool proc_alive(pid_t pid, uint64_t started);

double proc_own_cpu_s(void);
uint64_t proc_own_rss_bytes(void); /* 0: unknown */

#endif
