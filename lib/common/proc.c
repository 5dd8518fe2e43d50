#include "common/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((format(printf, 3, 0))) static bool read_path(char *buf, size_t size, const char *fmt,
                                                            va_list ap)
{
    char path[PATH_MAX];
    size_t have = 0;
    ssize_t n;
    int fd;

    vsnprintf(path, sizeof(path), fmt, ap);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (have < size - 1 && (n = read(fd, buf + have, size - 1 - have)) > 0)
        have += (size_t)n;
    close(fd);
    buf[have] = '\0';
    return have > 0;
}

bool proc_read(char *buf, size_t size, const char *path, ...)
{
    va_list ap;
    bool good;

    va_start(ap, path);
    good = read_path(buf, size, path, ap);
    va_end(ap);
    return good;
}

bool proc_number(uint64_t *n, const char *path, ...)
{
    char text[32], *end;
    va_list ap;
    bool good;

    va_start(ap, path);
    good = read_path(text, sizeof(text), path, ap) && *text >= '0' && *text <= '9';
    va_end(ap);
    if (!good)
        return false;
    errno = 0;
    *n = strtoull(text, &end, 10);
    return !errno && (!*end || *end == '\n');
}

void proc_each(void (*each)(const char *path, void *arg), void *arg, const char *folder, ...)
{
    char path[PATH_MAX];
    struct dirent *e;
    size_t length;
    va_list ap;
    DIR *d;

    va_start(ap, folder);
    length = (size_t)vsnprintf(path, sizeof(path), folder, ap);
    va_end(ap);
    d = length < sizeof(path) ? opendir(path) : NULL;
    while (d && (e = readdir(d))) {
        snprintf(path + length, sizeof(path) - length, "/%s", e->d_name);
        if (e->d_name[0] != '.')
            each(path, arg);
    }
    if (d)
        closedir(d);
}

/* proc(5): the state is the 3rd field of stat, the start time the 22nd; the 2nd is a name, which may contain
 * anything, up to the last ')'. */
uint64_t proc_look(pid_t pid, char *state)
{
    char buf[1024], *p, is;
    uint64_t start;

    if (!proc_read(buf, sizeof(buf), "/proc/%d/stat", (int)pid)) {
        if (errno != EMFILE && errno != ENFILE && errno != ENOMEM)
            errno = ESRCH;
        return 0;
    }
    errno = ESRCH;
    if (!(p = strrchr(buf, ')')))
        return 0;
    if (sscanf(p + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
               &is, &start) != 2 ||
        is == 'Z' || is == 'X')
        return 0;
    *state = is;
    return start;
}

uint64_t proc_start(pid_t pid)
{
    char state;

    return proc_look(pid, &state);
}

bool proc_alive(pid_t pid, uint64_t started)
{
    if (pid <= 0)
        return false;
    if (started) {
        uint64_t start = proc_start(pid);

        return start == started || (!start && errno != ESRCH);
    }
    return kill(pid, 0) == 0 || errno == EPERM;
}

double proc_own_cpu_s(void)
{
    struct rusage r;

    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

uint64_t proc_own_rss_bytes(void)
{
    char buf[256];
    uint64_t pages;

    if (!proc_read(buf, sizeof(buf), "/proc/self/statm") || sscanf(buf, "%*u %" SCNu64, &pages) != 1)
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
