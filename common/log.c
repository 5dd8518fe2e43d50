#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    const char *program, *path;
    enum log_level level;
    int fd;
} state = { "syncguard", NULL, LOG_LEVEL_ERROR, STDERR_FILENO };

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
}

int log_open(const char *program, const char *path, enum log_level level, struct err *err)
{
    int fd = path ? open_file(path) : STDERR_FILENO;

    if (fd < 0)
        return err_set(err, "log file %s: %s", path, strerror(errno));
    state.program = program;
    state.path = path;
    state.level = level;
    state.fd = fd;
    return 0;
}

void log_reopen(void)
{
    int fd = state.path ? open_file(state.path) : -1;

    if (fd < 0)
        return;
    close(state.fd);
    state.fd = fd;
}

/* One write per line: lines of several processes do not mix. */
__attribute__((format(printf, 2, 0))) static void put(enum log_level level, const char *fmt, va_list ap)
{
    static const char *const names[] = { "error", "warning", "info", "debug" };
    char line[1024], stamp[40];
    struct timespec now;
    struct tm tm;
    int n;

    if (level > state.level)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
    n = snprintf(line, sizeof(line), "%s.%03ld %s: %s: ", stamp, now.tv_nsec / 1000000, state.program,
                 names[level]);
    n += vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
    if (n > (int)sizeof(line) - 2)
        n = sizeof(line) - 2;
    line[n++] = '\n';
    if (write(state.fd, line, (size_t)n) < 0)
        return; /* the failure cannot be reported either */
}

#define LOG_FUNCTION(name, level)   \
    void name(const char *fmt, ...) \
    {                               \
        va_list ap;                 \
        va_start(ap, fmt);          \
        put(level, fmt, ap);        \
        va_end(ap);                 \
    }

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
