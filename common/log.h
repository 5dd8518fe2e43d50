/* log.h - one line an event, on stderr or in a file, with time and level.
 * Called at the edge that decides what to do next; libraries report, never log.
 * A warning says what we did instead.  Until log_open() only errors are written. */
#ifndef SYNCGUARD_COMMON_LOG_H
#define SYNCGUARD_COMMON_LOG_H

#include "common/err.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Where to (NULL: stderr; a file is appended to, 0640) and how much.  Program name prefixes stderr lines. */
int log_open(const char *program, const char *path, enum log_level level, struct err *err);
void log_reopen(void); /* after logrotate moved the file; keeps the old one when that fails */

__attribute__((format(printf, 1, 2))) void log_error(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_warn(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_debug(const char *fmt, ...);

#endif
