#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/now.h"
#include "common/utf8.h"

#define KINDS 512u /* of lines that are counted: more than a program has */

static struct {
    const char *program, *path;
    enum log_level level;
    int fd;
    double lines_per_minute; /* of one kind; 0: any number */
    /* A kind is what has one format. */
    struct kind {
        const char *fmt;
        double left, at_s; /* lines that may be written at once, and when they were counted */
        unsigned long long left_out;
    } kind[KINDS];
} state = { .program = "syncguard", .level = LOG_LEVEL_ERROR, .fd = STDERR_FILENO };

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

void log_limit(double lines_per_minute)
{
    state.lines_per_minute = lines_per_minute;
    memset(state.kind, 0, sizeof(state.kind));
}

/* One write per line: lines of several processes do not mix. */
__attribute__((format(printf, 2, 0))) static void write_line(enum log_level level, const char *fmt,
                                                             va_list ap)
{
    static const char *const names[] = { "error", "warning", "info", "debug" };
    char line[1024], stamp[40];
    struct timespec now;
    struct tm tm;
    size_t n;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
    n = (size_t)snprintf(line, sizeof(line), "%s.%03ld %s: %s: ", stamp, now.tv_nsec / 1000000, state.program,
                         names[level]);
    vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
    utf8_clean(line + n, sizeof(line) - n - 1, line + n);
    n += strlen(line + n);
    line[n++] = '\n';
    if (write(state.fd, line, n) < 0)
        return; /* the failure cannot be reported either */
}

__attribute__((format(printf, 2, 3))) static void put_line(enum log_level level, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    write_line(level, fmt, ap);
    va_end(ap);
}

/* Whether one more line of this kind may be written now. */
static bool take_line(struct kind *k)
{
    double now = now_s(), most = state.lines_per_minute;

    k->left = k->at_s > 0 ? fmin(most, k->left + (now - k->at_s) * most / 60) : most;
    k->at_s = now;
    if (k->left < 1)
        return false;
    k->left--;
    return true;
}

static void report_left_out(struct kind *k)
{
    if (k->left_out)
        put_line(LOG_LEVEL_WARN, "%llu lines were left out that begin like this: %.60s", k->left_out, k->fmt);
    k->left_out = 0;
}

/* Where lines of this format are counted.  Were there more formats than places, the rest would share one. */
static struct kind *kind_of(const char *fmt)
{
    size_t at = hash_mix((uintptr_t)fmt) % KINDS, tried = 0;

    while (state.kind[at].fmt && state.kind[at].fmt != fmt && ++tried < KINDS)
        at = (at + 1) % KINDS;
    return &state.kind[at];
}

__attribute__((format(printf, 2, 0))) static void put_limited(enum log_level level, const char *fmt,
                                                              va_list ap)
{
    struct kind *k;

    if (level > state.level)
        return;
    if (state.lines_per_minute > 0) {
        k = kind_of(fmt);
        if (k->fmt != fmt)
            report_left_out(k);
        k->fmt = fmt;
        if (!take_line(k)) {
            k->left_out++;
            return;
        }
        report_left_out(k);
    }
    write_line(level, fmt, ap);
}

void log_tick(void)
{
    for (struct kind *k = state.kind; k < state.kind + KINDS; k++)
        if (k->left_out && take_line(k))
            report_left_out(k);
}

#define LOG_FUNCTION(name, level)    \
    void name(const char *fmt, ...)  \
    {                                \
        va_list ap;                  \
        va_start(ap, fmt);           \
        put_limited(level, fmt, ap); \
        va_end(ap);                  \
    }

LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)
