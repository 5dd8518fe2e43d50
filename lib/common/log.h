/* log.h - one line per event, on stderr or in a file, with time and level.
 * Called where it is decided what to do next; libraries return errors, they never log.
 * A warning states what was done instead.  Before log_open() only errors are written.
 * A line is one line, whatever it quotes: utf8_clean() is applied to it. */
#ifndef SYNCGUARD_COMMON_LOG_H
#define SYNCGUARD_COMMON_LOG_H

#include "common/err.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Log to path (NULL: stderr; a file is appended to, mode 0640) at this level.  stderr lines begin with the
 * program's name. */
int log_open(const char *program, const char *path, enum log_level level, struct err *err);
/* Write at most lines_per_minute of one format, then how many more there were; 0, the initial value: no
 * limit. log_tick() also reports those after which no line of that format came; call it every second. */
void log_limit(double lines_per_minute);
void log_tick(void);
void log_reopen(void); /* after logrotate moved the file; keeps the old file open on failure */

__attribute__((format(printf, 1, 2))) void log_error(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_warn(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_debug(const char *fmt, ...);

#endif
