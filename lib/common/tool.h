/* tool.h - runs a program and reads what it prints, bounded in time and size. No shell. Never aborts and
 * never prints: guests use it. */
#ifndef SYNCGUARD_COMMON_TOOL_H
#define SYNCGUARD_COMMON_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/err.h"

/* Wait until fd can be read or written (poll's events). false: not by until_s, of now_s(). */
bool tool_wait(int fd, short events, double until_s);
/* Start argv[0], looked for in PATH, with standard output and error on a pipe, and input from /dev/null.  The
 * end to read, -1: not started, errno is set. */
int tool_start(const char *const *argv, pid_t *pid);
/* The same, with *to as the end to write its input to. */
int tool_talk(const char *const *argv, pid_t *pid, int *to);
/* All that it prints, which the caller frees; it is killed at the time limit.  NULL with the reason: it
 * cannot be started, prints more than max bytes, does not end in time, or fails. */
char *tool_run(const char *const *argv, double limit_s, size_t max, struct err *err);

#endif
